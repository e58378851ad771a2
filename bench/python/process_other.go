//go:build !linux

package main

import "time"

// Elsewhere only clocks are read; the table then says that the rest is unknown.

// A work is where a server's processor time went, and its page faults.
type work struct {
	Own, Calls         time.Duration
	CallsKernel        time.Duration
	Faults, CallFaults int64
}

func treeWork(int) work                  { return work{} }
func treeTime(int) (time.Duration, bool) { return 0, false }
func sumTrees([]int) (footprint, bool)   { return footprint{}, false }
func load() string                       { return "" }
func processor() string                  { return "" }
func kernel() string                     { return "" }
