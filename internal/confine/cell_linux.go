package confine

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A cell is the platform's part of a box: a thread that is confined for good, and will start
// one program.
type cell struct {
	thread *thread
	names  map[string]string
	folder *folder // scratch on the host, where there is no view
	id     identity
	group  *cgroup
}

func (c *cell) path(name string) (string, bool) {
	p, ok := c.names[name]
	return p, ok
}

// open confines the thread: view, user, Landlock, in this order, since each takes the rights away
// that the one before needs.
func (c *cell) open(box *Box) error {
	h, scratch := &box.belt.host, box.belt.spec.Scratch
	c.id, c.names = h.id, make(map[string]string, len(h.names)+len(scratch))
	for name, path := range h.names {
		c.names[name] = path
	}
	if !h.viewed {
		if err := c.openFolder(box); err != nil {
			return err
		}
	}
	allowed := make([]allowance, 0, len(h.binds)+len(scratch))
	for _, b := range h.binds {
		allowed = append(allowed, b.allowance(b.target))
	}
	for _, folder := range scratch {
		if h.viewed {
			c.names[folder.Name] = scratchPath(folder.Name)
		}
		allowed = append(allowed, allowance{path: c.names[folder.Name], folder: true, rights: scratchRights})
	}
	var handles []int
	c.thread = newThread()
	err := c.thread.do(func() (err error) {
		if h.viewed {
			if handles, err = h.view.enter(scratch, h.id); err != nil {
				return err
			}
		}
		if err := shed(h.id); err != nil {
			return err
		}
		if h.abi > 0 {
			return landlock(h.abi, allowed)
		}
		return nil
	})
	for i, fd := range handles {
		if err == nil {
			// The thread itself has no /proc any more.
			box.roots[scratch[i].Name], err = os.OpenRoot("/proc/self/fd/" + strconv.Itoa(fd))
		}
		unix.Close(fd)
	}
	return err
}

func (c *cell) openFolder(box *Box) (err error) {
	h := &box.belt.host
	if c.folder, err = newFolder(h.runtime, h.id.change); err != nil {
		return err
	}
	for _, scratch := range box.belt.spec.Scratch {
		path, err := c.folder.add(scratch.Name)
		if err != nil {
			return err
		}
		if h.id.change {
			if err := os.Lchown(path, h.id.uid, h.id.gid); err != nil {
				return fmt.Errorf("giving scratch folder away: %w", err)
			}
		}
		c.names[scratch.Name] = path
		if box.roots[scratch.Name], err = os.OpenRoot(path); err != nil {
			return fmt.Errorf("opening scratch folder: %w", err)
		}
	}
	return nil
}

// own gives a file that we put into scratch to the program's user.
func (c *cell) own(root *os.Root, name string) error {
	if !c.id.change {
		return nil
	}
	if err := root.Lchown(name, c.id.uid, c.id.gid); err != nil {
		return fmt.Errorf("giving file away: %w", err)
	}
	return nil
}

// A sealError means that the program could not be stopped and filtered at its start.
type sealError struct{ err error }

func (e *sealError) Error() string { return "sealing the program: " + e.err.Error() }
func (e *sealError) Unwrap() error { return e.err }

// A forked program stands at its first instruction, or runs already where it could not be sealed.
type forked struct {
	pid    int
	puppet *puppet
}

// fork runs on the confined thread. A program that is returned must be ended by the caller, also
// when there is an error.
func (c *cell) fork(box *Box, cmd Command, files [3]*os.File) (*forked, error) {
	h := &box.belt.host
	dir := "/"
	if cmd.Dir != "" {
		dir = c.names[cmd.Dir]
	}
	program := c.names[programName]
	env := cmd.Env
	if env == nil {
		env = []string{}
	}
	if !h.sealed && len(h.filter) > 0 {
		if err := filterThread(h.filter); err != nil {
			return nil, err
		}
	}
	pid, err := syscall.ForkExec(program, append([]string{program}, cmd.Args...), &syscall.ProcAttr{
		Dir:   dir,
		Env:   env,
		Files: []uintptr{files[0].Fd(), files[1].Fd(), files[2].Fd()},
		Sys: &syscall.SysProcAttr{
			// Its own session: no terminal, and no signal that is meant for our group.
			Setsid:    true,
			Pdeathsig: syscall.SIGKILL,
			Ptrace:    h.sealed,
		},
	})
	if err != nil {
		if h.sealed && errors.Is(err, unix.EPERM) {
			return nil, &sealError{err}
		}
		return nil, fmt.Errorf("executing program: %w", err)
	}
	started := &forked{pid: pid}
	if h.sealed {
		if started.puppet, err = takePuppet(pid); err == nil {
			err = started.puppet.seal(h.filterFor(pid))
		}
		if errors.Is(err, errEndedEarly) {
			return nil, &sealError{err}
		}
		if err != nil {
			return started, &sealError{err}
		}
	}
	return started, setLimits(pid, box.belt.limits)
}

