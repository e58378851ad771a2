package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// A oneshot starts one process for each call, with the script on standard input.
type oneshot struct {
	name     string
	program  string
	args     []string
	env      []string // all of it
	work     string   // the calls' working folders are made here
	packages bool     // whether scripts that need packages can run

	mu    sync.Mutex
	spent time.Duration
	alive map[int]bool
}

func (p *oneshot) Name() string      { return p.name }
func (p *oneshot) Can(s script) bool { return p.packages || !s.packages }
func (p *oneshot) Close() error      { return nil }

func (p *oneshot) Call(ctx context.Context, s script) (string, error) {
	dir := p.work
	if s.writes != "" {
		// Only where it is needed: the others pay nothing for a folder.
		var err error
		if dir, err = os.MkdirTemp(p.work, "call-"); err != nil {
			return "", err
		}
		defer os.RemoveAll(dir)
	}
	cmd := exec.CommandContext(ctx, p.program, p.args...)
	cmd.Env, cmd.Dir = p.env, dir
	cmd.Stdin = strings.NewReader(s.code)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		return "", err
	}
	p.note(cmd.Process.Pid, true)
	err := cmd.Wait()
	p.note(cmd.Process.Pid, false)
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, tail(stderr.String()))
	}
	p.mu.Lock()
	p.spent += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	p.mu.Unlock()
	if s.writes != "" {
		if _, err := os.Stat(filepath.Join(dir, s.writes)); err != nil {
			return "", err
		}
	}
	return stdout.String(), nil
}

func (p *oneshot) note(pid int, alive bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.alive == nil {
		p.alive = map[int]bool{}
	}
	if alive {
		p.alive[pid] = true
	} else {
		delete(p.alive, pid)
	}
}

func (p *oneshot) Spent() (time.Duration, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.spent, true
}

func (p *oneshot) Processes() []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	var pids []int
	for pid := range p.alive {
		pids = append(pids, pid)
	}
	return pids
}

// tail is the end of what a program complained.
func tail(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > 600 {
		s = "…" + s[len(s)-600:]
	}
	return s
}
