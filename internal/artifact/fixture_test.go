package artifact

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func sum(b []byte) Digest {
	h := sha256.Sum256(b)
	return Digest(hex.EncodeToString(h[:]))
}

func newStore(t *testing.T) *Store {
	t.Helper()
	s, err := Open(filepath.Join(privateDir(t), "cache"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// privateDir is a temporary folder that a store accepts, whatever the umask is.
func privateDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for p := dir; strings.Contains(p, "Test"); p = filepath.Dir(p) {
		if err := os.Chmod(p, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

type entry struct{ name, body string }

// zipOf makes a zip; RECORD lines are left to wheelOf.
func zipOf(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, e := range entries {
		w, err := z.Create(e.name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// wheelOf makes a wheel that pip and uv accept.
func wheelOf(t *testing.T, project, version, tag string, entries ...entry) []byte {
	t.Helper()
	info := strings.ReplaceAll(project, "-", "_") + "-" + version + ".dist-info/"
	has := map[string]bool{}
	for _, e := range entries {
		has[e.name] = true
	}
	for _, e := range []entry{
		{info + "METADATA", fmt.Sprintf("Metadata-Version: 2.1\nName: %s\nVersion: %s\n", project, version)},
		{info + "WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: " + tag + "\n"},
	} {
		if !has[e.name] {
			entries = append(entries, e)
		}
	}
	record := ""
	for _, e := range entries {
		record += e.name + ",,\n"
	}
	return zipOf(t, append(entries, entry{info + "RECORD", record + info + "RECORD,,\n"})...)
}

// index is a package index on loopback.
type index struct {
	mu    sync.Mutex
	files map[string][]byte // file name -> content
	hits  atomic.Int64
	serve func(w http.ResponseWriter, r *http.Request, body []byte) bool // may answer by itself
	url   string
}

func (x *index) put(name string, body []byte) { x.mu.Lock(); defer x.mu.Unlock(); x.files[name] = body }

// useIndex starts an index and points pip and uv at it the way a user does, by configuration.
func useIndex(t *testing.T) *index {
	t.Helper()
	x := &index{files: map[string][]byte{}}
	srv := httptest.NewServer(x)
	t.Cleanup(srv.Close)
	x.url = srv.URL + "/simple/"
	for k, v := range map[string]string{
		"PIP_INDEX_URL": x.url, "PIP_EXTRA_INDEX_URL": "", "PIP_FIND_LINKS": "", "PIP_CONFIG_FILE": os.DevNull,
		"PIP_NO_CACHE_DIR": "1", "PIP_RETRIES": "0", "PIP_DEFAULT_TIMEOUT": "20", "PIP_TRUSTED_HOST": "127.0.0.1", "HTTP_PROXY": "", "http_proxy": "", "ALL_PROXY": "", "all_proxy": "", "NO_PROXY": "127.0.0.1",
		"UV_DEFAULT_INDEX": x.url, "UV_NO_CACHE": "1", "UV_HTTP_RETRIES": "0", "UV_PYTHON_DOWNLOADS": "never",
		"HOME": privateDir(t),
	} {
		t.Setenv(k, v)
	}
	return x
}

func (x *index) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if name, ok := strings.CutPrefix(r.URL.Path, "/files/"); ok {
		x.hits.Add(1)
		body, ok := x.files[name]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if x.serve != nil {
			serve := x.serve
			x.mu.Unlock()
			done := serve(w, r, body)
			x.mu.Lock()
			if done {
				return
			}
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		w.Write(body)
		return
	}
	project := strings.Trim(strings.TrimPrefix(r.URL.Path, "/simple/"), "/")
	w.Header().Set("Content-Type", "text/html")
	found := false
	page := "<!DOCTYPE html><html><body>"
	for name := range x.files {
		if p, _, _ := strings.Cut(name, "-"); NormalProject(p) == project {
			found = true
			page += fmt.Sprintf(`<a href="/files/%s">%s</a>`, name, name)
		}
	}
	if !found {
		http.NotFound(w, r)
		return
	}
	fmt.Fprint(w, page+"</body></html>")
}

// needManager skips where the host lacks the package manager, with its name.
func needManager(t *testing.T, kind string) {
	t.Helper()
	if _, err := managers(context.Background(), kind); err != nil {
		t.Skipf("%s does not start on this host: %v", kind, err)
	}
}

// itemOf describes a small wheel as the lock would.
func itemOf(t *testing.T, version string) (Item, []byte) {
	t.Helper()
	program, data := strings.Repeat("program "+version+"\n", 2000), "data "+version
	body := wheelOf(t, "tiny-engine", version, "py3-none-any", entry{"tiny_engine/program", program}, entry{"tiny_engine/data.bin", data}, entry{"tiny_engine/__init__.py", ""})
	return Item{
		Project: "tiny-engine", Version: version, Filename: "tiny_engine-" + version + "-py3-none-any.whl",
		Size: int64(len(body)), SHA256: sum(body), Platform: "any",
		Members: []Member{
			{Path: "tiny_engine/program", Size: int64(len(program)), SHA256: sum([]byte(program)), Executable: true},
			{Path: "tiny_engine/data.bin", Size: int64(len(data)), SHA256: sum([]byte(data))},
		},
	}, body
}

// nothingStaged proves that no unfinished work lies about.
func nothingStaged(t *testing.T, s *Store) {
	t.Helper()
	list, err := os.ReadDir(filepath.Join(s.Dir(), "staging"))
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 0 {
		t.Errorf("staging still holds %v", list)
	}
}
