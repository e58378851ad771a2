package confine

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// long is true for the soak run.
func long() bool { return os.Getenv("SALLYPORT_SOAK") != "" }

// eventually waits for something that the kernel does a little later. The bound is far beyond
// what it takes, so that a busy machine does not decide the test.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 2000 {
		if holds() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("never: %s", what)
}

// withArgument counts the processes that have a word in their command line.
func withArgument(word string) (pids []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err == nil && bytes.Contains(data, []byte("\x00"+word+"\x00")) {
			pids = append(pids, file)
		}
	}
	return pids
}

// Killed at a random moment, with starts under way, we leave no process; the folders that we
// leave on the disk go with the next start.
func TestKilledServerLeavesNothing(t *testing.T) {
	kills := 40
	if testing.Short() {
		kills = 10
	}
	if long() {
		kills = 300
	}
	program := attackProgram(t)
	eachMode(t, func(t *testing.T, m mode) {
		folder := openDir(t)
		for i := range kills {
			token := fmt.Sprintf("confine-kill-%d-%d-%s", os.Getpid(), i, m.name)
			server := actor(t, "server", program, folder, m.name, token)
			out, err := server.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := server.Start(); err != nil {
				t.Fatal(err)
			}
			line, _ := bufio.NewReader(out).ReadString('\n')
			if line != "serving\n" {
				t.Fatalf("server: %q", line)
			}
			time.Sleep(time.Duration(rand.IntN(60_000)) * time.Microsecond)
			server.Process.Kill()
			server.Wait()
			eventually(t, "the confined processes of a killed server end", func() bool { return len(withArgument(token)) == 0 })
		}
		m.prepare(t, Spec{Program: program, Runtime: folder})
		left, err := os.ReadDir(folder)
		if err != nil || len(left) != 0 {
			t.Errorf("left after a sweep: %v %v", left, err)
		}
	})
}

// Threads that end, and a busy collector, must not take a confined process along.
func TestThreadNoise(t *testing.T) {
	children := 100
	if !testing.Short() {
		children = 500
	}
	eachMode(t, func(t *testing.T, m mode) {
		belt := attackBelt(t, m, nil)
		stop := make(chan struct{})
		var noise sync.WaitGroup
		noise.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(2 * time.Millisecond):
				}
				go runtime.LockOSThread() // the thread ends with the goroutine
				runtime.GC()
			}
		})
		jobs := make(chan int)
		var work sync.WaitGroup
		for range 16 {
			work.Go(func() {
				for range jobs {
					box, err := belt.Open(t.Context())
					if err != nil {
						t.Error(err)
						continue
					}
					out, exit := output(t, box, Command{Args: []string{"sleep", "20"}})
					if exit.Code != 0 || !strings.HasSuffix(out, "sleep succeeded\n") {
						t.Errorf("%q %+v", out, exit)
					}
					if err := box.Close(); err != nil {
						t.Error(err)
					}
				}
			})
		}
		for i := range children {
			jobs <- i
		}
		close(jobs)
		work.Wait()
		close(stop)
		noise.Wait()
	})
}

// resources of ours that a box could leave behind
type holdings struct {
	descriptors, namespaces int
	mounts                  string
	children                string
}

func held(t *testing.T) holdings {
	t.Helper()
	var h holdings
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	h.descriptors = len(fds)
	seen := map[string]bool{}
	tasks, _ := filepath.Glob("/proc/self/task/*/ns/mnt")
	for _, task := range tasks {
		if ns, err := os.Readlink(task); err == nil {
			seen[ns] = true
		}
	}
	h.namespaces = len(seen)
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	h.mounts = string(mounts)
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	for _, list := range lists {
		data, _ := os.ReadFile(list)
		h.children += string(data)
	}
	return h
}

