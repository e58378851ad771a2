//go:build linux

package main

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// kernel are calls that reach parts of the kernel in which escapes were found. A wrong argument
// is an answer from behind the fence, so EINVAL, EFAULT and EBADF count as success.
var kernel = map[string]attack{
	"mount": func([]string) error { return reached(unix.SYS_MOUNT, 0, 0, 0, 0, 0) },
	"unshare": func([]string) error {
		runtime.LockOSThread()
		return try(unix.Unshare(unix.CLONE_NEWNS))
	},
	"user namespace": func([]string) error {
		pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD)|unix.CLONE_NEWUSER, 0, 0, 0, 0, 0)
		if errno != 0 {
			return denied{errno}
		}
		if pid == 0 {
			unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
		return nil
	},
	"clone3":            func([]string) error { return reached(unix.SYS_CLONE3, 0, 0) },
	"setns":             func([]string) error { return reached(unix.SYS_SETNS, ^uintptr(0), 0) },
	"bpf":               func([]string) error { return reached(unix.SYS_BPF, 0, 0, 0) },
	"add_key":           func([]string) error { return reached(unix.SYS_ADD_KEY, 0, 0, 0, 0, 0) },
	"keyctl":            func([]string) error { return reached(unix.SYS_KEYCTL, 0, ^uintptr(2), 0) },
	"io_uring_setup":    func([]string) error { return reached(unix.SYS_IO_URING_SETUP, 1, 0) },
	"perf_event_open":   func([]string) error { return reached(unix.SYS_PERF_EVENT_OPEN, 0, 0, ^uintptr(0), ^uintptr(0), 0) },
	"userfaultfd":       func([]string) error { return reached(unix.SYS_USERFAULTFD, 1) },
	"memfd_create":      func([]string) error { return reached(unix.SYS_MEMFD_CREATE, 0, 0) },
	"open_by_handle_at": func([]string) error { return reached(unix.SYS_OPEN_BY_HANDLE_AT, ^uintptr(0), 0, 0) },
	"personality":       func([]string) error { return reached(unix.SYS_PERSONALITY, 0xffffffff) },
	"shmget":            func([]string) error { return reached(unix.SYS_SHMGET, 0, 4096, 0o1600) },
	"chroot":            func([]string) error { return try(unix.Chroot("/")) },
	"setuid":            func([]string) error { return try(unix.Setresuid(0, 0, 0)) },
	"setgroups":         func([]string) error { return try(unix.Setgroups([]int{0})) },
	"raise a limit": func([]string) error {
		return try(unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 100, Max: 100}))
	},
	"landlock": func([]string) error { return reached(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, 1) },
	"terminal": func([]string) error {
		var b byte
		return reached(unix.SYS_IOCTL, 0, unix.TIOCSTI, pointer(&b))
	},
	// Numbers of the x32 table mean other calls.
	"x32": func([]string) error {
		if runtime.GOARCH != "amd64" {
			return denied{unix.ENOSYS}
		}
		return call(0x40000000 + unix.SYS_GETPID)
	},
	"unknown call": func([]string) error { return reached(100000) },
	"capabilities": func([]string) error {
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var data [2]unix.CapUserData
		if err := unix.Capget(&header, &data[0]); err != nil {
			return err
		}
		if data == [2]unix.CapUserData{} {
			return denied{unix.EPERM}
		}
		return nil
	},
	"root of the host": func([]string) error {
		if os.Getuid() != 0 {
			return denied{unix.EPERM}
		}
		return nil
	},
}

func reached(number uintptr, args ...uintptr) error {
	err := call(number, args...)
	if d, ok := err.(denied); ok {
		switch d.err {
		case unix.EINVAL, unix.EFAULT, unix.EBADF:
			return nil
		case unix.ENOTTY:
			if number == unix.SYS_IOCTL {
				return err
			}
		}
	}
	return err
}
