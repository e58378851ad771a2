package confine

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The filter is a list of what is allowed. A list of what is denied would have to know every
// system call of every later kernel; here a new one simply does not exist (ENOSYS), which C
// libraries and runtimes answer by the older way. What is known and not allowed gives EPERM.

// A verdict is what the filter does with one system call.
type verdict struct {
	action uint32 // SECCOMP_RET_*
	only   *guard // when set, the action stands only if the arguments pass
}

// A guard looks at arguments. All its parts must pass, otherwise the call fails with errno.
type guard struct {
	checks []check
	errno  unix.Errno
}

// A check passes when the masked low half of an argument is one of the values. The high half is
// checked too where the kernel reads it.
type check struct {
	arg    int
	mask   uint32
	values []uint32
	wide   bool // the high half must be zero
}

const (
	retAllow = unix.SECCOMP_RET_ALLOW
	retKill  = unix.SECCOMP_RET_KILL_PROCESS
	full     = ^uint32(0)
)

func refuse(errno unix.Errno) verdict { return verdict{action: unix.SECCOMP_RET_ERRNO | uint32(errno)} }

func onlyIf(errno unix.Errno, checks ...check) verdict {
	return verdict{action: retAllow, only: &guard{checks: checks, errno: errno}}
}

// From asm-generic/ioctls.h, the same on all our architectures.
const fionread, fionbio, fioclex, fionclex = 0x541b, 0x5421, 0x5451, 0x5450

// A filterPlan says for which situation a filter is built.
type filterPlan struct {
	pid     int  // of the process, which may signal itself (abort); 0 when it is not known
	utime   bool // times of files may be set: every file that must not change is on a read-only mount
	starter bool // the filter is put on the thread that starts the program, so fork and exec must pass
}

// rules is the whole policy, by system call number.
func rules(plan filterPlan) map[int]verdict {
	table := make(map[int]verdict)
	for _, nr := range slices.Concat(allowedCalls, allowedCallsHere) {
		table[nr] = verdict{action: retAllow}
	}
	for _, nr := range slices.Concat(refusedCalls, refusedCallsHere) {
		table[nr] = refuse(unix.EPERM)
	}
	// clone3 takes its flags from memory, where a filter cannot look.
	table[unix.SYS_CLONE3] = refuse(unix.ENOSYS)
	// Memory that can be executed as a file. Runtimes that only want a copy-on-write image of
	// memory take another way when the call does not exist, and give up when it is refused.
	table[unix.SYS_MEMFD_CREATE] = refuse(unix.ENOSYS)
	// Threads only, and none in a namespace of its own.
	const thread = unix.CLONE_THREAD | unix.CLONE_VM | unix.CLONE_SIGHAND
	const unwanted = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER |
		unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_VFORK | unix.CLONE_PARENT | unix.CLONE_PTRACE
	kinds := []uint32{thread}
	if plan.starter {
		// What the fork of our own runtime looks like. It cannot be told from one of the program.
		kinds = append(kinds, unix.CLONE_VM|unix.CLONE_VFORK)
		for _, nr := range []int{unix.SYS_EXECVE, unix.SYS_SETSID, unix.SYS_PRLIMIT64} {
			table[nr] = verdict{action: retAllow}
		}
	}
	table[unix.SYS_CLONE] = onlyIf(unix.EPERM, check{arg: 0, mask: thread | unwanted, values: kinds})
	// Event loops wake themselves through a pair of stream sockets. A datagram pair could be
	// aimed at any other socket afterwards, and so could a call that names an address.
	table[unix.SYS_SOCKETPAIR] = onlyIf(unix.EPERM,
		check{arg: 0, mask: full, values: []uint32{unix.AF_UNIX}},
		check{arg: 1, mask: ^uint32(unix.SOCK_NONBLOCK | unix.SOCK_CLOEXEC), values: []uint32{unix.SOCK_STREAM}})
	table[unix.SYS_SENDTO] = onlyIf(unix.EPERM, check{arg: 4, mask: full, values: []uint32{0}, wide: true})
	// No device is open, but a terminal may be: nothing that puts characters into it.
	table[unix.SYS_IOCTL] = onlyIf(unix.ENOTTY, check{arg: 1, mask: full,
		values: []uint32{unix.TCGETS, unix.TIOCGWINSZ, fionread, fionbio, fioclex, fionclex}})
	// No locks and leases: one that is held on a shared read-only file could stop other processes.
	table[unix.SYS_FCNTL] = onlyIf(unix.EPERM, check{arg: 1, mask: full,
		values: []uint32{unix.F_DUPFD, unix.F_DUPFD_CLOEXEC, unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, unix.F_SETFL, unix.F_GETPIPE_SZ}})
	// Names of threads and of memory areas. The death signal must stay armed.
	allowedPrctl := []uint32{unix.PR_SET_NAME, unix.PR_GET_NAME, unix.PR_SET_VMA, unix.PR_GET_DUMPABLE, unix.PR_GET_NO_NEW_PRIVS}
	if plan.starter {
		allowedPrctl = append(allowedPrctl, unix.PR_SET_PDEATHSIG)
	}
	table[unix.SYS_PRCTL] = onlyIf(unix.EPERM, check{arg: 0, mask: full, values: allowedPrctl})
	// Own limits may be read.
	if !plan.starter {
		table[unix.SYS_PRLIMIT64] = onlyIf(unix.EPERM,
			check{arg: 0, mask: full, values: []uint32{0}},
			check{arg: 2, mask: full, values: []uint32{0}, wide: true})
	}
	if plan.pid != 0 {
		self := check{arg: 0, mask: full, values: []uint32{uint32(plan.pid)}}
		table[unix.SYS_KILL] = onlyIf(unix.EPERM, self)
		table[unix.SYS_TGKILL] = onlyIf(unix.EPERM, self)
	}
	if plan.utime {
		for _, nr := range utimeCalls {
			table[nr] = verdict{action: retAllow}
		}
	}
	return table
}

