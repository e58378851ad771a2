package confine

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

func TestGroupFolder(t *testing.T) {
	const mounts = "30 25 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"
	for own, want := range map[string]string{
		"0::/user.slice/user-1000.slice/app.scope\n": "/sys/fs/cgroup/user.slice/user-1000.slice/app.scope",
		"4:memory:/x\n0::/a\n":                       "/sys/fs/cgroup/a",
		"0::/\n":                                     "/sys/fs/cgroup",
		"4:memory:/x\n":                              "",
		"0::/../outside\n":                           "",
		"":                                           "",
	} {
		got, ok := groupFolder(mounts, own)
		if got != want || ok != (want != "") {
			t.Errorf("%q: %q %v, want %q", own, got, ok, want)
		}
	}
	if got, ok := groupFolder("30 25 0:26 /kubepods/a /sys/fs/cgroup rw - cgroup2 cgroup rw\n", "0::/kubepods/a/b\n"); !ok || got != "/sys/fs/cgroup/b" {
		t.Errorf("%q %v", got, ok)
	}
	if _, ok := groupFolder("30 25 0:26 /kubepods/a /sys/fs/cgroup rw - cgroup2 cgroup rw\n", "0::/other\n"); ok {
		t.Error("a group outside the mount was found")
	}
}

// A tree of plain files shows what is written where; whether the kernel obeys can only be seen
// on a host that hands a part of its tree to us.
func TestGroupIsSetUp(t *testing.T) {
	parent := t.TempDir()
	own := filepath.Join(parent, "session.scope")
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(parent, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if g := newCgroups(own); g.base != "" || g.why == "" {
		t.Errorf("no tree: %+v", g)
	}
	write("cgroup.procs", "")
	write("cgroup.subtree_control", "cpu pids\n")
	if g := newCgroups(own); g.base != "" || !strings.Contains(g.why, "memory") {
		t.Errorf("no memory controller: %+v", g)
	}
	write("cgroup.subtree_control", "cpu memory pids\n")
	if chooseIdentity().change {
		if g := newCgroups(own); g.base != "" || !strings.Contains(g.why, "not handed to us") {
			t.Errorf("root takes what was not handed to it: %+v", g)
		}
		base := filepath.Join(parent, "base")
		if err := os.Mkdir(base, 0o755); err != nil {
			t.Fatal(err)
		}
		checkGroup(t, cgroups{base: base})
		return
	}
	checkGroup(t, newCgroups(own))
}

func checkGroup(t *testing.T, c cgroups) {
	t.Helper()
	if c.counter == nil {
		c.counter = new(atomic.Int64)
	}
	g, err := c.add(4711, Limits{Memory: 1 << 20, Threads: 7}, 1<<10)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"memory.max": strconv.Itoa(1<<20 + 1<<10), "pids.max": "7", "cgroup.procs": "4711", "memory.oom.group": "1"} {
		if data, err := os.ReadFile(filepath.Join(g.dir, name)); err != nil || string(data) != want {
			t.Errorf("%s: %q %v, want %q", name, data, err, want)
		}
	}
	for text, want := range map[string]bool{"oom 0\noom_kill 0\n": false, "oom 2\noom_kill 1\n": true, "": false} {
		if err := os.WriteFile(filepath.Join(g.dir, "memory.events"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if g.overflowed() != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

// A host whose groups do not work is one without groups: the watch does the work, and the
// report says why.
func TestBrokenGroupsFallBack(t *testing.T) {
	program := attackProgram(t)
	m := mode{set: settings{noView: true, groups: &cgroups{base: filepath.Join(t.TempDir(), "gone"), counter: new(atomic.Int64)}}}
	belt := m.prepare(t, Spec{Program: program})
	for _, fence := range belt.Report().Fences {
		if fence.Name == fenceMemory && (!fence.Holds || !strings.Contains(fence.Detail, "watchdog")) {
			t.Errorf("%+v", fence)
		}
	}
	if out, exit := output(t, open(t, belt), Command{Args: []string{"environment"}}); exit.Code != 0 {
		t.Errorf("%q %+v", out, exit)
	}
}

// Where the unified tree is there, a real process is put into a real group and taken along.
func TestRealGroup(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("making a group needs root")
	}
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	own, _ := os.ReadFile("/proc/self/cgroup")
	dir, ok := groupFolder(string(mounts), string(own))
	if !ok {
		t.Skip("no unified control groups")
	}
	base, err := os.MkdirTemp(dir, groupPrefix+"test-")
	if err != nil {
		t.Skip("the control groups cannot be written: ", err)
	}
	c := cgroups{base: base, counter: new(atomic.Int64)}
	defer c.close()
	control, _ := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	if !strings.Contains(string(control), "memory") {
		t.Skip("the unified tree has no memory controller here")
	}
	if err := os.WriteFile(filepath.Join(base, "cgroup.subtree_control"), []byte("+memory +pids"), 0o644); err != nil {
		t.Skip("the memory controller is not handed to us: ", err)
	}
	m := mode{set: settings{groups: &c, noView: true}}
	belt := m.prepare(t, Spec{Program: attackProgram(t), Limits: Limits{Memory: 64 << 20}})
	out, exit := output(t, open(t, belt), Command{Args: []string{"memory"}})
	if exit.Cause != CauseMemory {
		t.Errorf("%q %+v", out, exit)
	}
}
