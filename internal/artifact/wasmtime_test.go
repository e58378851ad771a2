package artifact

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func script(t *testing.T, dir, name, body string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs a POSIX shell")
	}
	p := filepath.Join(dir, name)
	if err := os.WriteFile(p, []byte("#!/bin/sh\n"+body), 0o700); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestFindWasmtime(t *testing.T) {
	ctx := context.Background()
	one, two, three := privateDir(t), privateDir(t), privateDir(t)
	script(t, one, "wasmtime", "echo 'wasmtime 12.0.1'\n")
	script(t, two, "wasmtime", "[ -z \"$SECRET_OF_MINE\" ] && echo 'wasmtime 49.0.7 (886e27a00 2026-11-19)'\n")
	script(t, three, "wasmtime", "exit 3\n")
	t.Setenv("SECRET_OF_MINE", "x") // a program that was found by name must not see it
	t.Setenv("PATH", strings.Join([]string{"relative", one, two, three, privateDir(t)}, string(os.PathListSeparator)))
	list, err := FindWasmtime(ctx, "")
	if err != nil || len(list) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	if list[0].Version != "12.0.1" || list[1].Version != "49.0.7" || list[1].Origin != "PATH" || list[2].Err == nil {
		t.Errorf("%+v", list)
	}
	list, err = FindWasmtime(ctx, filepath.Join(one, "wasmtime"))
	if err != nil || len(list) != 1 || list[0].Origin != "--wasmtime" {
		t.Errorf("%+v, %v", list, err)
	}
	for name, body := range map[string]string{"chatty": "yes | head -c 1000000\n", "other": "echo 'Python 3.13.0'\n", "silent": "exit 0\n", "lines": "echo 'wasmtime 49.0.7'; echo evil\n"} {
		if list, err := FindWasmtime(ctx, script(t, one, name, body)); err == nil {
			t.Errorf("%s: %+v", name, list)
		}
	}
	if _, err := FindWasmtime(ctx, filepath.Join(one, "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
}

// This test binary stands in for wasmtime: it is a native program that can be copied.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		os.Stdout.WriteString("wasmtime 49.0.3 (f96eabaa1 2026-10-14)\n")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestAdopt(t *testing.T) {
	s := newStore(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Adopt(context.Background(), self)
	if err != nil {
		t.Fatal(err)
	}
	if p.Version != "49.0.3" || !strings.HasPrefix(p.Path, s.Dir()) {
		t.Errorf("%+v", p)
	}
	again, err := s.Program(context.Background(), p.Digest)
	if err != nil || again != p {
		t.Errorf("%+v, %v", again, err)
	}
	if runtime.GOOS != "windows" {
		if _, err := s.Adopt(context.Background(), script(t, privateDir(t), "wasmtime", "exec wasmtime-real\n")); err == nil || !strings.Contains(err.Error(), "script") {
			t.Errorf("script: %v", err)
		}
	}
	if _, err := s.Adopt(context.Background(), t.TempDir()); err == nil {
		t.Error("a folder was adopted")
	}
	// A program that was changed in the cache is not started.
	if err := os.Chmod(p.Path, 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(p.Path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte{1}, 4096); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if _, err := s.Program(context.Background(), p.Digest); !errors.Is(err, ErrDamaged) {
		t.Errorf("changed program: %v", err)
	}
}

func TestVersionLine(t *testing.T) {
	for line, want := range map[string]string{
		"wasmtime 49.0.3 (f96eabaa1 2026-10-14)\n": "49.0.3", "wasmtime 48.0.2": "48.0.2", "wasmtime-cli 9.0.0\r\n": "9.0.0", "wasmtime 50.0.0-rc.1 (x)": "50.0.0-rc.1",
		"wasmtime 49": "", "wasmtime 49.0.3; rm": "", "xwasmtime 49.0.3": "", "": "",
	} {
		got := ""
		if m := versionLine.FindStringSubmatch(line); m != nil {
			got = m[1]
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}
