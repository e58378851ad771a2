package artifact

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	for _, bad := range []string{"", ".", "..", "../evil", "a/../b", "/abs/evil", "a//b", "./a", "a/", `..\..\evil`, `a\b`, "C:/evil", "C:evil", "a:stream", "a\x00b", "a\nb", "\xff", strings.Repeat("a", 2000)} {
		if checkName(bad) == nil {
			t.Errorf("%q passed", bad)
		}
	}
	for _, good := range []string{"a", "a/b.txt", "a.dist-info/RECORD", "..a", "д/й"} {
		if err := checkName(good); err != nil {
			t.Error(err)
		}
	}
}

func openZip(t *testing.T, body []byte) (*wheel, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x.whl")
	if err := os.WriteFile(name, body, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return openWheel(f)
}

func TestHostileZips(t *testing.T) {
	special := func(mode fs.FileMode) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		h := &zip.FileHeader{Name: "x"}
		h.SetMode(mode)
		w, err := z.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		w.Write([]byte("/etc/passwd"))
		z.Close()
		return b.Bytes()
	}
	encrypted := zipOf(t, entry{"x", "x"})
	at := bytes.LastIndex(encrypted, []byte("PK\x01\x02"))
	encrypted[at+8] |= 1
	for name, body := range map[string][]byte{
		"parent":    zipOf(t, entry{"ok.txt", "x"}, entry{"../evil", "x"}),
		"absolute":  zipOf(t, entry{"/abs/evil", "x"}),
		"backslash": zipOf(t, entry{`..\..\evil`, "x"}),
		"drive":     zipOf(t, entry{"C:/evil", "x"}),
		"twice":     zipOf(t, entry{"a", "1"}, entry{"a", "2"}),
		"link":      special(fs.ModeSymlink | 0o777),
		"device":    special(fs.ModeDevice | fs.ModeCharDevice | 0o666),
		"pipe":      special(fs.ModeNamedPipe | 0o666),
		"encrypted": encrypted,
		"no zip":    []byte("hello"),
		"cut":       zipOf(t, entry{"a", strings.Repeat("x", 1000)})[:60],
	} {
		if _, err := openZip(t, body); !errors.Is(err, ErrArchive) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A zip that claims a small size and unpacks to more stops at the limit.
func TestZipBomb(t *testing.T) {
	body := zipOf(t, entry{"bomb", strings.Repeat("\x00", 1<<20)})
	at := bytes.LastIndex(body, []byte("PK\x01\x02"))
	copy(body[at+24:], []byte{10, 0, 0, 0}) // uncompressed size in the directory
	w, err := openZip(t, body)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := w.read("bomb", 100); err == nil {
		t.Errorf("unpacked %d bytes", len(b))
	}
	honest, err := openZip(t, zipOf(t, entry{"big", strings.Repeat("x", 1000)}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := honest.read("big", 999); !errors.Is(err, ErrArchive) {
		t.Errorf("over the limit: %v", err)
	}
	if b, err := honest.read("big", 1000); err != nil || len(b) != 1000 {
		t.Errorf("at the limit: %d, %v", len(b), err)
	}
	if _, err := honest.read("absent", 10); !errors.Is(err, ErrArchive) {
		t.Errorf("absent: %v", err)
	}
}

func tarOf(t *testing.T, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		body := h.PAXRecords["body"]
		h.PAXRecords = nil
		if h.Typeflag == 0 {
			h.Typeflag = tar.TypeReg
		}
		if h.Typeflag == tar.TypeReg {
			h.Size = int64(len(body))
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			w.Write([]byte(body))
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func file(name, body string) tar.Header {
	return tar.Header{Name: name, Mode: 0o644, PAXRecords: map[string]string{"body": body}}
}

func gz(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(b)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestHostileTars(t *testing.T) {
	item, wheel := itemOf(t, "1.2")
	good := file("wheels/x.whl", string(wheel))
	for name, body := range map[string][]byte{
		"parent":        tarOf(t, file("../../evil", "x"), good),
		"absolute":      tarOf(t, file("/abs/evil", "x"), good),
		"link":          tarOf(t, tar.Header{Name: "d", Typeflag: tar.TypeSymlink, Linkname: "/etc"}, file("d/cron.d/x", "x"), good),
		"hard link":     tarOf(t, tar.Header{Name: "h", Typeflag: tar.TypeLink, Linkname: "../../secret"}, good),
		"device":        tarOf(t, tar.Header{Name: "dev", Typeflag: tar.TypeChar}, good),
		"pipe":          tarOf(t, tar.Header{Name: "fifo", Typeflag: tar.TypeFifo}, good),
		"folder parent": tarOf(t, tar.Header{Name: "../d/", Typeflag: tar.TypeDir}, good),
		"windows":       tarOf(t, file(`..\evil`, "x"), good),
		"empty":         {},
		"no tar":        []byte(strings.Repeat("hello", 500)),
		"cut":           tarOf(t, good)[:len(wheel)/2],
		"cut gzip":      gz(t, tarOf(t, good))[:200],
	} {
		t.Run(name, func(t *testing.T) {
			dir := privateDir(t)
			p := filepath.Join(dir, "in.tar")
			if err := os.WriteFile(p, body, 0o600); err != nil {
				t.Fatal(err)
			}
			s := newStore(t)
			_, err := s.Ensure(context.Background(), item, Source{From: p}, nil)
			if !errors.Is(err, ErrArchive) {
				t.Errorf("got %v", err)
			}
			if list, _ := os.ReadDir(dir); len(list) != 1 {
				t.Errorf("something was written beside the archive: %v", list)
			}
			nothingStaged(t, s)
		})
	}
}

// A gzip of zeros must not be unpacked without bound, nor may an entry that nobody wants be stored.
func TestTarOfUnwanted(t *testing.T) {
	item, wheel := itemOf(t, "1.2")
	p := filepath.Join(privateDir(t), "in.tar.gz")
	body := gz(t, tarOf(t, file("zeros", strings.Repeat("\x00", 8<<20)), file("./renamed", string(wheel))))
	if err := os.WriteFile(p, body, 0o600); err != nil {
		t.Fatal(err)
	}
	s := newStore(t)
	if _, err := s.Ensure(context.Background(), item, Source{From: p}, nil); err != nil {
		t.Fatal(err)
	}
	list, err := s.List()
	if err != nil || len(list) != len(item.Members) {
		t.Errorf("store holds %v (%v), want the members only", list, err)
	}
}

func TestFromFolder(t *testing.T) {
	item, wheel := itemOf(t, "1.2")
	dir := privateDir(t)
	s := newStore(t)
	same := bytes.Clone(wheel)
	same[len(same)/2] ^= 1
	if err := os.WriteFile(filepath.Join(dir, item.Filename), same, 0o600); err != nil { // right name and size, wrong content
		t.Fatal(err)
	}
	_, err := s.Ensure(context.Background(), item, Source{From: dir}, nil)
	if !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "--export") {
		t.Errorf("got %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "other-name.bin"), wheel, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Ensure(context.Background(), item, Source{From: dir}, nil); err != nil {
		t.Error(err)
	}
	if _, err := newStore(t).Ensure(context.Background(), item, Source{From: filepath.Join(dir, "absent")}, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
	native := item
	native.OS, native.SHA256, native.Members = "linux", sum(nil), []Member{{Path: "p", Size: 1, SHA256: sum([]byte("p"))}}
	if _, err := newStore(t).Ensure(context.Background(), native, Source{From: dir}, nil); err == nil || !strings.Contains(err.Error(), "--wasmtime") {
		t.Errorf("native: %v", err)
	}
}

func TestExport(t *testing.T) {
	item, wheel := itemOf(t, "1.2")
	dir := privateDir(t)
	if err := os.WriteFile(filepath.Join(dir, "w"), wheel, 0o600); err != nil {
		t.Fatal(err)
	}
	pure := wheelOf(t, "small-thing", "2.0", "py3-none-any", entry{"small_thing/__init__.py", "x = 1\n"})
	if err := os.WriteFile(filepath.Join(dir, "p"), pure, 0o600); err != nil {
		t.Fatal(err)
	}
	s := newStore(t)
	ctx := context.Background()
	if _, err := s.Ensure(ctx, item, Source{From: dir}, nil); err != nil {
		t.Fatal(err)
	}
	p, err := s.ResolvePyPI(ctx, "small-thing==2.0", Source{From: dir}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	var one, two bytes.Buffer
	if err := s.Export(ctx, &one, []Item{item}, []Pure{p}); err != nil {
		t.Fatal(err)
	}
	if err := s.Export(ctx, &two, []Item{item}, []Pure{p}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Error("two exports differ")
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	for in, body := range map[string][]byte{"export": one.Bytes(), "zipped": gz(t, one.Bytes()), "folder/export.tar": one.Bytes()} {
		name := filepath.Join(dir, in)
		if err := os.WriteFile(name, body, 0o600); err != nil {
			t.Fatal(err)
		}
		if in == "folder/export.tar" {
			name = filepath.Dir(name)
		}
		other := newStore(t)
		if _, err := other.Ensure(ctx, item, Source{From: name}, nil); err != nil {
			t.Error(err)
		}
		q, err := other.ResolvePyPI(ctx, "small-thing==2.0", Source{From: name}, "", nil)
		if err != nil || q.Archive != p.Archive {
			t.Errorf("imported %+v, %v; exported %+v", q, err, p)
		}
	}
	r := tar.NewReader(&one)
	for {
		h, err := r.Next()
		if err != nil {
			break
		}
		if h.Mode != 0o644 || h.ModTime.Unix() != 0 || h.Uid != 0 || h.Uname != "" {
			t.Errorf("%s: mode %o, time %v, owner %d %q", h.Name, h.Mode, h.ModTime, h.Uid, h.Uname)
		}
	}
	native := item
	native.OS = "linux"
	if err := s.Export(ctx, &two, []Item{native}, nil); err == nil || !strings.Contains(err.Error(), "native") {
		t.Errorf("native code was exported: %v", err)
	}
}

// Nothing that an archive holds may panic or pass a name that leaves it.
func FuzzArchives(f *testing.F) {
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, body []byte) {
		w, err := openZip(t, body)
		if err == nil {
			for _, n := range w.order {
				if !filepath.IsLocal(n) {
					t.Errorf("entry %q passed", n)
				}
				w.read(n, 1<<16)
			}
			wheelTree(w).info("x", "1")
		}
		s, err := Open(filepath.Join(privateDir(t), "cache"))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		stage, err := s.stage()
		if err != nil {
			t.Fatal(err)
		}
		defer stage.Close()
		p := filepath.Join(stage.path(), "in.tar")
		if err := os.WriteFile(p, body, 0o600); err != nil {
			t.Fatal(err)
		}
		eachTarFile(context.Background(), stage, p, func(n int64) bool { return n < 1<<16 }, func(*os.File, Digest) error { return nil })
	})
}