func TestNothingIsLeft(t *testing.T) {
	eachMode(t, func(t *testing.T, m mode) {
		folder := openDir(t)
		program := attackProgram(t)
		once := func() {
			belt, err := m.try(t, Spec{Program: program, Runtime: folder, Scratch: []Scratch{{Name: "work", Bytes: 4 << 20, Files: 6000}, {Name: "tmp", Bytes: 1 << 20, Files: 10}}})
			if err != nil {
				t.Fatal(err)
			}
			defer belt.Close()
			for _, args := range [][]string{{"odd names", "{}", program}, {"deep", "{}", "3000"}, {"fill", "{}"}, {"spin"}, nil} {
				box, err := belt.Open(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				for i := range args {
					args[i] = strings.ReplaceAll(args[i], "{}", box.Path("work"))
				}
				switch {
				case args == nil: // never started
				case args[0] == "spin": // still running when the box is closed
					_, read := begin(t, box, Command{Args: args})
					defer read()
				default:
					// The watch may end the deep one first.
					if out, exit := output(t, box, Command{Args: args}); exit.Code != 0 && exit.Code != 3 && exit.Cause != CauseDisk {
						t.Errorf("%q %+v", out, exit)
					}
				}
				if err := box.Close(); err != nil {
					t.Error(err)
				}
				if err := box.Close(); err != nil {
					t.Error("second close:", err)
				}
			}
		}
		once() // whatever is made once and kept
		// A thread takes a moment to end.
		eventually(t, "only our own namespace is held", func() bool { return held(t).namespaces == 1 })
		before := held(t)
		for range 5 {
			once()
		}
		eventually(t, "descriptors, namespaces and children are as before", func() bool {
			runtime.GC()
			return held(t) == before
		})
		if now := held(t); now != before {
			t.Errorf("left: %+v\nbefore: %+v", now, before)
		}
		if left, err := os.ReadDir(folder); err != nil || len(left) != 0 {
			t.Errorf("left in the runtime folder: %v %v", left, err)
		}
	})
}

// The first thread stands for the process in /proc: it must never be confined.
func TestFirstThreadStaysFree(t *testing.T) {
	out, err := actor(t, "first").CombinedOutput()
	if err != nil || string(out) != "done\n" {
		t.Errorf("%s: %v", out, err)
	}
}

// Two boxes of one belt see nothing of each other.
func TestBoxesAreApart(t *testing.T) {
	eachMode(t, func(t *testing.T, m mode) {
		belt := attackBelt(t, m, nil)
		one, two := open(t, belt), open(t, belt)
		if err := one.Put("work", "secret", []byte("x")); err != nil {
			t.Fatal(err)
		}
		if _, err := two.Root("work").Stat("secret"); err == nil {
			t.Error("scratch is shared")
		}
		// In a view both folders have the same path; on the disk the other's is known here.
		out, exit := output(t, two, Command{Args: []string{"read", one.Path("work") + "/secret"}})
		if exit.Code != 3 {
			t.Errorf("%q %+v", out, exit)
		}
	})
}

func TestSweepLeavesTheLiving(t *testing.T) {
	m := modes()[1]
	folder := openDir(t)
	belt := attackBelt(t, m, func(s *Spec) { s.Runtime = folder })
	box := open(t, belt)
	if err := box.Put("work", "kept", []byte("x")); err != nil {
		t.Fatal(err)
	}
	// What a killed process leaves: a folder and a lock that nobody holds.
	left := filepath.Join(folder, "box-1")
	if err := os.MkdirAll(filepath.Join(left, "work", "a"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(belt.spec.Program, filepath.Join(left, "work", "a", "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(left+".lock", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := sweep(folder); err != nil {
		t.Fatal(err)
	}
	if _, err := box.Root("work").Stat("kept"); err != nil {
		t.Error("a living box was swept:", err)
	}
	if _, err := os.Lstat(left); !os.IsNotExist(err) {
		t.Error("a dead box was not swept:", err)
	}
	if _, err := os.Stat(belt.spec.Program); err != nil {
		t.Error("a link was followed:", err)
	}
}

func TestRuntimeFolderOfAnotherIsRefused(t *testing.T) {
	dir := openDir(t)
	link := filepath.Join(dir, "link")
	if err := os.Symlink("/etc", link); err != nil {
		t.Fatal(err)
	}
	if _, err := runtimeFolder(link, false); err == nil {
		t.Error("a link was accepted")
	}
	if chooseIdentity().change {
		other := filepath.Join(dir, "other")
		if err := os.Mkdir(other, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(other, 1, 1); err != nil {
			t.Fatal(err)
		}
		if _, err := runtimeFolder(other, false); err == nil {
			t.Error("another user's folder was accepted: " + strconv.Itoa(1))
		}
	}
}
