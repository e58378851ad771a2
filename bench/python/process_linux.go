package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of times in /proc. It is 1/100 s on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// A stat is the part of /proc/PID/stat that we need.
type stat struct {
	parent                     int
	user, system               int64 // ticks
	childrenUser, childrenKern int64 // of children that have ended and were waited for
	faults, childrenFaults     int64 // minor ones
}

func readStat(pid int) (stat, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, err
	}
	// The name may hold anything, so fields count from the last parenthesis; it is field 2.
	i := bytes.LastIndexByte(raw, ')')
	fields := strings.Fields(string(raw[i+1:]))
	if i < 0 || len(fields) < 15 {
		return stat{}, fmt.Errorf("reading /proc/%d/stat: it is too short", pid)
	}
	number := func(field int) int64 {
		n, _ := strconv.ParseInt(fields[field-3], 10, 64)
		return n
	}
	return stat{
		parent: int(number(4)), faults: number(10), childrenFaults: number(11),
		user: number(14), system: number(15), childrenUser: number(16), childrenKern: number(17),
	}, nil
}

// tree is the process and all that descend from it.
func tree(root int) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	children := map[int][]int{}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if s, err := readStat(pid); err == nil {
				children[s.parent] = append(children[s.parent], pid)
			}
		}
	}
	pids := []int{root}
	for i := 0; i < len(pids); i++ {
		pids = append(pids, children[pids[i]]...)
	}
	return pids
}

// treeTime is the processor time of a process, its descendants, and those that have ended.
func treeTime(root int) (time.Duration, bool) {
	w := treeWork(root)
	return w.Own + w.Calls, w.Own+w.Calls > 0
}

// A work is where a server's processor time went, and its page faults.
type work struct {
	Own, Calls         time.Duration // the server itself; processes of calls that have ended
	CallsKernel        time.Duration
	Faults, CallFaults int64
}

func treeWork(root int) work {
	var w work
	for _, pid := range tree(root) {
		s, err := readStat(pid)
		if err != nil {
			continue
		}
		w.Own += time.Duration(s.user+s.system) * tick
		w.Calls += time.Duration(s.childrenUser+s.childrenKern) * tick
		w.CallsKernel += time.Duration(s.childrenKern) * tick
		w.Faults += s.faults
		w.CallFaults += s.childrenFaults
	}
	return w
}

// sumTrees adds up the memory of process trees. It is false when one of them may not be read.
func sumTrees(roots []int) (footprint, bool) {
	var sum footprint
	for _, root := range roots {
		for _, pid := range tree(root) {
			raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
			if os.IsPermission(err) {
				return sum, false
			}
			lines := bufio.NewScanner(bytes.NewReader(raw)) // empty when it has just ended
			for lines.Scan() {
				fields := strings.Fields(lines.Text())
				if len(fields) != 3 {
					continue
				}
				kib, err := strconv.ParseInt(fields[1], 10, 64)
				if err != nil {
					continue
				}
				switch fields[0] {
				case "Rss:":
					sum.RSS += kib << 10
				case "Pss:":
					sum.PSS += kib << 10
				case "Private_Clean:", "Private_Dirty:":
					sum.Private += kib << 10
				}
			}
		}
	}
	return sum, true
}

// load is the load average: how many processes wanted to run in the last minute.
func load() string {
	raw, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(raw), " ")
	return first
}

func processor() string {
	raw, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(raw)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func kernel() string {
	raw, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}