// end kills a program that was started and never handed out, and gives its number up. It does so
// on another thread, since the one that started the program may be filtered.
func end(pid int) {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		unix.Kill(pid, unix.SIGKILL)
		for {
			var status unix.WaitStatus
			_, err := unix.Wait4(pid, &status, unix.WALL, nil)
			if !errors.Is(err, unix.EINTR) && (err != nil || !status.Stopped()) {
				return
			}
		}
	}()
	<-gone
}

func (c *cell) start(box *Box, cmd Command, files [3]*os.File) (*Process, error) {
	h, limits := &box.belt.host, box.belt.limits
	p := &Process{pace: make(chan time.Duration, 1), done: make(chan struct{})}
	p.signal = func() {
		unix.Kill(p.pid, unix.SIGKILL)
		if !h.sealed {
			unix.Kill(-p.pid, unix.SIGKILL)
		}
	}
	started := make(chan error, 1)
	watched := make(chan struct{})
	// One job does it all, and stays for the end: each change of thread costs time on a busy
	// machine. The number is not given up before watched is closed, so it stays the program's.
	c.thread.post(func() {
		stopped, err := c.fork(box, cmd, files)
		if err == nil && stopped.puppet != nil {
			err = stopped.puppet.release()
		}
		if err != nil {
			if stopped != nil {
				end(stopped.pid)
			}
			started <- err
			return
		}
		p.pid = stopped.pid
		started <- nil
		if h.sealed {
			c.await(p, limits, watched)
		} else {
			// The filter of this thread has no wait. The thread stays until Close.
			go c.await(p, limits, watched)
		}
	})
	err := <-started
	var blocked *sealError
	if errors.As(err, &blocked) {
		why, remedy := whyNoTrace(err)
		err = &Unavailable{Missing: []Fence{{Name: fenceSeal, Why: why, Remedy: remedy}}}
	}
	if err != nil {
		return nil, err
	}
	w, err := newWatch(p, box)
	if err == nil {
		c.group, err = h.groups.add(p.pid, limits, h.scratchMemory(box.belt.spec))
	}
	close(watched)
	if err != nil {
		p.kill("")
		<-p.done
		return nil, err
	}
	go w.run()
	return p, nil
}

// await blocks until the program has ended. While it is a zombie its number cannot be
// given to another, so it is only reaped under the lock that signals take.
func (c *cell) await(p *Process, limits Limits, watched <-chan struct{}) {
	for {
		err := unix.Waitid(unix.P_PID, p.pid, nil, unix.WEXITED|unix.WNOWAIT|unix.WALL, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	<-watched
	p.finish(func() Exit {
		var status unix.WaitStatus
		var usage unix.Rusage
		for {
			if _, err := unix.Wait4(p.pid, &status, unix.WALL, &usage); !errors.Is(err, unix.EINTR) {
				break
			}
		}
		exit := Exit{
			Code:   -1,
			CPU:    time.Duration(usage.Utime.Nano() + usage.Stime.Nano()),
			MaxRSS: usage.Maxrss << 10,
		}
		if status.Exited() {
			exit.Code = status.ExitStatus()
			return exit
		}
		exit.Signal = status.Signal()
		switch {
		case exit.Signal == syscall.SIGXCPU, exit.Signal == syscall.SIGKILL && exit.CPU >= limits.CPU && p.killed == "":
			exit.Cause = CauseCPU
		case exit.Signal == syscall.SIGKILL && p.killed == "" && c.group.overflowed():
			exit.Cause = CauseMemory
		}
		return exit
	})
}

func (c *cell) close() error {
	if c.thread != nil {
		c.thread.end()
	}
	return errors.Join(c.group.close(), c.folder.close())
}
