//go:build linux

package wasm

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sallyport.dev/sallyport/internal/python"
)

// soak is set for the long forms of what follows.
func soak() bool { return os.Getenv("SALLYPORT_SOAK") != "" }

// eventually waits for what the kernel does a little later. The bound is far beyond what it takes, so that
// a busy machine does not decide the test.
func eventually(t *testing.T, holds func() bool) bool {
	t.Helper()
	for range 3000 {
		if holds() {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// descendants are the processes that stem from one, without those that have ended and wait to be read.
func descendants(root int) (pids []int) {
	parents := map[int]int{}
	names, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		// The name of the program, in brackets, may hold anything.
		at := bytes.LastIndexByte(data, ')')
		var state string
		var parent int
		if _, err := fmt.Sscan(string(data[at+1:]), &state, &parent); err != nil || state == "Z" {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		parents[pid] = parent
	}
	for pid := range parents {
		for up := parents[pid]; up > 1; up = parents[up] {
			if up == root {
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids
}

// A call whose caller leaves has no process any more when Run returns; nor has any when Close returns.
func TestCancelledCallsEndAtOnce(t *testing.T) {
	rounds := 10
	if soak() {
		rounds = 200
	}
	e := openEngine(t, nil)
	mustRun(t, e, python.Request{Code: "1"})
	before := descendants(os.Getpid())
	for i := range rounds {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := e.Run(ctx, python.Request{Code: "while True: pass"})
			done <- err
		}()
		if i%2 == 0 && !eventually(t, func() bool { return len(descendants(os.Getpid())) > len(before) }) {
			t.Fatal("no process was started")
		}
		time.Sleep(time.Duration(rand.IntN(100_000)) * time.Microsecond)
		cancel()
		var f *python.Failure
		if err := <-done; !errors.As(err, &f) || f.Kind != python.Cancelled {
			t.Fatalf("%v, want cancelled", err)
		}
		if left := descendants(os.Getpid()); len(left) > len(before) {
			t.Fatalf("processes %v live on, %v were there before", left, before)
		}
	}
	var calls sync.WaitGroup
	for range 4 {
		calls.Go(func() {
			var f *python.Failure
			if out, err := e.Run(t.Context(), python.Request{Code: "while True: pass"}); !errors.As(err, &f) || f.Kind != python.Cancelled {
				t.Errorf("%s, want cancelled", told(out, err))
			}
		})
	}
	if !eventually(t, func() bool { return len(descendants(os.Getpid())) >= len(before)+4 }) {
		t.Error("the calls did not start")
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	calls.Wait()
	if left := descendants(os.Getpid()); len(left) > len(before) {
		t.Errorf("after Close processes %v live on", left)
	}
}

// program builds the real server. An empty build cache makes that a matter of minutes, which is left to
// a run that can wait.
func program(t *testing.T) string {
	t.Helper()
	preparedCache(t)
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go on PATH to build the server with")
	}
	ctx := t.Context()
	if !soak() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 90*time.Second)
		defer cancel()
	}
	path := filepath.Join(t.TempDir(), "sallyport")
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", path, "sallyport.dev/sallyport/cmd/sallyport")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Skip("building the server takes too long here: the build cache is empty")
	}
	if err != nil {
		t.Fatalf("building the server: %v: %s", err, out)
	}
	return path
}

// A served is a server process with a client's ends of its streams.
type served struct {
	*exec.Cmd
	in    *bufio.Writer
	close func() error
	out   *bufio.Reader
	log   bytes.Buffer
	mark  string // stands in the command line of each interpreter of this server, and of no other
}

func serve(t *testing.T, path string, args ...string) *served {
	t.Helper()
	// The memory limit is handed to the interpreter as a number, so one that nobody else has finds its processes.
	memory := int64(300<<20) + rand.Int64N(1<<20)*64
	m, err := readManifest(preparedCache(t), DefaultImage)
	if err != nil {
		t.Fatal(err)
	}
	s := &served{mark: "max-memory-size=" + strconv.FormatInt((&loaded{manifest: m}).memory(python.Limits{Memory: memory}), 10)}
	s.Cmd = exec.Command(path, append([]string{"python", "--cache", preparedCache(t), "--memory", strconv.FormatInt(memory, 10)}, args...)...)
	s.Stderr = &s.log
	in, err := s.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	s.in, s.close, s.out = bufio.NewWriter(in), in.Close, bufio.NewReader(out)
	t.Cleanup(func() {
		if s.ProcessState == nil {
			s.Process.Kill()
			s.Wait()
		}
	})
	s.say(t, map[string]any{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "test", "version": "1"}}})
	s.hear(t)
	s.say(t, map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	return s
}

func (s *served) say(t *testing.T, message any) {
	t.Helper()
	data, err := json.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	s.in.Write(append(data, '\n'))
	if err := s.in.Flush(); err != nil {
		t.Fatalf("the server does not read: %v: %s", err, s.log.String())
	}
}

func (s *served) hear(t *testing.T) string {
	t.Helper()
	line, err := s.out.ReadString('\n')
	if err != nil {
		t.Fatalf("the server does not answer: %v: %s", err, s.log.String())
	}
	return line
}

func (s *served) call(t *testing.T, id int, code string) {
	t.Helper()
	s.say(t, map[string]any{"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": map[string]any{"name": "run_python", "arguments": map[string]any{"code": code}}})
}

// processes are all of this server: what stems from it, and what bears its mark, also when nobody is its
// parent any more.
func (s *served) processes() (pids []int) {
	pids = descendants(s.Process.Pid)
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range names {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if data, err := os.ReadFile(name); err == nil && pid != s.Process.Pid && bytes.Contains(data, []byte(s.mark)) && !slices.Contains(pids, pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (s *served) interpreters() (n int) {
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range names {
		if data, err := os.ReadFile(name); err == nil && bytes.Contains(data, []byte(s.mark)) {
			n++
		}
	}
	return n
}

// alive tells which of these processes still run the program that they ran.
func alive(pids []int) (left []int) {
	for _, pid := range pids {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err == nil && !bytes.Contains(data, []byte(") Z ")) {
			left = append(left, pid)
		}
	}
	return left
}

// However a server ends, its interpreters end with it: killed at a random moment, stopped in the middle of
// calls, or left by its client.
func TestServerLeavesNoProcess(t *testing.T) {
	path := program(t)
	rounds := map[string]int{"killed": 20, "stopped": 4, "interrupted": 2, "left": 2}
	if soak() {
		rounds = map[string]int{"killed": 200, "stopped": 40, "interrupted": 20, "left": 20}
	}
	seen := 0 // rounds in which interpreters were running at the end
	for _, how := range []string{"killed", "stopped", "interrupted", "left"} {
		t.Run(how, func(t *testing.T) {
			for range rounds[how] {
				s := serve(t, path, "--timeout", "3s", "--max-calls", "3")
				for id := range 3 {
					s.call(t, id+1, "import time\nprint('running', flush=True)\nwhile True: pass")
				}
				if how != "killed" || rand.IntN(4) > 0 {
					if !eventually(t, func() bool { return s.interpreters() > 0 }) {
						t.Fatalf("no interpreter was started: %s", s.log.String())
					}
					seen++
				}
				time.Sleep(time.Duration(rand.IntN(60_000)) * time.Microsecond)
				running := s.processes()
				switch how {
				case "killed":
					s.Process.Kill()
				case "stopped":
					s.Process.Signal(syscall.SIGTERM)
				case "interrupted":
					s.Process.Signal(os.Interrupt)
				case "left":
					s.close()
				}
				s.out.WriteTo(&bytes.Buffer{})
				s.Wait()
				if how == "left" && s.ProcessState.ExitCode() != 0 {
					t.Errorf("exit status %d after the end of input: %s", s.ProcessState.ExitCode(), s.log.String())
				}
				if how != "killed" {
					// It waits for them itself.
					if left := alive(running); len(left) > 0 || s.interpreters() > 0 {
						t.Fatalf("processes %v of %v outlive their server", left, running)
					}
					continue
				}
				if !eventually(t, func() bool { return len(alive(running)) == 0 && s.interpreters() == 0 }) {
					t.Fatalf("processes %v of %v outlive their server", alive(running), running)
				}
			}
		})
	}
	if seen < 10 {
		t.Errorf("interpreters were running in %d rounds only", seen)
	}
}

// TestSoak lets every attack of the corpus loose between honest calls, four at a time, with spare
// interpreters and callers who leave; afterwards nothing is there that was not before. It is 150 calls
// long, and 2,000 with SALLYPORT_SOAK.
func TestSoak(t *testing.T) {
	calls := 150
	if soak() {
		calls = 2000
	}
	cache := preparedCache(t)
	e := openEngine(t, func(c *Config) { c.Spare = true })
	hostile := attacks(t)
	before := inventory(t, cache)
	round := func(from, n int) {
		var running sync.WaitGroup
		places := make(chan struct{}, 4)
		for i := from; i < from+n; i++ {
			places <- struct{}{}
			running.Go(func() {
				defer func() { <-places }()
				soakCall(t, e, hostile, i)
			})
		}
		running.Wait()
	}
	round(0, 2*len(hostile)) // what is made once and kept is made here
	waiting(t, e)
	settled := left(t)
	round(2*len(hostile), calls)
	waiting(t, e)
	var after traces
	if !eventually(t, func() bool { after = left(t); return after.same(settled) }) {
		t.Errorf("after %d calls:\n%+v\nbefore:\n%+v", calls, after, settled)
	}
	t.Logf("%d calls: %+v, before %+v", calls, after, settled)
	if grown := after.resident - settled.resident; grown > 64<<20 {
		t.Errorf("the server grew by %d MiB in %d calls", grown>>20, calls)
	}
	if changes := compareInventories(before, inventory(t, cache)); len(changes) > 0 {
		t.Errorf("the cache was changed: %s", strings.Join(changes, "; "))
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if left := descendants(os.Getpid()); len(left) > 0 {
		t.Errorf("after Close processes %v live on", left)
	}
}

// soakCall is every other time an attack with what must come of it, otherwise an honest call with its answer.
func soakCall(t *testing.T, e *Engine, hostile []attack, i int) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	limits := python.DefaultLimits()
	if i%2 == 0 {
		a := hostile[i/2%len(hostile)]
		limits = limits.Narrow(a.request.Limits)
		limits.Timeout = min(limits.Timeout, 2*time.Second)
		_, err := e.Run(ctx, python.Request{Code: a.request.Code, Limits: limits})
		acceptable(t, a.name, err)
		return
	}
	if i%9 == 0 { // a caller who leaves
		time.AfterFunc(time.Duration(rand.IntN(60))*time.Millisecond, cancel)
		_, err := e.Run(ctx, python.Request{Code: "while True: pass"})
		acceptable(t, "a caller who leaves", err)
		return
	}
	out, err := e.Run(ctx, python.Request{Code: fmt.Sprintf("import os\nopen('/tmp/mine', 'x').write('%d')\nprint(open('/tmp/mine').read(), os.listdir('/tmp'), open('/workspace/input/a').read())", i),
		Files: []python.File{{Name: "a", Content: []byte(strconv.Itoa(i))}}, Limits: limits})
	if want := fmt.Sprintf("%d ['mine'] %d\n", i, i); err != nil || out.Stdout.Text != want {
		t.Errorf("honest call %d: %s", i, told(out, err))
	}
}

// acceptable: whatever a script does, the fault is never the runner's.
func acceptable(t *testing.T, name string, err error) {
	t.Helper()
	var f *python.Failure
	if err != nil && (!errors.As(err, &f) || slices.Contains([]python.FailureKind{python.Internal, python.NotPrepared, python.Belt, python.Invalid, python.Busy}, f.Kind)) {
		t.Errorf("%s: %v: %v", name, err, errors.Unwrap(err))
	}
}
