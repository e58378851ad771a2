package main

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"
)

// A report is all that a run found out; it is what -json prints.
type report struct {
	Host      host      `json:"host"`
	Runs      int       `json:"runs"`
	Versions  []version `json:"versions"`
	Missing   []absent  `json:"missing"` // rivals that did not take part
	Without   []absent  `json:"without"` // scripts that a rival could not run
	Latencies []latency `json:"latencies"`
	Memories  []memory  `json:"memories"`
	Rates     []rate    `json:"rates"`
	Phases    []phase   `json:"phases"`
	Aims      []aim     `json:"aims"`
}

type absent struct {
	Rival  string `json:"rival"`
	Reason string `json:"reason"`
}

type host struct {
	System     string `json:"system"`
	Kernel     string `json:"kernel"`
	Processor  string `json:"processor"`
	Processors int    `json:"processors"`
	Began      string `json:"began"`
	LoadBefore string `json:"load_before"`
	LoadAfter  string `json:"load_after"`
}

func hostNow() host {
	return host{
		System: runtime.GOOS + "/" + runtime.GOARCH, Kernel: kernel(), Processor: processor(), Processors: runtime.NumCPU(),
		Began: time.Now().UTC().Format(time.RFC3339), LoadBefore: load(),
	}
}

// print writes the report as tables in Markdown, ready for docs/performance.md.
func (r *report) print(w io.Writer) error {
	t := &tables{w: w}
	t.text("%s, %d processors (%s), kernel %s, began %s, load %s before and %s after; %d calls each.\n",
		r.Host.System, r.Host.Processors, r.Host.Processor, r.Host.Kernel, r.Host.Began, r.Host.LoadBefore, r.Host.LoadAfter, r.Runs)
	for i, v := range r.Versions {
		if i == 0 || r.Versions[i-1].Rival != v.Rival {
			t.text("\n- %s:", v.Rival)
		}
		t.text(" %s %s;", v.Part, v.Version)
	}
	t.text("\n")
	for _, a := range append(r.Missing, r.Without...) {
		t.text("- %s: %s\n", a.Rival, a.Reason)
	}

	t.table("Latency", "script", "rival", "calls", "median", "p25–p75", "p95", "min", "CPU a call", "stdio is faster by")
	for _, l := range r.Latencies {
		t.row(l.Script, l.Rival, fmt.Sprint(l.Calls), duration(l.Median), duration(l.P25)+"–"+duration(l.P75), duration(l.P95), duration(l.Min), duration(l.CPU), r.versus(l))
	}
	t.table("Memory of a running call, two at once", "script", "rival", "RSS", "PSS", "private", "RSS that stays between calls")
	for _, m := range r.Memories {
		t.row(m.Script, m.Rival, size(m.Call.RSS), size(m.Call.PSS), size(m.Call.Private), size(m.Idle.RSS))
	}
	t.rates(r.Rates)
	t.table("Where our time goes", "script", "way", "total", "tools/list", "before the first line", "the script", "after its last line", "process, by the server", "CPU server", "CPU process", "of it kernel", "page faults")
	for _, p := range r.Phases {
		t.row(p.Script, p.Rival, duration(p.Total), duration(p.List), duration(p.Before), duration(p.Body), duration(p.After), duration(p.Process), duration(p.ServerCPU), duration(p.ProcessCPU), duration(p.KernelCPU), fmt.Sprint(p.Faults))
	}
	t.table("Aims, over stdio", "aim", "wanted", "measured", "")
	for _, a := range r.Aims {
		t.row(a.Text, fmt.Sprintf("%g", a.Want), fmt.Sprintf("%.1f", a.Ratio), map[bool]string{true: "met", false: "MISSED"}[a.Met])
	}
	return t.end()
}

// versus compares medians; below 1 it is our loss.
func (r *report) versus(l latency) string {
	for _, us := range r.Latencies {
		if us.Script == l.Script && us.Rival == "stdio" && l.Rival != "stdio" && us.Median > 0 {
			return fmt.Sprintf("%.2f", l.Median/us.Median)
		}
	}
	return ""
}

// tables writes Markdown and keeps the first error.
type tables struct {
	w    io.Writer
	rows *tabwriter.Writer
	err  error
}

func (t *tables) text(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format, args...)
	}
}

func (t *tables) table(title string, columns ...string) {
	t.flush()
	t.text("\n## %s\n\n", title)
	t.rows = tabwriter.NewWriter(t.w, 0, 4, 1, ' ', 0)
	t.row(columns...)
	t.row(strings.Split(strings.Repeat("---,", len(columns)-1)+"---", ",")...)
}

func (t *tables) row(cells ...string) {
	if t.err == nil {
		_, t.err = fmt.Fprintln(t.rows, "| "+strings.Join(cells, "\t| ")+"\t|")
	}
}

func (t *tables) flush() {
	if t.rows != nil && t.err == nil {
		t.err = t.rows.Flush()
	}
	t.rows = nil
}

func (t *tables) end() error {
	t.flush()
	return t.err
}

// rates has a column for each number of clients.
func (t *tables) rates(all []rate) {
	t.table("Calls per second, by clients that wait for their answers", "script", "rival", "1", "2", "4", "8")
	for i := range all {
		first := all[i]
		if first.Clients != 1 {
			continue
		}
		cells := []string{first.Script, first.Rival}
		for _, r := range all {
			if r.Script == first.Script && r.Rival == first.Rival {
				cells = append(cells, fmt.Sprintf("%.1f", r.PerSec))
			}
		}
		t.row(cells...)
	}
}

func duration(seconds float64) string {
	switch {
	case seconds < 0 || math.IsNaN(seconds):
		return "unknown"
	case seconds >= 1:
		return fmt.Sprintf("%.2f s", seconds)
	case seconds >= 0.1:
		return fmt.Sprintf("%.0f ms", seconds*1e3)
	case seconds >= 0.001:
		return fmt.Sprintf("%.1f ms", seconds*1e3)
	}
	return fmt.Sprintf("%.0f µs", seconds*1e6)
}

func size(bytes int64) string { return fmt.Sprintf("%.0f MB", float64(bytes)/1e6) }
