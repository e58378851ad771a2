package wasm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sallyport.dev/sallyport/internal/python"
)

// TestCallsLeaveNothing runs calls four at a time, most of them hostile, and then looks for what they left:
// processes, descriptors, mounts, goroutines, files in the cache, memory. SALLYPORT_SOAK makes it 2,000.
func TestCallsLeaveNothing(t *testing.T) {
	calls := 48
	if os.Getenv("SALLYPORT_SOAK") != "" {
		calls = 2000
	}
	e := openEngine(t, func(c *Config) { c.Limits.Scratch, c.Limits.Memory = 16<<20, 64<<20 })
	scripts := []string{
		"print(1)",
		"raise ValueError('row 17')",
		"import sys; sys.exit(200)",
		"while True: pass",
		"x = []\nwhile True: x.append(bytearray(1 << 20))",
		"f = open('/tmp/fill', 'wb')\nwhile True: f.write(bytes(1 << 20))",
		"import os\nos.symlink('/etc/passwd', '/workspace/output/x')\nos.makedirs('/workspace/output/' + 'd/' * 200)\nos.chmod('/workspace/output/d', 0)",
		"i = 0\nwhile True:\n    open(f'/tmp/{i}', 'w').close(); i += 1",
		"import sys\nwhile True: sys.stdout.write('x' * 100000)",
		"import os; os.abort()",
		"h = []\nwhile True: h.append(open('/tmp/h', 'w'))",
		"import pandas as pd; print(pd.DataFrame({'a': range(100)}).sum())",
	}
	round := func(n int) {
		var running sync.WaitGroup
		places := make(chan struct{}, 4)
		for i := range n {
			places <- struct{}{}
			running.Go(func() {
				defer func() { <-places }()
				limits := python.DefaultLimits()
				limits.Timeout = time.Second
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if i%7 == 6 { // a client that leaves
					time.AfterFunc(20*time.Millisecond, cancel)
				}
				_, err := e.Run(ctx, python.Request{Code: scripts[i%len(scripts)], Limits: limits})
				var f *python.Failure
				if err != nil && (!errors.As(err, &f) || f.Kind == python.Internal || f.Kind == python.NotPrepared) {
					t.Errorf("call %d: %v: %v", i, err, errors.Unwrap(err))
				}
			})
		}
		running.Wait()
	}
	round(2 * len(scripts)) // what is made once and kept is made here
	before := left(t)
	round(calls)
	var after traces
	// What the kernel takes back on its own may lag a little behind the end of a call.
	for range 100 {
		if after = left(t); after.same(before) {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if !after.same(before) {
		t.Errorf("after %d calls:\n%+v\nbefore:\n%+v", calls, after, before)
	}
	if grown := after.resident - before.resident; grown > 64<<20 {
		t.Errorf("the server grew by %d MiB", grown>>20)
	}
}

// traces are what a process can leave behind.
type traces struct {
	descriptors, children, mounts, goroutines, files int
	resident                                         int64
}

// same ignores memory, which has a bound of its own. Goroutines may be a few more or less: timers of
// the runtime come and go.
func (a traces) same(b traces) bool {
	return a.descriptors <= b.descriptors && a.children == b.children && a.mounts == b.mounts && a.files == b.files && a.goroutines <= b.goroutines+2
}

func left(t *testing.T) traces {
	t.Helper()
	runtime.GC()
	tr := traces{goroutines: runtime.NumGoroutine()}
	entries := func(pattern string) []string {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	tr.descriptors = len(entries("/proc/self/fd/*"))
	self := "PPid:\t" + strconv.Itoa(os.Getpid()) + "\n"
	for _, name := range entries("/proc/[0-9]*/status") {
		if status, err := os.ReadFile(name); err == nil && bytes.Contains(status, []byte(self)) {
			tr.children++
		}
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	tr.mounts = bytes.Count(mounts, []byte("\n"))
	cache := preparedCache(t)
	for _, folder := range []string{"staging", "images", "lock"} {
		tr.files += len(entries(filepath.Join(cache, folder, "*")))
	}
	tr.files += len(entries(filepath.Join(os.TempDir(), "sallyport*")))
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(statm))[1], 10, 64)
	if err != nil {
		t.Fatal(fmt.Errorf("reading statm: %w", err))
	}
	tr.resident = pages * int64(os.Getpagesize())
	return tr
}
