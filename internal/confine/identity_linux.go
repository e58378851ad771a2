package confine

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// nobody is the user that owns nothing by convention.
const nobody = 65534

// An identity is the user that the program runs as.
type identity struct {
	uid, gid int
	change   bool // the thread must become that user
	root     bool // we are root, of the host or of a user namespace
}

// chooseIdentity finds the user of the program. Root of the host becomes nobody, so that the
// program owns no file. In a user namespace with one user there is nobody else to become; the
// view, in which that user owns nothing, takes the place.
func chooseIdentity() identity {
	id := identity{uid: os.Geteuid(), gid: os.Getegid(), root: os.Geteuid() == 0}
	if id.root && mapped("/proc/self/uid_map") && mapped("/proc/self/gid_map") {
		id.uid, id.gid, id.change = nobody, nobody, true
	}
	return id
}

// mapped tells whether the user namespace has the user nobody. An unreadable map counts as the
// host's own: the change is then tried, and its failure is an error.
func mapped(file string) bool {
	data, err := os.ReadFile(file)
	if err != nil {
		return true
	}
	for line := range strings.Lines(string(data)) {
		var inside, outside, count int64
		if _, err := fmt.Sscan(line, &inside, &outside, &count); err == nil && inside <= nobody && nobody < inside+count {
			return true
		}
	}
	return false
}

// shed gives up user and capabilities of the calling thread, by raw system calls: the usual
// functions change every thread of the process. no_new_privs stands before everything that
// follows it, so a set-user-id program or a file capability brings nothing back.
func shed(id identity) error {
	if id.root {
		// These need a capability that a container may have taken; no_new_privs makes them
		// a second fence only, so their failure is accepted.
		for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
			_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		}
		const noRoot, noRootLocked, keepLocked, noAmbient, noAmbientLocked = 1, 2, 1 << 5, 1 << 6, 1 << 7
		_ = unix.Prctl(unix.PR_SET_SECUREBITS, noRoot|noRootLocked|keepLocked|noAmbient|noAmbientLocked, 0, 0, 0)
	}
	if id.change {
		if _, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, 0, 0, 0); errno != 0 {
			return fmt.Errorf("dropping groups: %w", errno)
		}
		gid, uid := uintptr(id.gid), uintptr(id.uid)
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESGID, gid, gid, gid); errno != 0 {
			return fmt.Errorf("changing group: %w", errno)
		}
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, uid, uid, uid); errno != 0 {
			return fmt.Errorf("changing user: %w", errno)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("clearing ambient capabilities: %w", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none, left [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("dropping capabilities: %w", err)
	}
	if err := unix.Capget(&header, &left[0]); err != nil {
		return fmt.Errorf("reading capabilities: %w", err)
	}
	if left != none {
		return errors.New("dropping capabilities: some are left")
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("setting no_new_privs: %w", err)
	}
	return nil
}
