//go:build !linux

package confine

import (
	"os"
	"os/exec"
	"time"
)

func (c *cell) start(box *Box, cmd Command, files [3]*os.File) (*Process, error) {
	env := cmd.Env
	if env == nil {
		env = []string{} // nil would mean ours
	}
	dir := c.folder.path
	if cmd.Dir != "" {
		dir = c.names[cmd.Dir]
	}
	command := &exec.Cmd{
		Path: c.names[programName], Args: append([]string{c.names[programName]}, cmd.Args...),
		Env: env, Dir: dir, Stdin: files[0], Stdout: files[1], Stderr: files[2],
	}
	tree, err := startTree(command)
	if err != nil {
		return nil, err
	}
	p := &Process{pace: make(chan time.Duration, 1), pid: command.Process.Pid, done: make(chan struct{}), signal: tree.kill}
	go func() {
		// The process is waited for under no lock: os.Process keeps a handle, so a late kill
		// cannot hit another one.
		command.Wait()
		p.finish(func() Exit {
			tree.close()
			return exitOf(command.ProcessState)
		})
	}()
	go watchScratch(p, c.folder, box.belt)
	return p, nil
}

// watchScratch ends a process whose scratch outgrows its limits.
func watchScratch(p *Process, f *folder, belt *Belt) {
	pause := 50 * time.Millisecond
	for {
		select {
		case <-p.done:
			return
		case <-time.After(pause):
		}
		began := time.Now()
		for _, scratch := range belt.spec.Scratch {
			use, err := f.measure(scratch.Name)
			if err == nil && (use.tooDeep || use.bytes > scratch.Bytes || use.files > scratch.Files) {
				p.kill(CauseDisk)
			}
		}
		pause = max(50*time.Millisecond, 5*time.Since(began))
	}
}
