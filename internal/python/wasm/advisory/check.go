package advisory

import (
	"fmt"
	"strings"
)

// A Host says which of the fences that an advisory may rely on really hold.
type Host struct {
	OS, Arch    string // as Go names them
	FileFence   bool   // the operating system lets the runtime reach its own folders only
	MemoryFence bool   // memory of the whole process is bounded from outside
}

// Promised is a host where the belt holds as it is built for that system. A caller that knows better
// (the belt can lack a fence on an old kernel) says so in the fields.
func Promised(goos, goarch string) Host {
	linux := goos == "linux"
	return Host{OS: goos, Arch: goarch, FileFence: linux, MemoryFence: linux}
}

// holds reports whether a mechanism keeps its promise on the host; an unknown one does not.
func (h Host) holds(mechanism string) bool {
	switch mechanism {
	case "unused", "module", "process": // properties of how we start the runtime, on any system
		return true
	case "files":
		return h.FileFence
	case "memory":
		return h.MemoryFence
	}
	return false
}

// A Finding is an advisory that concerns a version on a host.
type Finding struct {
	Advisory Advisory `json:"advisory"`
	Covered  bool     `json:"covered"`
	By       []string `json:"by,omitempty"` // the mechanisms that hold
	Fixed    []string `json:"fixed"`
}

// String is one line for a person.
func (f Finding) String() string {
	state := "NOT COVERED"
	if f.Covered {
		state = "covered (" + strings.Join(f.By, ", ") + ")"
	}
	return fmt.Sprintf("%s %s: %s: %s Fixed in %s.", f.Advisory.ID, state, f.Advisory.Title, f.Advisory.Why, strings.Join(f.Fixed, ", "))
}

// Check lists what is known about a version, covered or not. An error means that the version could
// not be read; treat it as a refusal.
func (t Table) Check(runtime string, h Host) ([]Finding, error) {
	v, err := parseVersion(runtime)
	if err != nil {
		return nil, err
	}
	var list []Finding
	for _, a := range t.Advisories {
		if !a.affects(v, h) {
			continue
		}
		f := Finding{Advisory: a, Fixed: a.fixed()}
		for _, m := range a.CoveredBy {
			if h.holds(m) {
				f.By = append(f.By, m)
			}
		}
		f.Covered = len(f.By) > 0
		list = append(list, f)
	}
	return list, nil
}

// Refuse is nil when the version may be used on the host. Its error names what is wrong and what to
// install instead.
func (t Table) Refuse(runtime string, h Host) error {
	v, err := parseVersion(runtime)
	if err != nil {
		return fmt.Errorf("checking %s: %w", t.Runtime, err)
	}
	if least, _ := parseVersion(t.Minimum); v.before(least) {
		return fmt.Errorf("checking %s %s: it is older than %s, the first release with a sound WASI file system and all that the image needs; install the latest %s, put it on PATH or name it with --wasmtime PATH", t.Runtime, runtime, t.Minimum, t.Runtime)
	}
	if v.pre {
		return fmt.Errorf("checking %s %s: pre-releases get no advisories; install a release", t.Runtime, runtime)
	}
	list, err := t.Check(runtime, h)
	if err != nil {
		return fmt.Errorf("checking %s: %w", t.Runtime, err)
	}
	var open []string
	for _, f := range list {
		if !f.Covered {
			open = append(open, fmt.Sprintf("%s (%s; fixed in %s)", f.Advisory.ID, f.Advisory.Title, strings.Join(f.Fixed, ", ")))
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("checking %s %s: on %s/%s nothing covers %s; install a fixed release, put it on PATH or name it with --wasmtime PATH", t.Runtime, runtime, h.OS, h.Arch, strings.Join(open, ", "))
	}
	return nil
}

// Unreviewed reports whether the version is newer than what the table was made from: what it lacks is then not
// known, and a warning is due.
func (t Table) Unreviewed(runtime string) bool {
	v, err := parseVersion(runtime)
	last, err2 := parseVersion(t.ReviewedThrough)
	return err != nil || err2 != nil || last.before(v)
}
