package confine

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// setLimits bounds the stopped program. Limits belong to a process, so they cannot be set on our
// thread before the fork; prlimit on a program that has not run an instruction loses no race.
//
// There is no limit of address space: WebAssembly engines reserve many GiB that they never
// touch. One that we were started under is lifted as far as it may be.
func setLimits(pid int, l Limits) error {
	seconds := uint64((l.CPU + time.Second - 1) / time.Second)
	limits := []struct {
		resource   int
		soft, hard uint64
	}{
		{unix.RLIMIT_NOFILE, uint64(l.OpenFiles), uint64(l.OpenFiles)},
		{unix.RLIMIT_FSIZE, uint64(l.FileSize), uint64(l.FileSize)},
		{unix.RLIMIT_CORE, 0, 0},
		// The soft limit's signal names the cause; the hard one holds when it is ignored.
		{unix.RLIMIT_CPU, seconds, seconds + 1},
		{unix.RLIMIT_MEMLOCK, 0, 0},
		{unix.RLIMIT_MSGQUEUE, 0, 0},
		{unix.RLIMIT_NICE, 0, 0},
		{unix.RLIMIT_RTPRIO, 0, 0},
		{unix.RLIMIT_SIGPENDING, 256, 256},
	}
	for _, limit := range limits {
		var old unix.Rlimit
		if err := unix.Prlimit(pid, limit.resource, nil, &old); err != nil {
			return fmt.Errorf("reading limit %d: %w", limit.resource, err)
		}
		// A limit that is tighter already stays.
		next := unix.Rlimit{Max: min(limit.hard, old.Max)}
		next.Cur = min(limit.soft, next.Max)
		if err := unix.Prlimit(pid, limit.resource, &next, nil); err != nil {
			return fmt.Errorf("setting limit %d: %w", limit.resource, err)
		}
	}
	var space unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_AS, nil, &space); err == nil && space.Cur < space.Max {
		space.Cur = space.Max
		if err := unix.Prlimit(pid, unix.RLIMIT_AS, &space, nil); err != nil {
			return fmt.Errorf("lifting limit of address space: %w", err)
		}
	}
	return nil
}

// AddressSpace is the hard limit of address space that every program of ours is under, in bytes;
// 0 means none. Only whoever started us can lift it, so an engine that needs more says so.
func AddressSpace() int64 {
	var space unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &space); err != nil || space.Max > 1<<62 {
		return 0
	}
	return int64(space.Max)
}