// offsets in struct seccomp_data
const (
	offsetNumber = 0
	offsetArch   = 4
	offsetArgs   = 16
)

// buildFilter compiles the policy into a search tree over the call numbers: the kernel walks it
// for every number when the filter is installed, so a linear list would cost more than the rest
// of a start.
func buildFilter(plan filterPlan) ([]unix.SockFilter, error) {
	if auditArch == 0 {
		return nil, errors.New("this processor architecture has no filter")
	}
	table := rules(plan)
	unlisted, unknown := refuse(unix.EPERM), refuse(unix.ENOSYS)
	type segment struct {
		first int
		code  []unix.SockFilter
	}
	var segments []segment
	last := 0
	for nr := range table {
		last = max(last, nr)
	}
	previous := verdict{action: full}
	for nr := 0; nr <= last+1; nr++ {
		v, ok := table[nr]
		if !ok {
			v = unlisted
		}
		if nr > last {
			v = unknown
		}
		if v.only == nil && previous.only == nil && v.action == previous.action {
			continue
		}
		segments = append(segments, segment{first: nr, code: v.compile()})
		previous = v
	}
	tooFar := false
	var tree func(part []segment) []unix.SockFilter
	tree = func(part []segment) []unix.SockFilter {
		if len(part) == 1 {
			return part[0].code
		}
		middle := len(part) / 2
		left, right := tree(part[:middle]), tree(part[middle:])
		tooFar = tooFar || len(left) > 255
		branch := jump(unix.BPF_JGE, uint32(part[middle].first), len(left), 0)
		return slices.Concat([]unix.SockFilter{branch}, left, right)
	}
	search := tree(segments)
	if tooFar {
		return nil, errors.New("building seccomp filter: a jump is too far")
	}
	// Another architecture's calls, and x32's, have other numbers: the whole table would be
	// read wrongly. The table ends below x32's first number, so those are unknown.
	return append([]unix.SockFilter{
		load(offsetArch),
		jump(unix.BPF_JEQ, auditArch, 1, 0),
		ret(retKill),
		load(offsetNumber),
	}, search...), nil
}

func (v verdict) compile() []unix.SockFilter {
	if v.only == nil {
		return []unix.SockFilter{ret(v.action)}
	}
	failure := ret(unix.SECCOMP_RET_ERRNO | uint32(v.only.errno))
	var code []unix.SockFilter
	for _, c := range v.only.checks {
		low := uint32(offsetArgs + 8*c.arg)
		if c.wide {
			code = append(code, load(low+4), jump(unix.BPF_JEQ, 0, 1, 0), failure)
		}
		code = append(code, load(low))
		if c.mask != full {
			code = append(code, unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: c.mask})
		}
		for i, value := range c.values {
			// Over the remaining values and the failure to what comes next.
			code = append(code, jump(unix.BPF_JEQ, value, len(c.values)-i, 0))
		}
		code = append(code, failure)
	}
	return append(code, ret(v.action))
}

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

func ret(action uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
}

func jump(op uint16, value uint32, yes, no int) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | op | unix.BPF_K, K: value, Jt: uint8(yes), Jf: uint8(no)}
}

// seccompAvailable asks for the actions that the filter uses, without installing anything.
func seccompAvailable() error {
	if auditArch == 0 {
		return errors.New("no system call table for this processor architecture; run on amd64 or arm64")
	}
	for _, action := range []uint32{unix.SECCOMP_RET_ERRNO, retKill} {
		_, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
		if errno != 0 {
			return fmt.Errorf("the kernel or the container denies seccomp filters (%w); a kernel with CONFIG_SECCOMP_FILTER is needed", errno)
		}
	}
	return nil
}

// filterThread installs the filter on the calling thread. It is used where the program cannot be
// stopped at its start.
func filterThread(filter []unix.SockFilter) error {
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := unix.RawSyscall(unix.SYS_PRCTL, unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return fmt.Errorf("installing seccomp filter: %w", errno)
	}
	return nil
}

// allowedCalls exist on every architecture: files by descriptor, memory, threads, time, pipes.
var allowedCalls = []int{
	unix.SYS_READ, unix.SYS_WRITE, unix.SYS_READV, unix.SYS_WRITEV, unix.SYS_PREAD64, unix.SYS_PWRITE64,
	unix.SYS_PREADV, unix.SYS_PWRITEV, unix.SYS_PREADV2, unix.SYS_PWRITEV2,
	unix.SYS_OPENAT, unix.SYS_OPENAT2, unix.SYS_CLOSE, unix.SYS_CLOSE_RANGE, unix.SYS_DUP, unix.SYS_DUP3, unix.SYS_LSEEK,
	unix.SYS_FSTAT, unix.SYS_STATX, unix.SYS_STATFS, unix.SYS_FSTATFS, unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2, unix.SYS_READLINKAT,
	unix.SYS_GETDENTS64, unix.SYS_MKDIRAT, unix.SYS_UNLINKAT, unix.SYS_RENAMEAT2, unix.SYS_LINKAT, unix.SYS_SYMLINKAT,
	unix.SYS_FTRUNCATE, unix.SYS_FALLOCATE, unix.SYS_FADVISE64, unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_SYNC_FILE_RANGE,
	unix.SYS_GETCWD, unix.SYS_CHDIR, unix.SYS_FCHDIR, unix.SYS_UMASK,
	unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MPROTECT, unix.SYS_MREMAP, unix.SYS_MADVISE, unix.SYS_MSYNC, unix.SYS_MINCORE, unix.SYS_BRK,
	unix.SYS_FUTEX, unix.SYS_FUTEX_WAITV, unix.SYS_SET_ROBUST_LIST, unix.SYS_GET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_MEMBARRIER,
	unix.SYS_SET_TID_ADDRESS, unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY,
	unix.SYS_SCHED_GETPARAM, unix.SYS_SCHED_GETSCHEDULER, unix.SYS_GETCPU,
	unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_RT_SIGPENDING, unix.SYS_RT_SIGSUSPEND,
	unix.SYS_RT_SIGTIMEDWAIT, unix.SYS_SIGALTSTACK, unix.SYS_RESTART_SYSCALL,
	unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_GETRES, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_NANOSLEEP, unix.SYS_GETTIMEOFDAY,
	unix.SYS_TIMERFD_CREATE, unix.SYS_TIMERFD_SETTIME, unix.SYS_TIMERFD_GETTIME,
	unix.SYS_TIMER_CREATE, unix.SYS_TIMER_SETTIME, unix.SYS_TIMER_GETTIME, unix.SYS_TIMER_DELETE, unix.SYS_GETITIMER, unix.SYS_SETITIMER,
	unix.SYS_PPOLL, unix.SYS_PSELECT6, unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_EPOLL_PWAIT2,
	unix.SYS_EVENTFD2, unix.SYS_PIPE2, unix.SYS_RECVFROM, unix.SYS_SHUTDOWN, unix.SYS_GETSOCKOPT,
	unix.SYS_GETRANDOM, unix.SYS_UNAME, unix.SYS_SYSINFO, unix.SYS_GETPID, unix.SYS_GETPPID, unix.SYS_GETTID,
	unix.SYS_GETUID, unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_GETEGID, unix.SYS_GETGROUPS, unix.SYS_GETRESUID, unix.SYS_GETRESGID,
	unix.SYS_GETPGID, unix.SYS_GETSID, unix.SYS_GETRUSAGE, unix.SYS_TIMES, unix.SYS_CAPGET,
}

