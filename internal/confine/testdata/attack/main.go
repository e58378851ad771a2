//go:build linux

// Command attack stands for an engine that the guest has taken over: native code that tries one
// thing that the belt must stop. It prints what came of it. Exit status 0 means that the attack
// succeeded, 3 that the system refused it.
package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// denied marks a refusal by the system, as opposed to a mistake of this program.
type denied struct{ err error }

func (d denied) Error() string { return d.err.Error() }

// try turns an errno into a refusal.
func try(err error) error {
	if err == nil {
		return nil
	}
	return denied{err}
}

func call(number uintptr, args ...uintptr) error {
	var a [6]uintptr
	copy(a[:], args)
	_, _, errno := unix.RawSyscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
	if errno != 0 {
		return denied{errno}
	}
	return nil
}

type attack func(args []string) error

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: attack NAME [ARGUMENT ...]")
		os.Exit(2)
	}
	name := os.Args[1]
	for _, table := range []map[string]attack{files, processes, kernel, resources} {
		run, ok := table[name]
		if !ok {
			continue
		}
		err := run(os.Args[2:])
		var refused denied
		switch {
		case err == nil:
			fmt.Println(name, "succeeded")
			os.Exit(0)
		case errors.As(err, &refused):
			var errno unix.Errno
			if errors.As(refused.err, &errno) {
				fmt.Println(name, "denied", unix.ErrnoName(errno))
			} else {
				fmt.Println(name, "denied", refused.err)
			}
			os.Exit(3)
		}
		fmt.Fprintln(os.Stderr, name, "broken:", err)
		os.Exit(2)
	}
	fmt.Fprintln(os.Stderr, "no such attack:", name)
	os.Exit(2)
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}
