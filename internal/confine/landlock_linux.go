package confine

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Access rights of linux/landlock.h. Each ABI adds to the ones before; a right that the kernel
// does not know must not be asked for, and one that is not handled is not restricted.
const (
	accessExecute    = 1 << 0
	accessWriteFile  = 1 << 1
	accessReadFile   = 1 << 2
	accessReadDir    = 1 << 3
	accessRemoveDir  = 1 << 4
	accessRemoveFile = 1 << 5
	accessMakeDir    = 1 << 7
	accessMakeReg    = 1 << 8
	accessMakeSym    = 1 << 12
	accessRefer      = 1 << 13 // ABI 2: rename and link between folders
	accessTruncate   = 1 << 14 // ABI 3
	accessIoctlDev   = 1 << 15 // ABI 5

	accessABI1  = 1<<13 - 1
	accessNet   = 1<<0 | 1<<1 // ABI 4: bind and connect TCP
	scopeSocket = 1 << 0      // ABI 6: abstract sockets
)

// The scope of signals, also of ABI 6, is left out on purpose: it would stop the death signal. When
// we are killed in the middle of a start, the new process may pass to another confined thread of
// ours that is about to end, and from its domain the signal to this one would be denied. The
// filter lets a process signal nobody but itself, which is as much.

// landlockNeeded is the first ABI that stops truncation of a file which is only readable. An
// older one would leave the runtime's own files at the mercy of the program.
const landlockNeeded = 3

type rulesetAttr struct {
	fs, net, scoped uint64
}

// noLandlock says why the kernel has no Landlock for us.
type noLandlock struct{ why, remedy string }

func (e *noLandlock) Error() string { return e.why }

// landlockABI asks the kernel by system call: securityfs is often not mounted.
func landlockABI() (int, error) {
	abi, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch errno {
	case 0:
		return int(abi), nil
	case unix.ENOSYS:
		return 0, &noLandlock{"this kernel has no Landlock", "run Linux 6.2 or later with CONFIG_SECURITY_LANDLOCK"}
	case unix.EOPNOTSUPP:
		return 0, &noLandlock{"the kernel has Landlock but it is off", "add landlock to the lsm= boot option"}
	case unix.EPERM, unix.EACCES:
		return 0, &noLandlock{"the container's seccomp profile denies landlock_create_ruleset", "allow landlock_* in the profile, or use a container runtime that does"}
	}
	return 0, fmt.Errorf("asking for Landlock: %w", errno)
}

// An allowance is a rule: what may be done below a path.
type allowance struct {
	path   string
	folder bool
	rights uint64
}

// landlock restricts the calling thread to the allowances. All else that the ABI knows is denied.
func landlock(abi int, allowed []allowance) error {
	attr := rulesetAttr{fs: accessABI1}
	size := uintptr(8)
	if abi >= 2 {
		attr.fs |= accessRefer
	}
	if abi >= 3 {
		attr.fs |= accessTruncate
	}
	if abi >= 4 {
		attr.net, size = accessNet, 16
	}
	if abi >= 5 {
		attr.fs |= accessIoctlDev
	}
	if abi >= 6 {
		attr.scoped, size = scopeSocket, 24
	}
	ruleset, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return fmt.Errorf("creating Landlock ruleset: %w", errno)
	}
	defer unix.Close(int(ruleset))
	for _, a := range allowed {
		if err := addRule(int(ruleset), a, attr.fs); err != nil {
			return err
		}
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0, 0); errno != 0 {
		return fmt.Errorf("restricting thread by Landlock: %w", errno)
	}
	return nil
}

func addRule(ruleset int, a allowance, handled uint64) error {
	// The path was resolved before; a link that has come into its place since is an attack.
	fd, err := unix.Open(a.path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("opening %s for Landlock: %w; the program's user must be able to enter the folders above it", a.path, err)
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return fmt.Errorf("looking at %s for Landlock: %w", a.path, err)
	}
	want := uint32(unix.S_IFREG)
	if a.folder {
		want = unix.S_IFDIR
	}
	if stat.Mode&unix.S_IFMT != want {
		return fmt.Errorf("adding Landlock rule: %s changed its type", a.path)
	}
	var rule [12]byte // packed: u64 rights, s32 descriptor
	*(*uint64)(unsafe.Pointer(&rule[0])) = a.rights & handled
	*(*int32)(unsafe.Pointer(&rule[8])) = int32(fd)
	_, _, errno := unix.RawSyscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule[0])), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("adding Landlock rule for %s: %w", a.path, errno)
	}
	return nil
}

// Devices, sockets and pipes cannot be made in scratch, and nothing there can be executed.
const scratchRights = accessWriteFile | accessReadFile | accessReadDir | accessRemoveDir | accessRemoveFile |
	accessMakeDir | accessMakeReg | accessMakeSym | accessRefer | accessTruncate

func (b bind) allowance(path string) allowance {
	a := allowance{path: path, folder: b.folder, rights: accessReadFile}
	if b.folder {
		a.rights |= accessReadDir
	}
	if b.exec {
		a.rights |= accessExecute
	}
	return a
}
