package artifact

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

func TestPutAndOpen(t *testing.T) {
	s := newStore(t)
	body := []byte("some content")
	d, err := s.Put(bytes.NewReader(body), sum(body), 100, false)
	if err != nil {
		t.Fatal(err)
	}
	f, err := s.OpenVerified(d)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, body) {
		t.Errorf("read %q, %v", got, err)
	}
	if !s.Has(d, int64(len(body))) || s.Has(d, 3) || s.Has(sum([]byte("x")), -1) {
		t.Error("Has is wrong")
	}
	if _, err := s.OpenVerified(sum([]byte("x"))); !errors.Is(err, ErrMissing) {
		t.Errorf("missing: %v", err)
	}
	for _, bad := range []Digest{"", "..", "../../etc/passwd", Digest(strings.Repeat("A", 64))} {
		if _, err := s.OpenVerified(bad); err == nil {
			t.Errorf("opened %q", bad)
		}
		if _, err := s.Path(bad); err == nil {
			t.Errorf("path of %q", bad)
		}
	}
	nothingStaged(t, s)
}

func TestPutRefuses(t *testing.T) {
	s := newStore(t)
	if _, err := s.Put(strings.NewReader("evil"), sum([]byte("good")), 100, false); !errors.Is(err, ErrMismatch) {
		t.Errorf("another content: %v", err)
	}
	if _, err := s.Put(strings.NewReader("0123456789"), "", 9, false); err == nil {
		t.Error("took more than the limit")
	}
	if _, err := s.Put(io.MultiReader(strings.NewReader("half"), failing{}), "", 100, false); !errors.Is(err, errBroken) {
		t.Errorf("broken reader: %v", err)
	}
	if list, err := s.List(); err != nil || len(list) != 0 {
		t.Errorf("store holds %v (%v)", list, err)
	}
	nothingStaged(t, s)
}

var errBroken = errors.New("broken")

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errBroken }

// Cut, emptied and changed files are found out at opening and replaced by the next Ensure.
func TestDamage(t *testing.T) {
	item, body := itemOf(t, "1.2")
	dir := privateDir(t)
	if err := os.WriteFile(filepath.Join(dir, "any-name"), body, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func([]byte) []byte{
		"half":  func(b []byte) []byte { return b[:len(b)/2] },
		"empty": func([]byte) []byte { return nil },
		"byte":  func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			got, err := s.Ensure(context.Background(), item, Source{From: dir}, nil)
			if err != nil {
				t.Fatal(err)
			}
			p := got.Paths["tiny_engine/program"]
			b, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(p, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(p, damage(b), 0o700); err != nil {
				t.Fatal(err)
			}
			if _, err := s.OpenVerified(item.Members[0].SHA256); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "sallyport setup") {
				t.Errorf("opened a damaged file: %v", err)
			}
			if _, err := s.Ensure(context.Background(), item, Source{From: dir}, nil); err != nil {
				t.Fatal(err)
			}
			f, err := s.OpenVerified(item.Members[0].SHA256)
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
		})
	}
}

func TestUnsafeFolders(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has access lists instead of modes")
	}
	base := privateDir(t)
	mk := func(name string, mode os.FileMode) string {
		p := filepath.Join(base, name)
		if err := os.MkdirAll(p, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(p, mode); err != nil {
			t.Fatal(err)
		}
		return p
	}
	link := filepath.Join(base, "link")
	if err := os.Symlink(mk("real", 0o700), link); err != nil {
		t.Fatal(err)
	}
	mk("open", 0o777)
	for name, dir := range map[string]string{
		"group-writable":  mk("group", 0o770),
		"writable by all": mk("all", 0o702),
		"link":            link,
		"below an open":   filepath.Join(base, "open", "cache"),
		"relative":        "cache",
		"link to a part":  "", // filled below
	} {
		if name == "link to a part" {
			if os.Geteuid() == 0 {
				continue // links that root made are followed, and here all are
			}
			dir = filepath.Join(link, "cache")
		}
		if s, err := Open(dir); !errors.Is(err, ErrUnsafe) {
			t.Errorf("%s: %v", name, err)
			if err == nil {
				s.Close()
			}
		}
	}
	if s, err := Open(mk("sticky", 0o777|os.ModeSticky) + "/cache"); err != nil {
		t.Errorf("below a sticky folder such as /tmp: %v", err)
	} else {
		s.Close()
	}
	if os.Geteuid() == 0 {
		p := mk("foreign", 0o700)
		if err := os.Chown(p, 4711, 4711); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(p); !errors.Is(err, ErrUnsafe) || !strings.Contains(err.Error(), "4711") {
			t.Errorf("another user's folder: %v", err)
		}
	}
}

