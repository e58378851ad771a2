package confine

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// EnterUserNamespace gives an ordinary user a private view. Mounting needs a user namespace, and
// a process with several threads cannot enter one, so program, our own executable, is started
// again with our arguments as root of a namespace of its own. The first process then only
// passes signals on, waits, and exits as the second did: the call does not return there.
//
// It returns nil at once for root, and in the second process. An error means that this host
// gives no namespace to users; the caller goes on as it is, and belts are made of what is left.
// It must be called before anything else starts: the descriptors 0, 1 and 2 are shared.
func EnterUserNamespace(program string) error {
	if os.Geteuid() == 0 {
		return nil
	}
	// The death signal of the second process is bound to this thread.
	runtime.LockOSThread()
	attr := &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{
			Cloneflags:  unix.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
			// These two are a trial before the program runs: the mounts are made private, and
			// the root is changed to itself. AppArmor lets anybody make a namespace and then
			// refuses every right in it; that must show here, not later.
			Unshareflags: unix.CLONE_NEWNS,
			Chroot:       "/",
			Pdeathsig:    syscall.SIGKILL,
		},
	}
	if dir, err := os.Getwd(); err == nil {
		attr.Dir = dir // changing the root changed the working folder
	}
	// Nothing must be lost between the start and the first wait.
	incoming := make(chan os.Signal, 16)
	signal.Notify(incoming, forwarded...)
	pid, err := syscall.ForkExec(program, os.Args, attr)
	if err != nil {
		signal.Stop(incoming)
		runtime.UnlockOSThread()
		why, remedy := whyNoNamespace()
		return fmt.Errorf("entering user namespace: %w: %s (%s)", err, why, remedy)
	}
	go func() {
		for s := range incoming {
			if number, ok := s.(syscall.Signal); ok {
				unix.Kill(pid, number)
			}
		}
	}()
	var status unix.WaitStatus
	for {
		if _, err := unix.Wait4(pid, &status, 0, nil); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if status.Signaled() {
		os.Exit(128 + int(status.Signal()))
	}
	os.Exit(status.ExitStatus())
	return nil
}

// forwarded are the signals that mean the program and not one process of it.
var forwarded = []os.Signal{
	syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH,
}
