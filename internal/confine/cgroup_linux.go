package confine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// cgroups are control groups, version 2, in which the kernel bounds memory and threads exactly.
// They are used only where somebody has handed a part of the tree to us: elsewhere it belongs to
// the service manager, and the watch does the work alone. It looks on in any case.
type cgroups struct {
	base    string // folder of ours that holds a group for each box; empty when there is none
	why     string
	counter *atomic.Int64
}

const groupPrefix = "sallyport-"

// findCgroups looks for a part of the tree that was handed to us.
func findCgroups() cgroups {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return cgroups{why: err.Error()}
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return cgroups{why: err.Error()}
	}
	dir, ok := groupFolder(string(mounts), string(own))
	if !ok {
		return cgroups{why: "no unified control groups"}
	}
	return newCgroups(dir)
}

// groupFolder is the folder of our own group.
func groupFolder(mounts, own string) (string, bool) {
	path := ""
	for line := range strings.Lines(own) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			path = rest
		}
	}
	for line := range strings.Lines(mounts) {
		before, after, ok := strings.Cut(line, " - ")
		fields := strings.Fields(before)
		// A group above the root of our control group namespace reads as /../name.
		if !ok || len(fields) < 5 || !strings.HasPrefix(after, "cgroup2 ") || path == "" || path != filepath.Clean(path) {
			continue
		}
		inside, err := filepath.Rel(fields[3], path)
		if err == nil && filepath.IsLocal(inside) {
			return filepath.Join(fields[4], inside), true
		}
	}
	return "", false
}

// newCgroups makes our folder beside the group that we are in: a group that holds processes can
// have no limits below it.
func newCgroups(own string) cgroups {
	parent := filepath.Dir(own)
	control, err := os.ReadFile(filepath.Join(parent, "cgroup.subtree_control"))
	if err != nil {
		return cgroups{why: "no control groups above ours"}
	}
	controllers := strings.Fields(string(control))
	for _, needed := range []string{"memory", "pids"} {
		if !slices.Contains(controllers, needed) {
			return cgroups{why: "the " + needed + " controller is not handed to us"}
		}
	}
	if !delegated(parent) {
		return cgroups{why: "the control group tree is not handed to us"}
	}
	sweepGroups(parent)
	base, err := os.MkdirTemp(parent, groupPrefix+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return cgroups{why: err.Error()}
	}
	if err := os.WriteFile(filepath.Join(base, "cgroup.subtree_control"), []byte("+memory +pids"), 0o644); err != nil {
		os.Remove(base)
		return cgroups{why: err.Error()}
	}
	return cgroups{base: base, counter: new(atomic.Int64)}
}

// delegated tells whether the folder is ours to use. Root of the host may write everywhere, so for
// root the service manager's mark counts.
func delegated(dir string) bool {
	if !chooseIdentity().change {
		return unix.Access(dir, unix.W_OK) == nil && unix.Access(filepath.Join(dir, "cgroup.procs"), unix.W_OK) == nil
	}
	for _, name := range []string{"user.delegate", "trusted.delegate"} {
		var value [8]byte
		if n, err := unix.Getxattr(dir, name, value[:]); err == nil && string(value[:n]) == "1" {
			return true
		}
	}
	return false
}

// sweepGroups removes the empty groups of servers that were killed. One that holds a process
// cannot be removed.
func sweepGroups(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, entry := range entries {
		number, ok := strings.CutPrefix(entry.Name(), groupPrefix)
		number, _, _ = strings.Cut(number, "-")
		pid, err := strconv.Atoi(number)
		if !ok || err != nil || !errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
			continue
		}
		dir := filepath.Join(parent, entry.Name())
		boxes, _ := os.ReadDir(dir)
		for _, box := range boxes {
			if box.IsDir() {
				syscall.Rmdir(filepath.Join(dir, box.Name()))
			}
		}
		syscall.Rmdir(dir)
	}
}

func (c cgroups) fence() Fence {
	if c.base == "" {
		return Fence{Name: fenceMemory, Holds: true, Detail: "watchdog, resident set every 20 ms; " + c.why}
	}
	return Fence{Name: fenceMemory, Holds: true, Detail: "cgroup v2"}
}

// A cgroup holds one process.
type cgroup struct{ dir string }

// add puts a process into a group of its own. scratch is added to the memory, since the kernel
// counts what lies in a tmpfs there.
func (c cgroups) add(pid int, limits Limits, scratch int64) (*cgroup, error) {
	if c.base == "" {
		return nil, nil
	}
	g := &cgroup{dir: filepath.Join(c.base, "box-"+strconv.FormatInt(c.counter.Add(1), 10))}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		return nil, fmt.Errorf("making control group: %w", err)
	}
	for _, setting := range [][2]string{
		{"memory.max", strconv.FormatInt(limits.Memory+scratch, 10)},
		{"memory.oom.group", "1"},
		{"pids.max", strconv.Itoa(limits.Threads)},
		{"cgroup.procs", strconv.Itoa(pid)},
	} {
		if err := os.WriteFile(filepath.Join(g.dir, setting[0]), []byte(setting[1]), 0o644); err != nil {
			g.close()
			return nil, fmt.Errorf("setting %s of control group: %w", setting[0], err)
		}
	}
	return g, nil
}

// overflowed tells whether the kernel ended the process for its memory.
func (g *cgroup) overflowed() bool {
	if g == nil {
		return false
	}
	events, err := os.ReadFile(filepath.Join(g.dir, "memory.events"))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(events)) {
		if count, ok := strings.CutPrefix(strings.TrimSpace(line), "oom_kill "); ok && count != "0" {
			return true
		}
	}
	return false
}

func (g *cgroup) close() error {
	if g == nil {
		return nil
	}
	if err := syscall.Rmdir(g.dir); err != nil {
		return fmt.Errorf("removing control group: %w", err)
	}
	return nil
}

// close removes our folder. It fails while a box is open, and the next server sweeps it.
func (c cgroups) close() {
	if c.base != "" {
		syscall.Rmdir(c.base)
	}
}
