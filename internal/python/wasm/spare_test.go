package wasm

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sallyport.dev/sallyport/internal/python"
)

func run(t *testing.T, e *Engine, code string) string {
	t.Helper()
	out, err := e.Run(t.Context(), python.Request{Code: code})
	if err != nil {
		t.Fatalf("running %q: %v", code, err)
	}
	if out.ExitCode == nil || *out.ExitCode != 0 {
		t.Fatalf("running %q: %s", code, out.Stderr.Text)
	}
	return out.Stdout.Text
}

// waiting returns the process of the spare, once there is one.
func waiting(t *testing.T, e *Engine) *call {
	t.Helper()
	for range 1000 {
		e.spares.mu.Lock()
		c := e.spares.idle
		e.spares.mu.Unlock()
		if c != nil {
			return c
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("no spare interpreter was started")
	return nil
}

// A spare serves one call and is as fresh as a new interpreter.
func TestSpareIsFresh(t *testing.T) {
	e := openEngine(t, func(c *Config) { c.Spare = true })
	run(t, e, "1")
	seen := map[string]bool{}
	for range 5 {
		first := waiting(t, e)
		out := run(t, e, "import builtins, random, os, time\nprint(hasattr(builtins, 'left'), os.listdir('/tmp'), os.listdir('/workspace/output'), abs(time.time() - float(open('/workspace/input/now').read() if os.path.exists('/workspace/input/now') else time.time())) < 60)\nprint(random.random(), os.urandom(8).hex())\nbuiltins.left = 1\nopen('/tmp/left', 'w').close()\nopen('/workspace/output/left', 'w').close()")
		state, entropy, _ := strings.Cut(out, "\n")
		if state != "False [] [] True" {
			t.Errorf("a call saw another one: %s", state)
		}
		if seen[entropy] {
			t.Errorf("two calls drew the same: %s", entropy)
		}
		seen[entropy] = true
		if second := waiting(t, e); second == first {
			t.Error("a spare served two calls")
		}
	}
}

// A spare that died is replaced without a word, and files reach one that runs already.
func TestSpareThatDied(t *testing.T) {
	e := openEngine(t, func(c *Config) { c.Spare = true })
	run(t, e, "1")
	waiting(t, e).process.Kill()
	<-waiting(t, e).process.Done()
	out, err := e.Run(t.Context(), python.Request{
		Code:  "print(open('/workspace/input/a/b.txt').read())",
		Files: []python.File{{Name: "a/b.txt", Content: []byte("given")}},
	})
	if err != nil || out.Stdout.Text != "given\n" {
		t.Fatalf("after the spare died: %v, %+v", err, out)
	}
	waiting(t, e)
	out, err = e.Run(t.Context(), python.Request{
		Code:  "print(open('/workspace/input/c.txt').read())",
		Files: []python.File{{Name: "c.txt", Content: []byte("late")}},
	})
	if err != nil || out.Stdout.Text != "late\n" {
		t.Fatalf("files for a spare: %v, %+v", err, out)
	}
}

// Limits of a call's own get an interpreter of its own, and nothing is left after Close.
func TestSpareLimitsAndClose(t *testing.T) {
	e := New(Config{Cache: preparedCache(t), Spare: true})
	run(t, e, "1")
	c := waiting(t, e)
	out, err := e.Run(t.Context(), python.Request{
		Code:   "try:\n open('/tmp/x', 'wb').write(bytes(8 << 20))\nexcept OSError as e: print(e.strerror)",
		Limits: python.Limits{Scratch: 4 << 20},
	})
	if err != nil || out.Stdout.Text != "No space left on device\n" {
		t.Fatalf("narrow limits: %v, %+v", err, out)
	}
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() { e.Run(t.Context(), python.Request{Code: "import time; time.sleep(60)"}) })
	}
	time.Sleep(200 * time.Millisecond)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	calls.Wait()
	<-c.process.Done()
	for _, pid := range children(t) {
		t.Errorf("process %d was left", pid)
	}
}

// children lists the processes that this one has started and that have not ended.
func children(t *testing.T) []int {
	t.Helper()
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Skip("no /proc here to look for processes in")
	}
	var pids []int
	for _, task := range tasks {
		data, err := os.ReadFile("/proc/self/task/" + task.Name() + "/children")
		if err != nil {
			continue
		}
		for _, field := range strings.Fields(string(data)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
