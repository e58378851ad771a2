package confine

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// A watch ends a process that outgrows what no kernel limit bounds: resident memory, threads,
// processor time in fractions of a second, and scratch that lies on the host's disk.
type watch struct {
	process *Process
	stat    *os.File // bound to the process, not to its number
	limits  Limits
	folder  *folder
	scratch []Scratch
	page    int64
}

func newWatch(p *Process, box *Box) (*watch, error) {
	stat, err := os.Open(fmt.Sprintf("/proc/%d/stat", p.pid))
	if err != nil {
		return nil, fmt.Errorf("watching process: %w", err)
	}
	return &watch{
		process: p, stat: stat, limits: box.belt.limits, page: int64(os.Getpagesize()),
		folder: box.cell.folder, scratch: box.belt.spec.Scratch,
	}, nil
}

func (w *watch) run() {
	defer w.stat.Close()
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	var disk <-chan time.Time
	if w.folder != nil {
		disk = time.After(watchInterval)
	}
	buffer := make([]byte, 1024)
	for {
		select {
		case <-w.process.done:
			return
		case pace := <-w.process.pace:
			ticker.Reset(pace)
			w.look(buffer)
		case <-ticker.C:
			w.look(buffer)
		case <-disk:
			began := time.Now()
			w.measure()
			// The walk of a full folder must not eat a core.
			disk = time.After(max(2*watchInterval, 5*time.Since(began)))
		}
	}
}

func (w *watch) look(buffer []byte) {
	n, err := w.stat.ReadAt(buffer, 0)
	if n == 0 {
		_ = err // ESRCH: it has just ended
		return
	}
	usage, ok := parseStat(buffer[:n], w.page)
	switch {
	case !ok:
	case usage.resident > w.limits.Memory:
		w.process.kill(CauseMemory)
	case usage.cpu > w.limits.CPU:
		w.process.kill(CauseCPU)
	case usage.threads > w.limits.Threads:
		w.process.kill(CauseThreads)
	}
}

func (w *watch) measure() {
	for _, scratch := range w.scratch {
		use, err := w.folder.measure(scratch.Name)
		if err != nil {
			continue // it changes under our hands; the next look will tell
		}
		use.bytes += unlinked(w.process.pid, use.device)
		if use.tooDeep || use.bytes > scratch.Bytes || use.files > scratch.Files {
			w.process.kill(CauseDisk)
		}
	}
}

// unlinked sums the files that are open but have no name any more: they still take space.
func unlinked(pid int, device uint64) (total int64) {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0
	}
	for _, entry := range entries {
		var stat unix.Stat_t
		if unix.Stat(dir+"/"+entry.Name(), &stat) == nil && stat.Nlink == 0 && stat.Dev == device && stat.Mode&unix.S_IFMT == unix.S_IFREG {
			total += stat.Blocks * 512
		}
	}
	return total
}

type usage struct {
	resident int64
	cpu      time.Duration
	threads  int
}

// parseStat reads proc_pid_stat(5). The name in parentheses is the program's to choose.
func parseStat(line []byte, page int64) (usage, bool) {
	_, rest, ok := bytes.Cut(line, []byte(") "))
	if end := bytes.LastIndex(line, []byte(") ")); ok {
		rest = line[end+2:]
	}
	fields := bytes.Fields(rest)
	const user, system, threads, resident = 11, 12, 17, 21 // counted from the state
	if !ok || len(fields) <= resident {
		return usage{}, false
	}
	number := func(i int) int64 {
		n, err := strconv.ParseInt(string(fields[i]), 10, 64)
		ok = ok && err == nil
		return n
	}
	const tick = time.Second / 100 // USER_HZ, the same on every architecture that we run on
	u := usage{
		resident: number(resident) * page,
		cpu:      time.Duration(number(user)+number(system)) * tick,
		threads:  int(number(threads)),
	}
	return u, ok
}
