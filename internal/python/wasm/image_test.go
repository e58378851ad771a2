//go:build linux

package wasm

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"sallyport.dev/sallyport/internal/artifact"
	"sallyport.dev/sallyport/internal/python"
)

// An image is native code that a runtime loads without a question, so whatever is not as setup left it is
// refused, and what is frozen in it must not show in a call.

// copied is a private cache that a test may damage, with the files of the default image only. They are
// copies: a hard link would change the inodes that other engines watch.
type copied struct {
	folder, native, program, record string
	manifest                        manifest
}

func copyCache(t *testing.T) copied {
	t.Helper()
	from := preparedCache(t)
	m, err := readManifest(from, DefaultImage)
	if err != nil {
		t.Fatal(err)
	}
	c := copied{folder: filepath.Join(t.TempDir(), "cache"), manifest: m}
	store, err := artifact.Open(c.folder)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	given, err := artifact.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer given.Close()
	for to, d := range map[*string]artifact.Digest{&c.native: m.Native, &c.program: m.Program} {
		f, err := given.OpenVerified(d)
		if err != nil {
			t.Fatal(err)
		}
		_, err = store.Put(f, d, 4<<30, to == &c.program)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		if *to, err = store.Path(d); err != nil {
			t.Fatal(err)
		}
	}
	if err := writeManifest(c.folder, DefaultImage, m); err != nil {
		t.Fatal(err)
	}
	c.record = filepath.Join(c.folder, manifestFolder, DefaultImage+".json")
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// overwrite changes a byte of a file that nobody may write, keeps size and mode, and returns what undoes it.
func overwrite(t *testing.T, path string, at int64) (undo func()) {
	t.Helper()
	st, err := os.Stat(path)
	must(t, err)
	must(t, os.Chmod(path, 0o600))
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	var b [1]byte
	_, err = f.ReadAt(b[:], at)
	must(t, err)
	_, err = f.WriteAt([]byte{b[0] ^ 1}, at)
	must(t, err)
	must(t, f.Chmod(st.Mode().Perm()))
	return func() {
		must(t, os.Chmod(path, 0o600))
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		must(t, err)
		_, err = f.WriteAt(b[:], at)
		must(t, errors.Join(err, f.Chmod(st.Mode().Perm()), f.Close()))
	}
}

// displace puts another file, or none, in the place of one.
func displace(t *testing.T, path string, put func(path string) error) (undo func()) {
	t.Helper()
	must(t, os.Rename(path, path+".aside"))
	if put != nil {
		must(t, put(path))
	}
	return func() {
		os.RemoveAll(path)
		must(t, os.Rename(path+".aside", path))
	}
}

func (c copied) rewrite(t *testing.T, change func(*manifest)) (undo func()) {
	t.Helper()
	m := c.manifest
	change(&m)
	must(t, writeManifest(c.folder, DefaultImage, m))
	return func() { must(t, writeManifest(c.folder, DefaultImage, c.manifest)) }
}

func cut(path string, size int64) func(string) error {
	return func(to string) error {
		from, err := os.Open(path + ".aside")
		if err != nil {
			return err
		}
		defer from.Close()
		f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
		if err != nil {
			return err
		}
		_, err = io.CopyN(f, from, size)
		return errors.Join(err, f.Close())
	}
}

func TestDamagedCacheIsRefused(t *testing.T) {
	c := copyCache(t)
	// A call in the copy as it is; all that follows is refused for its damage and for nothing else.
	refused := func(t *testing.T, says string) {
		t.Helper()
		e := New(Config{Cache: c.folder})
		defer e.Close()
		_, err := e.Run(t.Context(), python.Request{Code: "print(1)"})
		var f *python.Failure
		if !errors.As(err, &f) || f.Kind != python.NotPrepared || !strings.Contains(f.Message, "sallyport setup") || strings.Contains(f.Message, c.folder) {
			t.Fatalf("%v, want not prepared, with the command that helps and without a path", err)
		}
		if !strings.Contains(f.Cause.Error(), says) {
			t.Errorf("the operator reads %v, want %q", f.Cause, says)
		}
		if d := e.Describe(); d.Ready || d.NotReady == "" {
			t.Errorf("the description calls it ready: %+v", d)
		}
	}
	works := func(t *testing.T) {
		t.Helper()
		e := New(Config{Cache: c.folder})
		defer e.Close()
		if out := mustRun(t, e, python.Request{Code: "print(1)"}); out.Stdout.Text != "1\n" {
			t.Fatalf("%+v", out)
		}
	}
	works(t)
	other, err := os.Executable()
	must(t, err)
	for _, d := range []struct {
		name, says string
		harm       func(t *testing.T) func()
	}{
		{"a bit of the machine code", "sha256", func(t *testing.T) func() { return overwrite(t, c.native, 50<<20) }},
		{"a bit of the memory", "sha256", func(t *testing.T) func() { return overwrite(t, c.native, c.manifest.Size-100<<20) }},
		{"the last byte missing", "sha256", func(t *testing.T) func() { return displace(t, c.native, cut(c.native, c.manifest.Size-1)) }},
		{"half of it", "sha256", func(t *testing.T) func() { return displace(t, c.native, cut(c.native, c.manifest.Size/2)) }},
		{"an empty file", "sha256", func(t *testing.T) func() { return displace(t, c.native, cut(c.native, 0)) }},
		{"no file", "not in the cache", func(t *testing.T) func() { return displace(t, c.native, nil) }},
		{"a folder", "no regular file", func(t *testing.T) func() {
			return displace(t, c.native, func(p string) error { return os.Mkdir(p, 0o700) })
		}},
		{"a link to the right file", "no regular file", func(t *testing.T) func() {
			return displace(t, c.native, func(p string) error { return os.Symlink(p+".aside", p) })
		}},
		{"an image that others can write", "can write", func(t *testing.T) func() {
			must(t, os.Chmod(c.native, 0o666))
			return func() { must(t, os.Chmod(c.native, 0o444)) }
		}},
		{"a bit of the runtime", "sha256", func(t *testing.T) func() { return overwrite(t, c.program, 1<<20) }},
		{"another program as the runtime", "", func(t *testing.T) func() {
			return displace(t, c.program, func(p string) error { return os.Symlink(other, p) })
		}},
		{"no runtime", "not in the cache", func(t *testing.T) func() { return displace(t, c.program, nil) }},
		{"half a record", "damaged", func(t *testing.T) func() {
			return displace(t, c.record, func(p string) error { return os.WriteFile(p, []byte(`{"format":1,"key":"ab`), 0o600) })
		}},
		{"a record of another format", "another version", func(t *testing.T) func() { return c.rewrite(t, func(m *manifest) { m.Format++ }) }},
		{"a record of another processor", "processor", func(t *testing.T) func() { return c.rewrite(t, func(m *manifest) { m.CPU = "linux/amd64/other" }) }},
		{"a record that names a path", "digest", func(t *testing.T) func() {
			return c.rewrite(t, func(m *manifest) { m.Native = artifact.Digest("../../" + strings.Repeat("a", 58)) })
		}},
		{"a record that swaps image and runtime", "", func(t *testing.T) func() {
			return c.rewrite(t, func(m *manifest) { m.Native, m.Program = m.Program, m.Native })
		}},
		{"no record", "not made yet", func(t *testing.T) func() { return displace(t, c.record, nil) }},
		{"a folder that a group can write", "can write", func(t *testing.T) func() {
			must(t, os.Chmod(c.folder, 0o770))
			return func() { must(t, os.Chmod(c.folder, 0o700)) }
		}},
		{"a folder of files that all can write", "can write", func(t *testing.T) func() {
			must(t, os.Chmod(filepath.Join(c.folder, "sha256"), 0o777))
			return func() { must(t, os.Chmod(filepath.Join(c.folder, "sha256"), 0o700)) }
		}},
		{"a link as the folder", "is a link", func(t *testing.T) func() {
			return displace(t, c.folder, func(p string) error { return os.Symlink(p+".aside", p) })
		}},
	} {
		t.Run(d.name, func(t *testing.T) {
			undo := d.harm(t)
			defer undo()
			refused(t, d.says)
		})
	}
	works(t)
}

// A server that runs refuses the files once they have changed, and goes on by itself when they are right again.
func TestImageThatChangesMeanwhile(t *testing.T) {
	c := copyCache(t)
	// With a spare: what was started from the files as they were must not answer either.
	e := New(Config{Cache: c.folder, Spare: true})
	defer e.Close()
	call := func(what string, want bool) {
		t.Helper()
		out, err := e.Run(t.Context(), python.Request{Code: "print(1)"})
		var f *python.Failure
		switch {
		case want && (err != nil || out.Stdout.Text != "1\n"):
			t.Fatalf("%s: %s", what, told(out, err))
		case !want && (!errors.As(err, &f) || f.Kind != python.NotPrepared):
			t.Fatalf("%s: %s, want not prepared", what, told(out, err))
		}
	}
	call("as it was", true)
	waiting(t, e)
	undo := overwrite(t, c.native, 60<<20)
	call("a bit was changed", false)
	call("and again", false)
	undo()
	call("it is right again", true)
	undo = displace(t, c.program, func(p string) error { return os.WriteFile(p, []byte("#!/bin/sh\necho no\n"), 0o555) })
	call("the runtime was replaced", false)
	undo()
	call("the runtime is right again", true)
	undo = displace(t, c.native, nil)
	call("the image is gone", false)
	undo()
	call("the image is back", true)
}

// drawn are values that no two calls may share, and one that all share: hash() has a fixed seed, as the
// description says, and shows that the comparison sees what is the same.
const drawn = `
import datetime, hashlib, json, logging, multiprocessing, os, random, secrets, string, tempfile, time, uuid
import numpy as np
rng = random.Random()
print(json.dumps({
    "random": random.random(), "Random()": rng.random(), "shuffle": random.sample(range(10**9), 4), "gauss": random.gauss(0, 1), "SystemRandom": random.SystemRandom().random(),
    "numpy": np.random.rand(), "default_rng": np.random.default_rng().random(), "RandomState": np.random.RandomState().rand(), "permutation": np.random.permutation(10**4)[:6].tolist(),
    "urandom": os.urandom(8).hex(), "getrandom": os.getrandom(8).hex() if hasattr(os, "getrandom") else os.urandom(8).hex(), "secrets": secrets.token_hex(8), "choice": "".join(secrets.choice(string.ascii_letters) for _ in range(20)),
    "uuid1": str(uuid.uuid1()), "uuid4": str(uuid.uuid4()), "node": uuid.getnode(), "uuid7": str(uuid.uuid7()) if hasattr(uuid, "uuid7") else str(uuid.uuid4()),
    "mktemp": tempfile.mktemp(), "mkstemp": tempfile.mkstemp()[1], "mkdtemp": tempfile.mkdtemp(), "time": time.time_ns(), "now": datetime.datetime.now().isoformat(),
    "authkey": bytes(multiprocessing.current_process().authkey).hex(), "logging": logging.LogRecord("x", 1, "", 1, "", (), None).created,
    "hash": hash("abc"),
}))
started = logging._startTime / (1e9 if isinstance(logging._startTime, int) else 1)
assert abs(started - time.time()) < 60, "the clock of logging stands still"
assert time.process_time() < 60 and time.perf_counter() >= 0
fds = []
for fd in range(512):
    try: os.fstat(fd); fds.append(fd)
    except OSError: pass
assert fds[:6] == list(range(6)) and len(fds) <= 7, fds  # 0, 1, 2, three folders, and mkstemp's
`

func TestNothingIsStale(t *testing.T) {
	e := openEngine(t, nil)
	const runs = 10
	texts := make([]string, runs)
	for i := range 5 {
		texts[i] = run(t, e, drawn)
	}
	var together sync.WaitGroup
	for i := 5; i < runs; i++ {
		together.Go(func() {
			out, err := attempt(t, e, python.Request{Code: drawn})
			if err != nil || out.ExitCode == nil || *out.ExitCode != 0 {
				t.Errorf("run %d: %s", i, told(out, err))
			}
			texts[i] = out.Stdout.Text
		})
	}
	together.Wait()
	seen := map[string]map[string]int{}
	for i, text := range texts {
		var values map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &values); err != nil || len(values) < 20 {
			t.Fatalf("run %d: %v: %s", i, err, text)
		}
		for name, value := range values {
			if seen[name] == nil {
				seen[name] = map[string]int{}
			}
			seen[name][string(value)]++
		}
	}
	for name, values := range seen {
		if want := map[bool]int{false: runs, true: 1}[name == "hash"]; len(values) != want {
			t.Errorf("%s: %d values in %d runs, want %d: %v", name, len(values), runs, want, values)
		}
	}
}

// A pipe in the place of a report would keep us waiting for ever; no guest can make one, and we would not open it.
func TestReportThatIsAPipe(t *testing.T) {
	dir := t.TempDir()
	must(t, syscall.Mkfifo(filepath.Join(dir, "report.json"), 0o600))
	root, err := os.OpenRoot(dir)
	must(t, err)
	defer root.Close()
	if _, err := readRegular(root, "report.json", maxReport); !errors.Is(err, errNotRegular) {
		t.Errorf("%v", err)
	}
}
