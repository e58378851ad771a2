//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// resources take as much as they get, and say how much that was.
var resources = map[string]attack{
	"fill": func(a []string) error {
		f, err := os.Create(filepath.Join(a[0], "fill"))
		if err != nil {
			return err
		}
		block := make([]byte, 64<<10)
		total := 0
		for {
			n, err := f.Write(block)
			total += n
			if err != nil {
				fmt.Println("wrote", total)
				again := os.Remove(f.Name())
				f.Close()
				if again == nil {
					again = os.WriteFile(filepath.Join(a[0], "again"), []byte("ok"), 0o600)
				}
				fmt.Println("recovered", again == nil)
				return try(err)
			}
		}
	},
	"fill and wait": func(a []string) error {
		f, err := os.Create(filepath.Join(a[0], "fill"))
		if err != nil {
			return err
		}
		if len(a) > 2 {
			if err := os.Remove(f.Name()); err != nil { // taken space without a name
				return err
			}
		}
		if _, err := f.Write(make([]byte, number(a[1]))); err != nil {
			return try(err)
		}
		time.Sleep(time.Minute)
		return f.Close()
	},
	"sparse": func(a []string) error {
		f, err := os.Create(filepath.Join(a[0], "sparse"))
		if err != nil {
			return err
		}
		return try(f.Truncate(1 << 40))
	},
	"many files": func(a []string) error {
		for i := range 100_000 {
			f, err := os.Create(filepath.Join(a[0], fmt.Sprint("f", i)))
			if err != nil {
				fmt.Println("made", i)
				return try(err)
			}
			f.Close()
		}
		time.Sleep(time.Minute)
		return nil
	},
	"deep": func(a []string) error {
		if err := os.Chdir(a[0]); err != nil {
			return err
		}
		for i := range number(a[1]) {
			if err := unix.Mkdir("d", 0o700); err != nil {
				fmt.Println("depth", i)
				return try(err)
			}
			if err := unix.Chdir("d"); err != nil {
				return err
			}
		}
		if err := os.WriteFile("bottom", nil, 0o600); err != nil {
			return err
		}
		if len(a) > 2 {
			time.Sleep(time.Minute)
		}
		return nil
	},
	// What a remover may stumble over.
	"odd names": func(a []string) error {
		for _, name := range []string{"\xff\xfe", "new\nline", "-rf", "a b", ".gone-1", strings.Repeat("x", 255)} {
			if err := os.MkdirAll(filepath.Join(a[0], name, "below"), 0o700); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(a[0], name, "below", name), nil, 0o400); err != nil {
				return err
			}
		}
		if err := unix.Mkdir(filepath.Join(a[0], "locked"), 0); err != nil {
			return err
		}
		if err := unix.Mkdir(filepath.Join(a[0], "a b", "locked"), 0); err != nil {
			return err
		}
		for name, target := range map[string]string{"up": "../../..", "etc": "/etc", "loop": "loop", "named": a[1]} {
			if err := os.Symlink(target, filepath.Join(a[0], name)); err != nil {
				return err
			}
		}
		return nil
	},
	"descriptors": func([]string) error {
		for i := 0; ; i++ {
			if _, err := unix.Dup(0); err != nil {
				fmt.Println("dups", i)
				return try(err)
			}
		}
	},
	"open descriptors": func([]string) error {
		var open []int
		for fd := range 4096 {
			if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil {
				var stat unix.Stat_t
				if err := unix.Fstat(fd, &stat); err != nil {
					return err
				}
				open = append(open, fd)
			}
		}
		fmt.Println("open", open)
		return nil
	},
	"environment": func([]string) error {
		fmt.Printf("%q\n", os.Environ())
		return nil
	},
	"memory": func([]string) error {
		var kept [][]byte
		for {
			block := make([]byte, 4<<20)
			for i := 0; i < len(block); i += 4096 {
				block[i] = 1
			}
			kept = append(kept, block)
			if len(kept) > 1024 {
				return nil
			}
			time.Sleep(time.Millisecond)
		}
	},
	"spin": func([]string) error {
		for began := time.Now(); time.Since(began) < time.Minute; {
		}
		return nil
	},
	"threads": func([]string) error {
		for range 300 {
			go func() {
				runtime.LockOSThread()
				unix.Nanosleep(&unix.Timespec{Sec: 60}, nil)
			}()
		}
		time.Sleep(time.Minute)
		return errors.New("nobody came")
	},
	"abort": func([]string) error {
		return try(unix.Kill(os.Getpid(), unix.SIGSEGV))
	},
}
