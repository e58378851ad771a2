package confine

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// settings take parts of the host away, for tests.
type settings struct {
	noView   bool
	noSeal   bool
	landlock func() (int, error)
	groups   *cgroups
}

// A host is what one belt knows about this machine. It does not change once it is prepared.
type host struct {
	id      identity
	binds   []bind
	names   map[string]string // place of each name in the child's view
	view    view
	viewed  bool
	abi     int  // of Landlock; 0 when it cannot be used
	sealed  bool // the program is stopped at its start and filtered there
	filter  []unix.SockFilter
	runtime string // folder for scratch where there is no view
	groups  cgroups
}

// ownExecutable is read through the kernel, so it is the very program that runs.
const ownExecutable = "/proc/self/exe"

// markPID stands in a filter for the number that the process will have.
const markPID = 0x7ffffff1

func (h *host) prepare(spec Spec, set settings, report *Report) error {
	h.view.namespace = -1
	found, err := findProgram(spec.Program)
	if err != nil {
		return err
	}
	if h.binds, h.names, err = found.binds(spec.ReadOnly); err != nil {
		return err
	}
	h.id = chooseIdentity()
	add := func(f Fence) { report.Fences = append(report.Fences, f) }

	viewFence := Fence{Name: fenceView, Spare: true}
	switch {
	case set.noView:
		viewFence.Why = "switched off"
	case !h.id.root:
		viewFence.Why, viewFence.Remedy = whyNoNamespace()
	default:
		h.view, err = newView(h.binds, spec.Scratch)
		if h.viewed = err == nil; h.viewed {
			viewFence.Holds, viewFence.Detail = true, "mount namespace, read-only"
		} else {
			viewFence.Why = err.Error()
			viewFence.Remedy = "on Linux 5.12 or later, let the container mount in a namespace of its own, or run as an ordinary user who may make user namespaces"
		}
	}
	add(viewFence)

	ask := landlockABI
	if set.landlock != nil {
		ask = set.landlock
	}
	landlockFence := Fence{Name: fenceLandlock}
	h.abi, err = ask()
	var missing *noLandlock
	switch {
	case errors.As(err, &missing):
		h.abi = 0
		landlockFence.Why, landlockFence.Remedy = missing.why, missing.remedy
	case err != nil:
		h.abi = 0
		landlockFence.Why = err.Error()
	case h.abi < landlockNeeded:
		landlockFence.Why = fmt.Sprintf("ABI %d, need >= %d", h.abi, landlockNeeded)
		landlockFence.Remedy = "run Linux 6.2 or later"
	default:
		landlockFence.Holds, landlockFence.Detail = true, fmt.Sprintf("ABI %d", h.abi)
	}
	add(landlockFence)

	if !h.viewed {
		h.hostNames(spec)
		if h.runtime, err = runtimeFolder(spec.Runtime, h.id.change); err != nil {
			return err
		}
		if err := sweep(h.runtime); err != nil {
			return err
		}
	}

	seccompFence := Fence{Name: fenceSeccomp}
	if err := seccompAvailable(); err != nil {
		seccompFence.Why = err.Error()
		seccompFence.Remedy = "run a kernel with CONFIG_SECCOMP_FILTER on amd64 or arm64, and let the container use seccomp"
	} else {
		seccompFence.Holds, seccompFence.Detail = true, "allow-list"
	}
	add(seccompFence)

	h.groups = findCgroups()
	if set.groups != nil {
		h.groups = *set.groups
	}
	h.sealed = !set.noSeal && seccompFence.Holds
	sealFence := Fence{Name: fenceSeal}
	if h.sealed {
		if err := h.buildFilter(); err != nil {
			return err
		}
		failed, err := h.rehearse(spec)
		defer func() { report.disprove(failed) }()
		var blocked *sealError
		switch {
		case errors.As(err, &blocked):
			h.sealed = false
			sealFence.Why, sealFence.Remedy = whyNoTrace(err)
		case err != nil:
			return err
		default:
			sealFence.Holds, sealFence.Detail = true, "no fork, no exec, descriptors closed"
		}
	} else {
		sealFence.Why = "switched off, or no seccomp"
	}
	add(sealFence)
	if !h.sealed && seccompFence.Holds {
		if err := h.buildFilter(); err != nil {
			return err
		}
	}

	identityFence := Fence{Name: fenceIdentity, Holds: true, Detail: "capabilities empty, no_new_privs"}
	if h.id.change {
		identityFence.Detail = fmt.Sprintf("user %d, ", h.id.uid) + identityFence.Detail
	}
	add(identityFence)
	add(Fence{Name: fenceLimits, Holds: true, Detail: "rlimits; threads by watchdog"})
	add(h.groups.fence())
	if h.viewed {
		add(Fence{Name: fenceScratch, Holds: true, Detail: "tmpfs"})
	} else {
		add(Fence{Name: fenceScratch, Holds: true, Detail: "watchdog"})
	}
	add(Fence{Name: fenceDeath, Holds: true, Detail: "death signal bound to a thread that stays"})
	return nil
}

