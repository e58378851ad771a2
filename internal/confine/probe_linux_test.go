package confine

import (
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

func TestProbe(t *testing.T) {
	for _, program := range []string{attackProgram(t), ""} {
		report := Probe(t.Context(), program)
		t.Log(report.Summary())
		for _, name := range []string{fenceLandlock, fenceSeccomp, fenceSeal, fenceIdentity, fenceLimits, fenceMemory, fenceScratch, fenceDeath} {
			if !report.Holds(name) {
				t.Errorf("%q: %s does not hold: %+v", program, name, report)
			}
		}
		if canView() && !report.Holds(fenceView) {
			t.Errorf("%q: no private view: %+v", program, report)
		}
	}
	report := Probe(t.Context(), filepath.Join(t.TempDir(), "absent"))
	if len(report.Missing()) != 1 || report.Missing()[0].Why == "" || report.Holds(fenceSeccomp) {
		t.Errorf("a program that is not there: %+v", report)
	}
}

// A fence that was asked for and is not there must be found out by the acts.
func TestProofsFail(t *testing.T) {
	program := attackProgram(t)
	spec := Spec{Program: program, Scratch: []Scratch{{Name: "work", Bytes: 1 << 20, Files: 10}}}
	pass := []unix.SockFilter{ret(retAllow)}
	for name, spoil := range map[string]func(*host){
		fenceSeccomp:  func(h *host) { h.filter = pass },
		fenceSeal:     func(h *host) { h.filter = pass },
		fenceLandlock: func(h *host) { h.binds = append(h.binds, bind{source: "/", target: "/", folder: true}) },
		fenceIdentity: func(h *host) { h.id.uid, h.id.change = h.id.uid+1, false },
	} {
		t.Run(name, func(t *testing.T) {
			belt := modes()[1].prepare(t, spec)
			h := belt.host
			spoil(&h)
			failed, err := h.rehearse(spec)
			if err != nil {
				t.Fatal(err)
			}
			report := Report{Fences: slices.Clone(belt.Report().Fences)}
			report.disprove(failed)
			if report.Holds(name) || len(report.Missing()) == 0 {
				t.Errorf("an open fence was not found out: %v %+v", failed, report)
			}
		})
	}
}
