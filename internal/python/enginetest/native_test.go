package enginetest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sallyport.dev/sallyport/internal/python"
)

// native runs scripts with the host's own python3 and no isolation at all. It exists to prove
// that the suite passes what is right, and is good for nothing else.
type native struct {
	python string
	ctx    context.Context
	stop   context.CancelFunc
	calls  sync.WaitGroup
	spoil  func(*python.Outcome) // breaks outcomes, to see that the suite notices
}

func openNative(t *testing.T) python.Engine { return newNative(t, nil) }

func newNative(t *testing.T, spoil func(*python.Outcome)) *native {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("this host has no python3")
	}
	ctx, stop := context.WithCancel(context.Background())
	n := &native{python: path, ctx: ctx, stop: stop, spoil: spoil}
	t.Cleanup(func() { _ = n.Close() })
	return n
}

func (n *native) Describe() python.Capabilities {
	return python.Capabilities{Engine: "native", Python: "3", Ready: true, Belt: "none", Limits: python.DefaultLimits()}
}

func (n *native) Close() error {
	n.stop()
	n.calls.Wait()
	return nil
}

func (n *native) Run(ctx context.Context, req python.Request) (out python.Outcome, err error) {
	n.calls.Add(1)
	defer n.calls.Done()
	root, err := os.MkdirTemp("", "native")
	if err != nil {
		return out, &python.Failure{Kind: python.Internal, Cause: err}
	}
	defer os.RemoveAll(root)
	work, tmp := filepath.Join(root, "workspace"), filepath.Join(root, "tmp")
	for _, folder := range []string{work, tmp, filepath.Join(work, "output")} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return out, &python.Failure{Kind: python.Internal, Cause: err}
		}
	}
	code := strings.NewReplacer("'/tmp/", "'"+tmp+"/", `"/workspace`, `"`+work).Replace(req.Code)
	script := filepath.Join(root, "script.py")
	if err := os.WriteFile(script, []byte(code), 0o600); err != nil {
		return out, &python.Failure{Kind: python.Internal, Cause: err}
	}
	cmd := exec.CommandContext(n.ctx, n.python, "-I", "-u", "-X", "utf8", script)
	stdout, stderr := python.NewCollector(req.Limits.OutputChars), python.NewCollector(req.Limits.OutputChars)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = work, []string{"TZ=UTC"}, bytes.NewReader(req.Stdin), stdout, stderr
	cmd.WaitDelay = time.Second
	defer ownGroup(cmd)() // what the script started goes with it
	if err := ctx.Err(); err != nil {
		return out, &python.Failure{Kind: python.Cancelled, Cause: err}
	}
	if err := cmd.Start(); err != nil {
		return out, &python.Failure{Kind: python.Internal, Cause: err}
	}
	limit := time.NewTimer(req.Limits.Timeout)
	defer limit.Stop()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err = <-ended:
	case <-limit.C:
		out.TimedOut = true
	case <-ctx.Done():
		err = &python.Failure{Kind: python.Cancelled}
	case <-n.ctx.Done():
		err = &python.Failure{Kind: python.Killed}
	}
	var failure *python.Failure
	if out.TimedOut || errors.As(err, &failure) {
		_ = cmd.Process.Kill()
		<-ended
	} else if code := cmd.ProcessState.ExitCode(); code >= 0 {
		out.ExitCode = &code
	}
	out.Stdout, out.Stderr = stdout.Stream(), stderr.Stream()
	if failure != nil {
		return out, failure
	}
	out.Files = files(work)
	if n.spoil != nil {
		n.spoil(&out)
	}
	return out, nil
}

func files(work string) (all []python.Artifact) {
	_ = filepath.WalkDir(work, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if data, err := os.ReadFile(path); err == nil {
			name, _ := filepath.Rel(work, path)
			all = append(all, python.Artifact{Path: filepath.ToSlash(name), Size: int64(len(data)), Data: data})
		}
		return nil
	})
	return all
}

// What a bare interpreter gets right: no result, no await at top level, no quotas.
func passesNatively() []string {
	return []string{"PY-02", "PY-04", "PY-07", "PY-08", "PY-09", "PY-12", "PY-16", "PY-26", "PY-27", "PY-28", "PY-30", "PY-31", "PY-32", "PY-33", "PY-36", "PY-37", "PY-42", "RES-04", "RES-05", "RES-08"}
}

func TestSuitePassesWhatIsRight(t *testing.T) {
	traits := Traits{Threads: true, Processes: true, Network: true}
	for _, name := range passesNatively() {
		t.Run(name, func(t *testing.T) { runCase(t, traits, openNative, name) })
	}
}

func TestContractPassesWhatIsRight(t *testing.T) { contract(t, Traits{}, openNative) }
