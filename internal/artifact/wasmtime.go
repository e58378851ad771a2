package artifact

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"syscall"
	"time"
)

// A Candidate is a wasmtime program that this machine has. Whether its version may be used is for
// the caller to judge.
type Candidate struct {
	Path    string
	Version string // such as "49.0.3"; with a suffix for a pre-release
	Origin  string // "--wasmtime" or "PATH"
	Err     error  // why it gave no version
}

// FindWasmtime lists the program that was named, or else each one on PATH, in order. With none of
// them the list is empty and the pinned wheel is the way.
func FindWasmtime(ctx context.Context, explicit string) ([]Candidate, error) {
	if explicit != "" {
		p, err := filepath.Abs(explicit)
		if err != nil {
			return nil, fmt.Errorf("finding wasmtime: %w", err)
		}
		c := Candidate{Path: p, Origin: "--wasmtime"}
		if c.Version, c.Err = programVersion(ctx, p); c.Err != nil {
			return nil, fmt.Errorf("finding wasmtime: %w; --wasmtime takes the program itself", c.Err)
		}
		return []Candidate{c}, nil
	}
	name := "wasmtime"
	if runtime.GOOS == "windows" {
		name = "wasmtime.exe"
	}
	var all []Candidate
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		// A relative entry would make the program depend on where we were started.
		if !filepath.IsAbs(dir) {
			continue
		}
		p := filepath.Join(dir, name)
		if st, err := os.Stat(p); err != nil || !st.Mode().IsRegular() || runtime.GOOS != "windows" && st.Mode().Perm()&0o111 == 0 {
			continue
		}
		c := Candidate{Path: p, Origin: "PATH"}
		c.Version, c.Err = programVersion(ctx, p)
		all = append(all, c)
	}
	return all, context.Cause(ctx)
}

// A Program is a wasmtime in the store.
type Program struct {
	Digest  Digest
	Path    string
	Version string // by the word of the copy itself
}

// Adopt copies a program into the store, so that an upgrade of the original changes nothing under a
// running server, and asks the copy for its version. A wrapper script is refused: its copy would
// still run something else.
func (s *Store) Adopt(ctx context.Context, name string) (Program, error) {
	f, err := os.Open(name)
	if err != nil {
		return Program{}, fmt.Errorf("copying wasmtime: %w", err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() {
		return Program{}, errors.Join(fmt.Errorf("copying wasmtime: %s is no regular file", name), err)
	}
	var head [2]byte
	if n, _ := f.ReadAt(head[:], 0); n == 2 && string(head[:]) == "#!" {
		return Program{}, fmt.Errorf("copying wasmtime: %s is a script; name the program that it starts with --wasmtime PATH", name)
	}
	d, err := s.Put(contextReader{ctx, f}, "", maxMember, true)
	if err != nil {
		return Program{}, fmt.Errorf("copying wasmtime: %w", err)
	}
	return s.Program(ctx, d)
}

// Program asks a program in the store for its version, after checking it.
func (s *Store) Program(ctx context.Context, d Digest) (Program, error) {
	f, err := s.OpenVerified(d)
	if err != nil {
		return Program{}, err
	}
	f.Close()
	p, err := s.Path(d)
	if err != nil {
		return Program{}, err
	}
	v, err := programVersion(ctx, p)
	if err != nil {
		return Program{}, fmt.Errorf("starting wasmtime from the cache: %w", err)
	}
	return Program{Digest: d, Path: p, Version: v}, nil
}

var versionLine = regexp.MustCompile(`^wasmtime(?:-cli)? ([0-9]{1,6}\.[0-9]{1,6}\.[0-9]{1,6}(?:[-+][0-9A-Za-z.+-]{1,40})?)(?: \([^()]{0,80}\))?\s*$`)

// programVersion starts the program with an empty environment and a time limit: it was found by
// name, so it may be anything.
func programVersion(ctx context.Context, p string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for try := 0; ; try++ {
		out := &head{max: 4 << 10}
		cmd := exec.CommandContext(ctx, p, "--version")
		cmd.Env = []string{}
		if runtime.GOOS == "windows" { // no program starts without it there
			cmd.Env = []string{"SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}
		}
		cmd.Dir = filepath.Dir(p)
		cmd.Stdout = out
		cmd.WaitDelay = time.Second
		ownGroup(cmd)
		err := cmd.Run()
		// A copy that was just written can be busy while another goroutine forks (golang.org/issue/22315).
		if errors.Is(err, syscall.ETXTBSY) && try < 20 {
			time.Sleep(20 * time.Millisecond)
			continue
		}
		if err != nil {
			return "", fmt.Errorf("%s --version: %w", p, errors.Join(err, context.Cause(ctx)))
		}
		m := versionLine.FindSubmatch(out.Bytes())
		if m == nil {
			return "", fmt.Errorf("%s --version does not answer as wasmtime does: %.80q", p, out.String())
		}
		return string(m[1]), nil
	}
}

// head keeps the start of what was written and drops the rest.
type head struct {
	buf bytes.Buffer
	max int
}

func (h *head) Write(p []byte) (int, error) {
	if room := h.max - h.buf.Len(); room > 0 {
		h.buf.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (h *head) Bytes() []byte  { return h.buf.Bytes() }
func (h *head) String() string { return h.buf.String() }
