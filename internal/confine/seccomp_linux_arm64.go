package confine

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_AARCH64

var allowedCallsHere = []int{unix.SYS_FSTATAT, unix.SYS_RENAMEAT, unix.SYS_GETRLIMIT}

var refusedCallsHere = []int{unix.SYS_KEXEC_FILE_LOAD}

// utimeCalls change the times of a file, which no right of Landlock covers.
var utimeCalls = []int{unix.SYS_UTIMENSAT}
