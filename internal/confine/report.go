package confine

import "strings"

// A Fence is one thing that keeps the program in.
type Fence struct {
	Name   string `json:"name"`
	Holds  bool   `json:"holds"`
	Detail string `json:"detail,omitempty"` // how, such as "ABI 7"
	Why    string `json:"why,omitempty"`    // why it does not hold
	Remedy string `json:"remedy,omitempty"` // what it would take

	// Spare means that the belt is complete without this fence, because others do its work.
	Spare bool `json:"spare,omitempty"`
}

// A Report lists the fences of a belt, or of this host.
type Report struct {
	Fences []Fence `json:"fences"`
}

// Missing are the fences that do not hold and that no other stands in for.
func (r Report) Missing() []Fence {
	var missing []Fence
	for _, fence := range r.Fences {
		if !fence.Holds && !fence.Spare {
			missing = append(missing, fence)
		}
	}
	return missing
}

// Holds tells whether the named fence is there and holds.
func (r Report) Holds(name string) bool {
	for _, fence := range r.Fences {
		if fence.Name == name {
			return fence.Holds
		}
	}
	return false
}

// disprove takes back the fences that did not hold when they were tried.
func (r *Report) disprove(failed map[string]error) {
	for i, fence := range r.Fences {
		if err := failed[fence.Name]; err != nil {
			r.Fences[i] = Fence{Name: fence.Name, Why: "tried and found open: " + err.Error()}
		}
	}
}

// Summary is one line: which fences hold and which do not.
func (r Report) Summary() string {
	var hold, miss, spare []string
	for _, fence := range r.Fences {
		switch {
		case !fence.Holds && fence.Spare:
			spare = append(spare, fence.Name)
		case !fence.Holds:
			miss = append(miss, fence.Name)
		case fence.Detail != "":
			hold = append(hold, fence.Name+" ("+fence.Detail+")")
		default:
			hold = append(hold, fence.Name)
		}
	}
	line := "none"
	if len(hold) > 0 {
		line = strings.Join(hold, ", ")
	}
	if len(spare) > 0 {
		line += "; without: " + strings.Join(spare, ", ")
	}
	if len(miss) > 0 {
		line += "; missing: " + strings.Join(miss, ", ")
	}
	return line
}

// Unavailable says that this host cannot enforce what the belt promises. Nothing was started.
type Unavailable struct {
	Missing []Fence
}

func (u *Unavailable) Error() string {
	parts := make([]string, 0, len(u.Missing))
	for _, fence := range u.Missing {
		part := fence.Name + ": " + fence.Why
		if fence.Remedy != "" {
			part += " (" + fence.Remedy + ")"
		}
		parts = append(parts, part)
	}
	return "belt unavailable: " + strings.Join(parts, "; ")
}

// Names of the fences, in the order of reports.
const (
	fenceView     = "private view"
	fenceLandlock = "landlock"
	fenceSeccomp  = "seccomp"
	fenceSeal     = "sealed start"
	fenceIdentity = "identity"
	fenceLimits   = "limits"
	fenceMemory   = "memory"
	fenceScratch  = "scratch quota"
	fenceDeath    = "parent death"
)