func (h *host) close() error {
	h.view.close()
	h.groups.close()
	return nil
}

// hostNames gives the names their host paths: without a view the program sees the host's tree.
func (h *host) hostNames(spec Spec) {
	for name := range h.names {
		target := h.names[name]
		for _, b := range h.binds {
			if b.target == target {
				h.names[name] = b.source
			}
		}
	}
	for i, b := range h.binds {
		h.binds[i].target = b.source
	}
	// The loader looks its libraries up here; it works without, by slower ways.
	if info, err := os.Lstat("/etc/ld.so.cache"); err == nil && info.Mode().IsRegular() {
		h.binds = append(h.binds, bind{source: "/etc/ld.so.cache", target: "/etc/ld.so.cache"})
	}
}

func (h *host) buildFilter() (err error) {
	plan := filterPlan{pid: markPID, utime: h.viewed}
	if !h.sealed {
		plan = filterPlan{utime: h.viewed, starter: true}
	}
	h.filter, err = buildFilter(plan)
	return err
}

// filterFor is the filter for one process, which may send signals to itself only.
func (h *host) filterFor(pid int) []unix.SockFilter {
	filter := make([]unix.SockFilter, len(h.filter))
	for i, instruction := range h.filter {
		if instruction.Code == unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K && instruction.K == markPID {
			instruction.K = uint32(pid)
		}
		filter[i] = instruction
	}
	return filter
}

// rehearse starts the program, lets it try what it must not do, and ends it before its first
// instruction. What cannot be enforced here shows now, and not with a call that waits.
func (h *host) rehearse(spec Spec) (failed map[string]error, err error) {
	box := &Box{belt: &Belt{spec: spec, limits: spec.limits(), host: *h}, roots: map[string]*os.Root{}}
	defer box.Close()
	if err := box.cell.open(box); err != nil {
		return nil, err
	}
	if err := box.cell.thread.do(func() error { return readable(h.binds) }); err != nil {
		return nil, fmt.Errorf("checking what user %d may read: %w", h.id.uid, err)
	}
	files, release, err := stdio(Command{})
	if err != nil {
		return nil, err
	}
	defer release()
	scratch, quota := "", int64(0)
	if len(spec.Scratch) > 0 {
		scratch, quota = box.cell.names[spec.Scratch[0].Name], spec.Scratch[0].Bytes
	}
	err = box.cell.thread.do(func() error {
		stopped, err := box.cell.fork(box, Command{}, files)
		if stopped != nil {
			defer end(stopped.pid)
		}
		if err != nil {
			return err
		}
		failed = h.prove(stopped.puppet, scratch, quota)
		// This thread can reach no control group any more.
		tried := make(chan error)
		go func() {
			var err error
			box.cell.group, err = h.groups.add(stopped.pid, spec.limits(), h.scratchMemory(spec))
			tried <- err
		}()
		if err := <-tried; err != nil {
			h.groups.close()
			h.groups = cgroups{why: err.Error()}
		}
		return nil
	})
	return failed, err
}

// scratchMemory is what the scratch folders may take of the memory of the process.
func (h *host) scratchMemory(spec Spec) (total int64) {
	if h.viewed {
		for _, scratch := range spec.Scratch {
			total += scratch.Bytes
		}
	}
	return total
}

// readable runs on the confined thread.
func readable(binds []bind) error {
	for _, b := range binds {
		fd, err := unix.Open(b.target, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
		if err != nil {
			return fmt.Errorf("%s: %w; let others read it, and enter the folders above it", b.source, err)
		}
		unix.Close(fd)
	}
	return nil
}

// whyNoNamespace says what keeps user namespaces from us, and what to do.
func whyNoNamespace() (why, remedy string) {
	for _, cause := range []struct{ file, value, why, remedy string }{
		{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", "AppArmor keeps user namespaces from ordinary programs",
			"give this program an AppArmor profile with the userns rule, or set kernel.apparmor_restrict_unprivileged_userns=0"},
		{"/proc/sys/kernel/unprivileged_userns_clone", "0", "user namespaces are off for ordinary users",
			"set kernel.unprivileged_userns_clone=1"},
		{"/proc/sys/user/max_user_namespaces", "0", "user namespaces are off", "raise user.max_user_namespaces"},
	} {
		if holds(cause.file, cause.value) {
			return cause.why, cause.remedy
		}
	}
	return "an ordinary user outside a user namespace cannot mount", "run as root, or let users make user namespaces; a container's seccomp profile may deny them"
}

func whyNoTrace(err error) (why, remedy string) {
	if holds("/proc/sys/kernel/yama/ptrace_scope", "3") {
		return "kernel.yama.ptrace_scope is 3, so the program cannot be stopped at its start", "set kernel.yama.ptrace_scope to 2 or less"
	}
	return err.Error(), "let the container use ptrace on its own children"
}

func holds(file, value string) bool {
	data, err := os.ReadFile(file)
	return err == nil && strings.TrimSpace(string(data)) == value
}
