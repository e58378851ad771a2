package main

import (
	"math"
	"slices"
	"time"
)

// quantile of sorted values, by the nearest rank: every number that is printed was measured.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	i := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[min(max(i, 0), len(sorted)-1)]
}

// A latency sums up the calls of one rival and one script. Times are in seconds.
type latency struct {
	Script string  `json:"script"`
	Rival  string  `json:"rival"`
	Calls  int     `json:"calls"`
	Min    float64 `json:"min_s"`
	P25    float64 `json:"p25_s"`
	Median float64 `json:"median_s"`
	P75    float64 `json:"p75_s"`
	P95    float64 `json:"p95_s"`
	Max    float64 `json:"max_s"`
	// CPU is the mean processor time of a call, kernel included, or -1 where the system does not tell.
	CPU float64 `json:"cpu_s"`
}

func summed(script, rival string, times []time.Duration, cpu float64) latency {
	times = slices.Sorted(slices.Values(times))
	at := func(q float64) float64 { return quantile(times, q).Seconds() }
	return latency{
		Script: script, Rival: rival, Calls: len(times),
		Min: at(0), P25: at(0.25), Median: at(0.5), P75: at(0.75), P95: at(0.95), Max: at(1), CPU: cpu,
	}
}
