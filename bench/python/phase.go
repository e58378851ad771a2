package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A phase says where the time of a call through MCP goes. Medians, in seconds; the script itself tells
// when its first and its last line ran, by the same clock.
type phase struct {
	Script string  `json:"script"`
	Rival  string  `json:"rival"`
	Total  float64 `json:"total_s"`
	// List is a round trip through client, transport and envelope that runs nothing (tools/list; ping is
	// no method of the newest protocol).
	List float64 `json:"list_s"`
	// Before: the request, the belt, the start of the runtime and of the script.
	Before float64 `json:"before_s"`
	Body   float64 `json:"body_s"`
	// After: exit handlers, report, end of the process, collecting files, the answer.
	After float64 `json:"after_s"`
	// Process is from the start of the runtime to its end, by the server's clock, in whole milliseconds
	// (hence the mean).
	Process float64 `json:"process_s"`
	// Processor time of a call: the server's own and that of the call's process, of which kernel.
	ServerCPU  float64 `json:"server_cpu_s"`
	ProcessCPU float64 `json:"process_cpu_s"`
	KernelCPU  float64 `json:"process_kernel_cpu_s"`
	Faults     int64   `json:"process_page_faults"`
}

func (m *meter) phases(ctx context.Context, scripts []script) error {
	for _, s := range scripts {
		for _, x := range m.rivals {
			u, ok := x.(*ours)
			if !ok {
				continue
			}
			fmt.Fprintf(m.progress, "phases of %s on %s\n", s.name, u.name)
			runs := m.options.runs
			if m.slow(s, u.name) {
				runs = min(runs, m.options.slowRuns)
			}
			p, err := u.phases(ctx, s, runs)
			if err != nil {
				return fmt.Errorf("timing %s on %s: %w", s.name, u.name, err)
			}
			m.report.Phases = append(m.report.Phases, p)
		}
	}
	return nil
}

// slow tells whether the measured calls took more than a second.
func (m *meter) slow(s script, rival string) bool {
	for _, l := range m.report.Latencies {
		if l.Script == s.name && l.Rival == rival {
			return l.Median > 1
		}
	}
	return false
}

func (u *ours) phases(ctx context.Context, s script, runs int) (phase, error) {
	timed := s.timed()
	var total, list, before, body, after []time.Duration
	var process int64
	time.Sleep(settle)
	start := treeWork(u.server.Process.Pid)
	for range runs {
		sent := time.Now()
		a, err := u.ask(ctx, timed)
		received := time.Now()
		if err != nil {
			return phase{}, err
		}
		first, last, err := stamps(a.Stdout)
		if err != nil {
			return phase{}, err
		}
		total = append(total, received.Sub(sent))
		before = append(before, first.Sub(sent))
		body = append(body, last.Sub(first))
		after = append(after, received.Sub(last))
		process += a.DurationMS
		time.Sleep(settle)
	}
	end := treeWork(u.server.Process.Pid)
	for range runs {
		sent := time.Now()
		if _, err := u.session.ListTools(ctx, nil); err != nil {
			return phase{}, err
		}
		list = append(list, time.Since(sent))
	}
	median := func(all []time.Duration) float64 { return quantile(slices.Sorted(slices.Values(all)), 0.5).Seconds() }
	n := float64(runs)
	return phase{
		Script: s.name, Rival: u.name,
		Total: median(total), List: median(list), Before: median(before), Body: median(body), After: median(after),
		Process:    float64(process) / n / 1000,
		ServerCPU:  (end.Own - start.Own).Seconds() / n,
		ProcessCPU: (end.Calls - start.Calls).Seconds() / n,
		KernelCPU:  (end.CallsKernel - start.CallsKernel).Seconds() / n,
		Faults:     (end.CallFaults - start.CallFaults) / int64(runs),
	}, nil
}

// stamps reads the last line of a timed script.
func stamps(out string) (first, last time.Time, err error) {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var a, b int64
	if _, err := fmt.Sscan(lines[len(lines)-1], &a, &b); err != nil {
		return first, last, fmt.Errorf("the script printed no times: %w", err)
	}
	return time.Unix(0, a), time.Unix(0, b), nil
}
