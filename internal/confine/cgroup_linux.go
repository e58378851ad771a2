package confine

// cgroups finds out whether a control group of our own can bound memory. Not written yet.
type cgroups struct{}

func findCgroups() cgroups { return cgroups{} }

func (cgroups) fence() Fence {
	return Fence{Name: fenceMemory, Holds: true, Detail: "watchdog, resident set every 20 ms"}
}

func (cgroups) add(int, Limits) (*cgroup, error) { return nil, nil }

type cgroup struct{}

func (g *cgroup) overflowed() bool { return false }
func (g *cgroup) close() error     { return nil }
