//go:build linux

package main

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// files are attacks on a file that may only be read; the second argument is a writable folder.
var files = map[string]attack{
	"read":  func(a []string) error { _, err := os.ReadFile(a[0]); return try(err) },
	"list":  func(a []string) error { _, err := os.ReadDir(a[0]); return try(err) },
	"stat":  func(a []string) error { _, err := os.Stat(a[0]); return try(err) },
	"chdir": func(a []string) error { return try(os.Chdir(filepath.Dir(a[0]))) },
	"write": func(a []string) error {
		f, err := os.OpenFile(a[0], os.O_WRONLY, 0)
		if err != nil {
			return try(err)
		}
		_, err = f.Write([]byte("owned"))
		return try(err)
	},
	"truncate open": func(a []string) error {
		fd, err := unix.Open(a[0], unix.O_RDONLY|unix.O_TRUNC, 0)
		if err != nil {
			return try(err)
		}
		return try(unix.Close(fd))
	},
	"truncate": func(a []string) error { return try(unix.Truncate(a[0], 0)) },
	"utime": func(a []string) error {
		return try(unix.UtimesNanoAt(unix.AT_FDCWD, a[0], []unix.Timespec{{Sec: 1}, {Sec: 1}}, 0))
	},
	"futime": func(a []string) error {
		fd, err := unix.Open(a[0], unix.O_RDONLY, 0)
		if err != nil {
			return err
		}
		times := [2]unix.Timespec{{Sec: 1}, {Sec: 1}}
		return call(unix.SYS_UTIMENSAT, uintptr(fd), 0, pointer(&times), 0)
	},
	"chmod": func(a []string) error { return try(unix.Fchmodat(unix.AT_FDCWD, a[0], 0o777, 0)) },
	"fchmod": func(a []string) error {
		fd, err := unix.Open(a[0], unix.O_RDONLY, 0)
		if err != nil {
			return err
		}
		return try(unix.Fchmod(fd, 0o777))
	},
	"chown":    func(a []string) error { return try(unix.Lchown(a[0], os.Getuid(), os.Getgid())) },
	"setxattr": func(a []string) error { return try(unix.Setxattr(a[0], "user.x", []byte("1"), 0)) },
	"flock": func(a []string) error {
		fd, err := unix.Open(a[0], unix.O_RDONLY, 0)
		if err != nil {
			return err
		}
		return try(unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB))
	},
	"read lock": func(a []string) error {
		fd, err := unix.Open(a[0], unix.O_RDONLY, 0)
		if err != nil {
			return err
		}
		return try(unix.FcntlFlock(uintptr(fd), unix.F_SETLK, &unix.Flock_t{Type: unix.F_RDLCK}))
	},
	"link":   func(a []string) error { return try(os.Link(a[0], filepath.Join(a[1], "link"))) },
	"rename": func(a []string) error { return try(os.Rename(a[0], a[0]+".moved")) },
	"unlink": func(a []string) error { return try(os.Remove(a[0])) },
	"create": func(a []string) error {
		f, err := os.Create(filepath.Join(filepath.Dir(a[0]), "created"))
		if err != nil {
			return try(err)
		}
		return f.Close()
	},
	// A link that the guest makes is no way out either.
	"read by link": func(a []string) error {
		link := filepath.Join(a[1], "out")
		if err := os.Symlink(a[0], link); err != nil {
			return err
		}
		_, err := os.ReadFile(link)
		return try(err)
	},
	"run from scratch": func(a []string) error {
		path := filepath.Join(a[1], "tool")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
			return err
		}
		return try(unix.Exec(path, []string{path}, nil))
	},
	"fifo": func(a []string) error { return try(unix.Mkfifo(filepath.Join(a[1], "fifo"), 0o600)) },
}
