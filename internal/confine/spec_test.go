package confine

import (
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestSpecIsChecked(t *testing.T) {
	program, err := filepath.Abs("program")
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Spec){
		"relative program":   func(s *Spec) { s.Program = "bin/x" },
		"relative file":      func(s *Spec) { s.ReadOnly = map[string]string{"a": "b"} },
		"climbing name":      func(s *Spec) { s.ReadOnly = map[string]string{"../a": program} },
		"hidden name":        func(s *Spec) { s.Scratch[0].Name = ".a" },
		"name with a slash":  func(s *Spec) { s.Scratch[0].Name = "a/b" },
		"empty name":         func(s *Spec) { s.Scratch[0].Name = "" },
		"long name":          func(s *Spec) { s.Scratch[0].Name = strings.Repeat("a", 65) },
		"name of us":         func(s *Spec) { s.Scratch[0].Name = "program" },
		"name twice":         func(s *Spec) { s.Scratch = append(s.Scratch, s.Scratch[0]) },
		"name of both kinds": func(s *Spec) { s.ReadOnly = map[string]string{"work": program} },
		"no bytes":           func(s *Spec) { s.Scratch[0].Bytes = 0 },
		"no files":           func(s *Spec) { s.Scratch[0].Files = 0 },
		"negative limit":     func(s *Spec) { s.Limits.CPU = -time.Second },
	} {
		spec := Spec{Program: program, Scratch: []Scratch{{Name: "work", Bytes: 1, Files: 1}}}
		if err := spec.check(); err != nil {
			t.Fatal(err)
		}
		change(&spec)
		if err := spec.check(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestReport(t *testing.T) {
	r := Report{Fences: []Fence{
		{Name: "a", Holds: true, Detail: "by b"}, {Name: "c", Why: "no c", Remedy: "get c"}, {Name: "d", Why: "no d", Spare: true},
	}}
	if got, want := r.Summary(), "a (by b); without: d; missing: c"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := (&Unavailable{Missing: r.Missing()}).Error(), "belt unavailable: c: no c (get c)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if r.Holds("c") || r.Holds("e") || !r.Holds("a") {
		t.Error("a fence that does not hold holds")
	}
	r.disprove(map[string]error{"a": errors.New("it is open")})
	if r.Holds("a") || !strings.Contains(r.Fences[0].Why, "it is open") {
		t.Errorf("%+v", r.Fences[0])
	}
	if got := (Report{}).Summary(); got != "none" {
		t.Errorf("%q", got)
	}
}

// Where the system has no fences, nothing starts without the operator's word.
func TestOtherSystemsRefuse(t *testing.T) {
	if runtime.GOOS == "linux" {
		t.Skip("this system has fences")
	}
	program, err := filepath.Abs("program")
	if err != nil {
		t.Fatal(err)
	}
	var unavailable *Unavailable
	if _, err := Open(t.Context(), Spec{Program: program}); !errors.As(err, &unavailable) {
		t.Errorf("not refused: %v", err)
	}
}
