//go:build linux

package main

import (
	"fmt"
	"os"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// processes are attacks on other processes. The arguments are the number of the victim, and
// where one is needed a thread or the name of a socket.
var processes = map[string]attack{
	"kill":   func(a []string) error { return try(unix.Kill(number(a[0]), 0)) },
	"tgkill": func(a []string) error { return try(unix.Tgkill(number(a[0]), number(a[1]), 0)) },
	"tkill":  func(a []string) error { return call(unix.SYS_TKILL, uintptr(number(a[1])), 0) },
	"environ": func(a []string) error {
		_, err := os.ReadFile("/proc/" + a[0] + "/environ")
		return try(err)
	},
	"memory file": func(a []string) error {
		f, err := os.Open("/proc/" + a[0] + "/mem")
		if err != nil {
			return try(err)
		}
		return f.Close()
	},
	"descriptor of another": func(a []string) error {
		f, err := os.OpenFile("/proc/"+a[0]+"/fd/1", os.O_WRONLY, 0)
		if err != nil {
			return try(err)
		}
		return f.Close()
	},
	// An address that is not mapped fails with EFAULT once the right to look has been granted.
	"process_vm_readv": func(a []string) error {
		var b [8]byte
		local := unix.Iovec{Base: &b[0]}
		local.SetLen(len(b))
		_, err := unix.ProcessVMReadv(number(a[0]), []unix.Iovec{local}, []unix.RemoteIovec{{Base: 1, Len: 8}}, 0)
		if err == unix.EFAULT {
			return nil
		}
		return try(err)
	},
	"pidfd_open": func(a []string) error {
		_, err := unix.PidfdOpen(number(a[0]), 0)
		return try(err)
	},
	"ptrace": func(a []string) error {
		runtime.LockOSThread()
		if err := unix.PtraceSeize(number(a[0])); err != nil {
			return try(err)
		}
		return nil
	},
	"connect abstract": func(a []string) error { return connect(&unix.SockaddrUnix{Name: "@" + a[1]}) },
	"connect path":     func(a []string) error { return connect(&unix.SockaddrUnix{Name: a[1]}) },
	"datagram pair": func(a []string) error {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
		if err != nil {
			return try(err)
		}
		return try(unix.Sendto(pair[0], []byte("x"), 0, &unix.SockaddrUnix{Name: "@" + a[1]}))
	},
	"stream pair then send": func(a []string) error {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		return try(unix.Sendmsg(pair[0], []byte("x"), nil, nil, 0))
	},
	"parent death": func([]string) error { return try(unix.Prctl(unix.PR_SET_PDEATHSIG, 0, 0, 0, 0)) },
	// Whoever runs this test waits for the end of its group, so the child must end soon.
	"fork": func([]string) error {
		pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		if errno != 0 {
			return denied{errno}
		}
		if pid == 0 {
			unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
		return nil
	},
	"start a program": func([]string) error {
		p, err := os.StartProcess("/bin/sh", []string{"sh", "-c", "exit 0"}, &os.ProcAttr{})
		if err != nil {
			return try(err)
		}
		_, err = p.Wait()
		return err
	},
	"exec":       func([]string) error { return try(unix.Exec("/bin/sh", []string{"sh", "-c", "exit 0"}, nil)) },
	"exec again": func(a []string) error { return try(unix.Exec(a[0], []string{a[0], "nothing"}, nil)) },
	"execveat memory": func([]string) error {
		fd, err := unix.MemfdCreate("x", 0)
		if err != nil {
			return try(err)
		}
		if _, err := unix.Write(fd, []byte("#!/bin/true\n")); err != nil {
			return err
		}
		argv := []uintptr{pointer(new([2]byte)), 0}
		return call(unix.SYS_EXECVEAT, uintptr(fd), pointer(new([2]byte)), pointer(&argv[0]), 0, unix.AT_EMPTY_PATH)
	},
	"inet": func([]string) error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
		if err != nil {
			return try(err)
		}
		return unix.Close(fd)
	},
	"netlink": func([]string) error {
		fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, 0)
		if err != nil {
			return try(err)
		}
		return unix.Close(fd)
	},
	// What a belt must leave alone: a runtime wakes its threads so.
	"signal itself": func([]string) error { return try(unix.Kill(os.Getpid(), 0)) },
	"sleep": func(a []string) error {
		fmt.Println("asleep")
		time.Sleep(time.Duration(number(a[0])) * time.Millisecond)
		return nil
	},
}

func connect(to unix.Sockaddr) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return try(err)
	}
	return try(unix.Connect(fd, to))
}

func pointer[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }
