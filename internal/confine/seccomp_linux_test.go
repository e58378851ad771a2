package confine

import (
	"testing"

	"golang.org/x/sys/unix"
)

// data is struct seccomp_data, as the filter reads it.
type data struct {
	number int
	arch   uint32
	args   [6]uint64
}

func (d data) load(offset uint32) uint32 {
	switch {
	case offset == offsetNumber:
		return uint32(d.number)
	case offset == offsetArch:
		return d.arch
	case (offset-offsetArgs)%8 == 0:
		return uint32(d.args[(offset-offsetArgs)/8])
	}
	return uint32(d.args[(offset-offsetArgs)/8] >> 32)
}

// judge runs a filter as the kernel does.
func judge(t *testing.T, filter []unix.SockFilter, d data) uint32 {
	t.Helper()
	var a uint32
	for i := 0; i < len(filter); i++ {
		step := filter[i]
		branch := func(yes bool) {
			if yes {
				i += int(step.Jt)
			} else {
				i += int(step.Jf)
			}
		}
		switch step.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			a = d.load(step.K)
		case unix.BPF_ALU | unix.BPF_AND | unix.BPF_K:
			a &= step.K
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			branch(a == step.K)
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			branch(a >= step.K)
		case unix.BPF_RET | unix.BPF_K:
			return step.K
		default:
			t.Fatalf("unknown instruction %+v", step)
		}
	}
	t.Fatal("the filter ran off its end")
	return 0
}

// The search tree gives for every number what the table says.
func TestFilterAgreesWithTable(t *testing.T) {
	for _, plan := range []filterPlan{{pid: 42}, {pid: 42, utime: true}, {starter: true}} {
		filter, err := buildFilter(plan)
		if err != nil {
			t.Skip(err)
		}
		table := rules(plan)
		last := 0
		for number := range table {
			last = max(last, number)
		}
		for number := 0; number < last+2000; number++ {
			want := uint32(unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM))
			if number > last {
				want = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
			}
			v, ok := table[number]
			if ok && v.only != nil {
				continue // below
			}
			if ok {
				want = v.action
			}
			if got := judge(t, filter, data{number: number, arch: auditArch}); got != want {
				t.Errorf("%+v: call %d: %#x, want %#x", plan, number, got, want)
			}
		}
		if got := judge(t, filter, data{number: unix.SYS_READ, arch: auditArch + 1}); got != retKill {
			t.Errorf("another architecture: %#x", got)
		}
		if got := judge(t, filter, data{number: 0x40000000 + unix.SYS_READ, arch: auditArch}); got == retAllow {
			t.Error("x32 is allowed")
		}
	}
}

func TestFilterLooksAtArguments(t *testing.T) {
	filter, err := buildFilter(filterPlan{pid: 42})
	if err != nil {
		t.Skip(err)
	}
	const high = 1 << 32
	thread := uint64(unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD | unix.CLONE_SYSVSEM | unix.CLONE_SETTLS)
	cases := []struct {
		number int
		args   [6]uint64
		allow  bool
	}{
		{unix.SYS_CLONE, [6]uint64{thread}, true},
		{unix.SYS_CLONE, [6]uint64{thread | unix.CLONE_NEWUSER}, false},
		{unix.SYS_CLONE, [6]uint64{thread | unix.CLONE_NEWNS}, false},
		{unix.SYS_CLONE, [6]uint64{uint64(unix.SIGCHLD)}, false},
		{unix.SYS_CLONE, [6]uint64{unix.CLONE_VM | unix.CLONE_VFORK | uint64(unix.SIGCHLD)}, false},
		{unix.SYS_SOCKETPAIR, [6]uint64{unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK}, true},
		{unix.SYS_SOCKETPAIR, [6]uint64{unix.AF_UNIX, unix.SOCK_DGRAM}, false},
		{unix.SYS_SOCKETPAIR, [6]uint64{unix.AF_UNIX, unix.SOCK_SEQPACKET}, false},
		{unix.SYS_SOCKETPAIR, [6]uint64{unix.AF_INET, unix.SOCK_STREAM}, false},
		{unix.SYS_SENDTO, [6]uint64{3, 1, 1, 0, 0, 0}, true},
		{unix.SYS_SENDTO, [6]uint64{3, 1, 1, 0, 0x1000, 110}, false},
		{unix.SYS_SENDTO, [6]uint64{3, 1, 1, 0, 5 * high, 110}, false},
		{unix.SYS_FCNTL, [6]uint64{0, unix.F_GETFL}, true},
		{unix.SYS_FCNTL, [6]uint64{0, unix.F_SETLK}, false},
		{unix.SYS_FCNTL, [6]uint64{0, unix.F_OFD_SETLKW}, false},
		{unix.SYS_FCNTL, [6]uint64{0, unix.F_SETOWN}, false},
		{unix.SYS_FCNTL, [6]uint64{0, unix.F_SETLEASE}, false},
		{unix.SYS_IOCTL, [6]uint64{0, unix.TCGETS}, true},
		{unix.SYS_IOCTL, [6]uint64{0, unix.TIOCSTI}, false},
		{unix.SYS_IOCTL, [6]uint64{0, unix.TIOCSTI | high}, false},
		{unix.SYS_PRCTL, [6]uint64{unix.PR_SET_NAME}, true},
		{unix.SYS_PRCTL, [6]uint64{unix.PR_SET_PDEATHSIG}, false},
		{unix.SYS_PRLIMIT64, [6]uint64{0, unix.RLIMIT_NOFILE, 0, 1}, true},
		{unix.SYS_PRLIMIT64, [6]uint64{0, unix.RLIMIT_NOFILE, 1, 0}, false},
		{unix.SYS_PRLIMIT64, [6]uint64{0, unix.RLIMIT_NOFILE, high, 0}, false},
		{unix.SYS_PRLIMIT64, [6]uint64{7, unix.RLIMIT_NOFILE, 0, 0}, false},
		{unix.SYS_KILL, [6]uint64{42, 9}, true},
		{unix.SYS_KILL, [6]uint64{43, 9}, false},
		{unix.SYS_KILL, [6]uint64{0, 9}, false},
		{unix.SYS_KILL, [6]uint64{1<<32 - 1, 9}, false},
		{unix.SYS_TGKILL, [6]uint64{42, 43, 6}, true},
		{unix.SYS_TGKILL, [6]uint64{1, 43, 6}, false},
	}
	for _, c := range cases {
		got := judge(t, filter, data{number: c.number, arch: auditArch, args: c.args})
		if (got == retAllow) != c.allow {
			t.Errorf("call %d%v: %#x, want allowed %v", c.number, c.args, got, c.allow)
		}
	}
}

func TestParseStat(t *testing.T) {
	u, ok := parseStat([]byte("42 (a) R b) R 1 42 42 0 -1 4194304 100 0 0 0 7 3 0 0 20 0 5 0 100 1000000 2000 18446744073709551615 0"), 4096)
	if !ok || u.threads != 5 || u.resident != 2000*4096 || u.cpu.Milliseconds() != 100 {
		t.Errorf("%+v %v", u, ok)
	}
	for _, line := range []string{"", "42", "42 (a) R 1", "42 (a) " + "x x x x x x x x x x x x x x x x x x x x x x x x"} {
		if u, ok := parseStat([]byte(line), 4096); ok {
			t.Errorf("%q: %+v", line, u)
		}
	}
}
