package artifact

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPinnedLock(t *testing.T) {
	l, err := Pinned()
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []Host{
		{"linux", "amd64", "glibc"}, {"linux", "arm64", "glibc"}, {"linux", "amd64", "musl"}, {"linux", "arm64", "musl"},
		{"darwin", "amd64", ""}, {"darwin", "arm64", ""}, {"windows", "amd64", ""}, {"windows", "arm64", ""},
	} {
		w, err := l.Find(Wasmtime, h)
		if err != nil {
			t.Errorf("%v: %v", h, err)
			continue
		}
		base := "wasmtime"
		if h.OS == "windows" {
			base += ".exe"
		}
		if m, ok := w.Member(base); !ok || !m.Executable || w.OS != h.OS || w.Arch != h.Arch || w.Libc != h.Libc || w.Program == "" || !w.Native() {
			t.Errorf("%v: %+v", h, w)
		}
		p, err := l.Find(Interpreter, h)
		if err != nil || p.Native() {
			t.Errorf("%v: %+v, %v", h, p, err)
		}
		for _, base := range []string{"python-snapshot.wasm", "python-stdlib.zip"} {
			if _, ok := p.Member(base); !ok {
				t.Errorf("no %s", base)
			}
		}
	}
	if _, err := l.Find(Wasmtime, Host{"plan9", "386", ""}); err == nil || !strings.Contains(err.Error(), "--wasmtime") {
		t.Errorf("unknown host: %v", err)
	}
	for _, broken := range []string{`{`, `{"items":[{"project":"x"}]}`, strings.Replace(string(lockJSON), `"sha256": "3b`, `"sha256": "3B`, 1), strings.Replace(string(lockJSON), `wasmtime_cli/wasmtime`, `../wasmtime`, 1)} {
		if _, err := parseLock([]byte(broken)); err == nil {
			t.Errorf("took %.60q", broken)
		}
	}
}

func TestLibc(t *testing.T) {
	for want, file := range map[string]string{"musl": "lib/ld-musl-x86_64.so.1", "glibc": "lib64/ld-linux-x86-64.so.2"} {
		root := t.TempDir()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, file)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, file), nil, 0o755); err != nil {
			t.Fatal(err)
		}
		if got := libc("linux", root); got != want {
			t.Errorf("%s: %s", file, got)
		}
	}
	if libc("darwin", "/") != "" {
		t.Error("darwin has no choice of C library")
	}
}

// The real files, through the configured index: about 120 MB, so only when asked for.
func TestRealDownload(t *testing.T) {
	kind := os.Getenv("SALLYPORT_TEST_DOWNLOAD")
	if kind == "" {
		t.Skip("set SALLYPORT_TEST_DOWNLOAD to pip or uv to fetch the pinned files")
	}
	l, err := Pinned()
	if err != nil {
		t.Fatal(err)
	}
	s := newStore(t)
	for _, project := range []string{Interpreter, Wasmtime} {
		item, err := l.Find(project, ThisHost())
		if err != nil {
			t.Fatal(err)
		}
		f, err := s.Ensure(context.Background(), item, Source{Manager: kind}, func(step string, done, total int64) { t.Logf("%s %d/%d", step, done, total) })
		if err != nil {
			t.Fatal(err)
		}
		if project == Wasmtime {
			p, err := s.Program(context.Background(), item.Members[0].SHA256)
			if err != nil || p.Version != item.Program {
				t.Errorf("%+v, %v", p, err)
			}
		}
		t.Log(f.Paths)
	}
}
