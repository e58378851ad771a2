package confine

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_X86_64

// allowedCallsHere are the older names of allowed calls, and what only this architecture has.
var allowedCallsHere = []int{
	unix.SYS_OPEN, unix.SYS_STAT, unix.SYS_LSTAT, unix.SYS_NEWFSTATAT, unix.SYS_ACCESS, unix.SYS_READLINK,
	unix.SYS_MKDIR, unix.SYS_RMDIR, unix.SYS_UNLINK, unix.SYS_RENAME, unix.SYS_RENAMEAT, unix.SYS_LINK, unix.SYS_SYMLINK,
	unix.SYS_POLL, unix.SYS_SELECT, unix.SYS_EPOLL_CREATE, unix.SYS_EPOLL_WAIT, unix.SYS_EVENTFD, unix.SYS_PIPE, unix.SYS_DUP2,
	unix.SYS_TIME, unix.SYS_GETRLIMIT, unix.SYS_GETPGRP, unix.SYS_ARCH_PRCTL, unix.SYS_PAUSE, unix.SYS_ALARM,
}

var refusedCallsHere = []int{
	unix.SYS_FORK, unix.SYS_VFORK, unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT,
	unix.SYS_MKNOD, unix.SYS_INOTIFY_INIT, unix.SYS_MODIFY_LDT, unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_USELIB,
}

// utimeCalls change the times of a file, which no right of Landlock covers.
var utimeCalls = []int{unix.SYS_UTIMENSAT, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT}
