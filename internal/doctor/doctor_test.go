package doctor_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"sallyport.dev/sallyport/internal/doctor"
)

func TestHealthyNeedsTheDefaultEngine(t *testing.T) {
	tests := []struct {
		name    string
		engines []doctor.Engine
		want    bool
	}{
		{"no engine", nil, false},
		{"no default", []doctor.Engine{{Name: "a", Ready: true}}, false},
		{"default not ready", []doctor.Engine{{Name: "a", Ready: true}, {Name: "b", Default: true}}, false},
		{"default ready", []doctor.Engine{{Name: "a"}, {Name: "b", Default: true, Ready: true}}, true},
	}
	for _, tt := range tests {
		if got := (doctor.Report{Engines: tt.engines}).Healthy(); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func matches(text, pattern string) bool { return regexp.MustCompile(pattern).MatchString(text) }

func sample() doctor.Report {
	return doctor.Report{
		Version: "v1", Platform: "linux/amd64", User: "ordinary", Cache: "/home/me/parts", Summary: "full belt",
		Fences: []doctor.Fence{
			{Name: "seccomp", Holds: true, Detail: "filter of 80 calls"},
			{Name: "cgroup", Why: "no delegated cgroup", Remedy: "run under a user session"},
		},
		Engines: []doctor.Engine{{
			Name: "wasm", Default: true, Runtime: "wasmtime 49.0.3", Why: "run sallyport setup",
			Images:     []doctor.Image{{Name: "default", Bytes: 300 << 20, Packages: 60, Usable: true}},
			Advisories: []doctor.Advisory{{ID: "GHSA-x", Title: "a hole", Why: "not reachable"}},
		}},
		Credentials: []doctor.Credential{{Path: "/x/.env", Reason: "environment file"}},
	}
}

func TestTableSaysWhatDoesNotHold(t *testing.T) {
	var b bytes.Buffer
	if err := sample().WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`(?m)^cache +/home/me/parts$`,
		`seccomp +yes +filter of 80 calls`,
		`cgroup +NO +no delegated cgroup; run under a user session`,
		`ENGINE wasm +NOT READY +wasmtime 49.0.3, run sallyport setup`,
		`image default +yes +300 MiB, 60 packages`,
		`GHSA-x +NOT COVERED +a hole: not reachable`,
		`CREDENTIAL FILE +found +/x/.env`,
	} {
		if !matches(b.String(), want) {
			t.Errorf("no line matches %q in:\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "\x1b") {
		t.Error("the table has escape codes; output is never coloured")
	}
}

func TestJSONHasStableNames(t *testing.T) {
	raw, err := json.Marshal(sample())
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"version", "platform", "user", "cache", "summary", "fences", "engines", "credentials"} {
		if _, ok := m[name]; !ok {
			t.Errorf("no member %q", name)
		}
	}
}

func TestFindCredentials(t *testing.T) {
	f := fstest.MapFS{}
	for _, name := range []string{
		".env", ".env.production", ".env.example", ".npmrc", "sub/.NETRC", "a/.aws/credentials", "a/credentials",
		"a/b/id_ed25519", "id_ed25519.pub", "a/b/c/d/e/.env", "readme.md", "cert.pem", "privkey.pem", "sha256/ab/abcd",
	} {
		f[name] = &fstest.MapFile{Data: []byte("x")}
	}
	found, err := doctor.FindCredentials(f, "/cache")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range found {
		if c.Reason == "" {
			t.Errorf("%s: no reason", c.Path)
		}
		got = append(got, c.Path)
	}
	want := []string{"/cache/.env", "/cache/.env.production", "/cache/.npmrc", "/cache/a/.aws/credentials", "/cache/a/b/id_ed25519", "/cache/privkey.pem", "/cache/sub/.NETRC"}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func TestFindCredentialsFollowsNoLink(t *testing.T) {
	outside, inside := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, ".netrc"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(inside, "link")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	found, err := doctor.FindCredentials(os.DirFS(inside), inside)
	if err != nil || len(found) != 0 {
		t.Errorf("found %v, %v behind a link", found, err)
	}
}

func TestFindCredentialsPassesOverUnreadableFolders(t *testing.T) {
	dir := t.TempDir()
	closed := filepath.Join(dir, "a-closed")
	if err := os.Mkdir(closed, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadDir(closed); err == nil {
		t.Skip("this user reads everything; root, most likely")
	}
	if err := os.WriteFile(filepath.Join(dir, "id_rsa"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := doctor.FindCredentials(os.DirFS(dir), dir)
	if err != nil || len(found) != 1 {
		t.Errorf("found %v, %v; a closed folder must not hide what lies beside it", found, err)
	}
}

// closed is a folder that nobody may read, root included.
type closed struct{}

func (closed) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
}

func TestFindCredentialsPassesOverAnUnreadableRoot(t *testing.T) {
	if found, err := doctor.FindCredentials(closed{}, "/closed"); err != nil || len(found) != 0 {
		t.Errorf("found %v, %v; a closed folder must not end doctor", found, err)
	}
}