// refusedCalls are the doors out: each was used in an escape, or reaches another process, the
// network or a mount. truncate by path, and modes, owners and attributes of files, are not
// covered by Landlock, or not by every ABI of it.
var refusedCalls = []int{
	unix.SYS_SOCKET, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_ACCEPT, unix.SYS_ACCEPT4,
	unix.SYS_SENDMSG, unix.SYS_SENDMMSG, unix.SYS_RECVMSG, unix.SYS_RECVMMSG, unix.SYS_SETSOCKOPT,
	unix.SYS_EXECVE, unix.SYS_EXECVEAT, unix.SYS_MEMFD_SECRET,
	unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO,
	unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_GETFD, unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_PTRACE, unix.SYS_KCMP,
	unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_PROCESS_MRELEASE,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK,
	unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_MOUNT_SETATTR, unix.SYS_UNSHARE, unix.SYS_SETNS,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_IO_SETUP, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_PERSONALITY, unix.SYS_SYSLOG,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_REBOOT,
	unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT, unix.SYS_INOTIFY_INIT1,
	unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT,
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR,
	unix.SYS_TRUNCATE, unix.SYS_FLOCK, unix.SYS_UTIMENSAT, unix.SYS_MKNODAT,
	unix.SYS_SETUID, unix.SYS_SETGID, unix.SYS_SETREUID, unix.SYS_SETREGID, unix.SYS_SETRESUID, unix.SYS_SETRESGID, unix.SYS_SETGROUPS,
	unix.SYS_SETFSUID, unix.SYS_SETFSGID, unix.SYS_CAPSET, unix.SYS_SETRLIMIT, unix.SYS_SETPRIORITY, unix.SYS_IOPRIO_SET,
	unix.SYS_SETSID, unix.SYS_SETPGID, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_CLOCK_SETTIME, unix.SYS_SETTIMEOFDAY, unix.SYS_ADJTIMEX,
	unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR,
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_MSGGET, unix.SYS_SEMGET, unix.SYS_MQ_OPEN,
	unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_SECCOMP, unix.SYS_MLOCK, unix.SYS_MLOCKALL, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_SWAPON, unix.SYS_SWAPOFF,
}
