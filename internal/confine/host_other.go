//go:build !linux

package confine

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// ownExecutable is never started: there is nothing here to try.
const ownExecutable = ""

// settings take parts of the host away, for tests. There is nothing to take here.
type settings struct{}

// A host on this system has no fence that keeps files or the network from a program. What is
// left, when the operator allows it, is the environment, the scratch folders, a watch on what
// they take, and the end of the process with its group.
type host struct {
	names   map[string]string
	runtime string
}

func (h *host) prepare(spec Spec, _ settings, report *Report) error {
	const remedy = "run on Linux"
	why := "not available on " + runtime.GOOS
	for _, name := range []string{fenceView, fenceLandlock, fenceSeccomp, fenceSeal, fenceIdentity, fenceLimits, fenceMemory} {
		report.Fences = append(report.Fences, Fence{Name: name, Why: why, Remedy: remedy})
	}
	report.Fences = append(report.Fences,
		Fence{Name: fenceScratch, Holds: true, Detail: "watchdog"},
		deathFence())
	if !spec.AllowWeaker {
		return nil // the caller refuses with the report
	}
	program, err := filepath.EvalSymlinks(spec.Program)
	if err != nil {
		return fmt.Errorf("finding program: %w", err)
	}
	h.names = map[string]string{programName: program}
	for name, path := range spec.ReadOnly {
		if h.names[name], err = filepath.EvalSymlinks(path); err != nil {
			return fmt.Errorf("finding %s: %w", name, err)
		}
	}
	if h.runtime, err = runtimeFolder(spec.Runtime, false); err != nil {
		return err
	}
	return sweep(h.runtime)
}

func (h *host) close() error { return nil }

// EnterUserNamespace has nothing to enter on this system.
func EnterUserNamespace(string) error { return nil }

// A cell is a folder and, once started, a process group or job.
type cell struct {
	names  map[string]string
	folder *folder
}

func (c *cell) path(name string) (string, bool) {
	p, ok := c.names[name]
	return p, ok
}

func (c *cell) open(box *Box) (err error) {
	c.names = make(map[string]string)
	for name, path := range box.belt.host.names {
		c.names[name] = path
	}
	if c.folder, err = newFolder(box.belt.host.runtime, false); err != nil {
		return err
	}
	for _, scratch := range box.belt.spec.Scratch {
		path, err := c.folder.add(scratch.Name)
		if err != nil {
			return err
		}
		c.names[scratch.Name] = path
		if box.roots[scratch.Name], err = os.OpenRoot(path); err != nil {
			return fmt.Errorf("opening scratch folder: %w", err)
		}
	}
	return nil
}

// own has nothing to do: the program runs as we do.
func (c *cell) own(*os.Root, string) error { return nil }

func (c *cell) close() error { return c.folder.close() }

// AddressSpace is the hard limit of address space that every program of ours is under; 0 means
// that none is known.
func AddressSpace() int64 { return 0 }
