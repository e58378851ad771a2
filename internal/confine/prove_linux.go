package confine

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// An act is something that a fence must stop. It is done by the real program in the real belt,
// before its first instruction: what is reported was seen, not asked for.
type act struct {
	fence  string
	name   string
	call   int
	args   []uintptr
	path   int    // index of the argument that is a path; -1 for none
	text   string // the path
	denied []unix.Errno
}

// prove makes the stopped program try what it must not do. It returns what went wrong, by fence.
func (h *host) prove(p *puppet, scratch string, quota int64) map[string]error {
	at := unix.AT_FDCWD // as a variable: a negative constant is no uintptr
	// An act must do no harm where its fence is open: those that start something have arguments
	// that the kernel refuses in another way than the filter does.
	acts := []act{
		{fence: fenceLandlock, name: "reading the root folder", call: unix.SYS_OPENAT,
			args: []uintptr{uintptr(at), 0, unix.O_RDONLY | unix.O_DIRECTORY, 0}, path: 1, text: "/", denied: []unix.Errno{unix.EACCES}},
		{fence: fenceLandlock, name: "writing to the root folder", call: unix.SYS_OPENAT,
			args: []uintptr{uintptr(at), 0, unix.O_RDWR | unix.O_TMPFILE, 0o600}, path: 1, text: "/", denied: []unix.Errno{unix.EACCES, unix.EROFS}},
		{fence: fenceSeccomp, name: "opening a socket", call: unix.SYS_SOCKET,
			args: []uintptr{unix.AF_INET, unix.SOCK_STREAM, 0}, path: -1, denied: []unix.Errno{unix.EPERM}},
		{fence: fenceSeccomp, name: "tracing nobody", call: unix.SYS_PTRACE,
			args: []uintptr{unix.PTRACE_PEEKDATA, 0, 0, 0}, path: -1, denied: []unix.Errno{unix.EPERM}},
		{fence: fenceSeal, name: "forking with wrong flags", call: unix.SYS_CLONE,
			args: []uintptr{unix.CLONE_SIGHAND, 0, 0, 0, 0}, path: -1, denied: []unix.Errno{unix.EPERM}},
		{fence: fenceSeal, name: "executing nothing", call: unix.SYS_EXECVE,
			args: []uintptr{0, 0, 0}, path: -1, denied: []unix.Errno{unix.EPERM}},
		{fence: fenceIdentity, name: "becoming root", call: unix.SYS_SETRESUID,
			args: []uintptr{0, 0, 0}, path: -1, denied: []unix.Errno{unix.EPERM}},
	}
	if h.viewed {
		acts = append(acts, act{fence: fenceView, name: "finding the host's folders", call: unix.SYS_FACCESSAT,
			args: []uintptr{uintptr(at), 0, 0}, path: 1, text: "/proc", denied: []unix.Errno{unix.ENOENT}})
	}
	failed := make(map[string]error)
	for _, a := range acts {
		if a.fence == fenceLandlock && h.abi == 0 {
			continue
		}
		if err := a.try(p); err != nil && failed[a.fence] == nil {
			failed[a.fence] = err
		}
	}
	if uid, err := p.call(unix.SYS_GETUID); err != nil || int(uid) != h.id.uid {
		failed[fenceIdentity] = fmt.Errorf("the program runs as user %d", uid)
	}
	if h.viewed && scratch != "" {
		if err := proveQuota(p, scratch, quota); err != nil {
			failed[fenceScratch] = err
		}
	}
	return failed
}

func (a act) try(p *puppet) error {
	args := append([]uintptr{}, a.args...)
	if a.path >= 0 {
		place, err := p.put(append([]byte(a.text), 0))
		if err != nil {
			return err
		}
		args[a.path] = place
	}
	_, err := p.call(a.call, args...)
	for _, errno := range a.denied {
		if errors.Is(err, errno) {
			return nil
		}
	}
	if err == nil {
		return fmt.Errorf("%s was not refused", a.name)
	}
	return fmt.Errorf("%s failed in another way: %w", a.name, err)
}

// proveQuota asks for more than a scratch folder may hold.
func proveQuota(p *puppet, scratch string, quota int64) error {
	place, err := p.put(append([]byte(scratch+"/probe"), 0))
	if err != nil {
		return err
	}
	at := unix.AT_FDCWD
	fd, err := p.call(unix.SYS_OPENAT, uintptr(at), place, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("writing to scratch: %w", err)
	}
	_, err = p.call(unix.SYS_FALLOCATE, fd, 0, 0, uintptr(quota)+1<<16)
	// tmpfs refuses such a request before it takes a page. A tighter limit of file size is as good.
	switch {
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EFBIG):
		return nil
	case err == nil:
		return errors.New("more than the quota was given")
	}
	return fmt.Errorf("asking for more than the quota: %w", err)
}