// A folder or file inside that others can write is refused as well.
func TestUnsafeInside(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has access lists instead of modes")
	}
	s := newStore(t)
	d, err := s.Put(strings.NewReader("x"), "", 10, false)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Path(d)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(p, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := s.OpenVerified(d); !errors.Is(err, ErrUnsafe) {
		t.Errorf("writable file: %v", err)
	}
	if err := os.Remove(p); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/hostname", p); err != nil {
		t.Fatal(err)
	}
	if _, err := s.OpenVerified(d); !errors.Is(err, ErrDamaged) {
		t.Errorf("link: %v", err)
	}
	if err := os.Chmod(filepath.Join(s.Dir(), "sha256"), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(s.Dir()); !errors.Is(err, ErrUnsafe) {
		t.Errorf("writable inner folder: %v", err)
	}
}

// What a killed process left is removed by the next one; what a living one does is not.
func TestSweep(t *testing.T) {
	s := newStore(t)
	alive, err := s.stage()
	if err != nil {
		t.Fatal(err)
	}
	dead, err := s.stage()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dead.path(), "half"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	dead.lock.Close() // what the kernel does when a process ends
	s.sweep()
	if _, err := os.Stat(dead.path()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("dead stage: %v", err)
	}
	if _, err := os.Stat(alive.path()); err != nil {
		t.Errorf("living stage: %v", err)
	}
	if err := alive.Close(); err != nil {
		t.Fatal(err)
	}
	nothingStaged(t, s)
}

// Ten setups at once fetch once.
func TestManyAtOnce(t *testing.T) {
	needManager(t, "pip")
	x := useIndex(t)
	item, body := itemOf(t, "1.2")
	x.put(item.Filename, body)
	dir := filepath.Join(privateDir(t), "cache")
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			s, err := Open(dir)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			if _, err := s.Ensure(context.Background(), item, Source{Manager: "pip"}, nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := x.hits.Load(); n != 1 {
		t.Errorf("fetched %d times", n)
	}
}

func TestLockWaitsAndSaysSo(t *testing.T) {
	s := newStore(t)
	unlock, err := s.Lock(context.Background(), "one", nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	waiting := false
	_, err = s.Lock(ctx, "one", func(step string, _, _ int64) { waiting = strings.Contains(step, "waiting"); cancel() })
	if !waiting || !errors.Is(err, context.Canceled) {
		t.Errorf("waiting %v, err %v", waiting, err)
	}
	unlock()
	again, err := s.Lock(context.Background(), "one", nil)
	if err != nil {
		t.Fatal(err)
	}
	again()
	if _, err := s.Lock(context.Background(), "../x", nil); err == nil {
		t.Error("a lock outside the cache")
	}
}

// The lock of a process that is killed is free.
func TestLockOfKilledProcess(t *testing.T) {
	if dir := os.Getenv("ARTIFACT_LOCK_DIR"); dir != "" {
		s, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Lock(context.Background(), "one", nil); err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString("locked\n")
		select {}
	}
	s := newStore(t)
	cmd := exec.Command(os.Args[0], "-test.run=^TestLockOfKilledProcess$")
	cmd.Env = append(os.Environ(), "ARTIFACT_LOCK_DIR="+s.Dir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 7)
	if _, err := io.ReadFull(out, b); err != nil || string(b) != "locked\n" {
		t.Fatalf("%q %v", b, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := s.Lock(ctx, "one", func(string, int64, int64) { cancel() }); err == nil {
		t.Error("two processes hold one lock")
	}
	cmd.Process.Kill()
	cmd.Wait()
	unlock, err := s.Lock(context.Background(), "one", nil)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

// A file that is swapped between the look at it and the opening is found out, even when its content is right.
func TestSwappedWhileOpening(t *testing.T) {
	dir := privateDir(t)
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	for _, p := range []string{one, two} {
		if err := os.WriteFile(p, []byte("x"), 0o400); err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.Lstat(one)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(two)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := verify(f, before, sum([]byte("x"))); !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v", err)
	}
}
