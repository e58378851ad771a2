package python

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func scientific() Capabilities {
	return Capabilities{
		Engine: "fake", Python: "3.15.0", Ready: true,
		Packages: []Package{
			{Name: "numpy", Version: "2.4.1", Modules: []string{"numpy"}},
			{Name: "Pillow", Version: "12.0.0", Modules: []string{"PIL"}},
			{Name: "python-dateutil", Version: "2.9", Modules: []string{"dateutil"}},
			{Name: "scikit-learn", Version: "1.8.0", Modules: []string{"sklearn"}},
			{Name: "typing-extensions", Version: "4.1", Modules: []string{"typing_extensions"}},
		},
		Limits: DefaultLimits(),
		Notes:  []string{"Threads and subprocesses do not exist here."},
	}
}

func TestDescriptionSaysWhatHolds(t *testing.T) {
	l := DefaultLimits()
	l.Timeout = 12 * time.Second
	got := Describe(scientific(), l)
	for _, want := range []string{
		"Python 3.15.0", "No network", "retrying is useless", "No state between calls", "12 seconds", "50000 characters", "512 MiB",
		"/workspace/input", "/workspace/output", "/tmp", "figures", "At most 16 files and figures, 512 KiB together", "- Threads and subprocesses do not exist here.\n",
		"numpy 2.4.1, Pillow 12.0.0 (import PIL), python-dateutil 2.9 (import dateutil), scikit-learn 1.8.0 (import sklearn), typing-extensions 4.1.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in:\n%s", want, got)
		}
	}
	if strings.Contains(got, "NOT SET UP") {
		t.Errorf("a ready engine is described as\n%s", got)
	}
}

func TestDescriptionOfAnEngineThatIsNotReady(t *testing.T) {
	c := scientific()
	c.Ready, c.NotReady = false, "run `sallyport setup --engine wasm`"
	if got := Describe(c, DefaultLimits()); !strings.HasPrefix(got, "NOT SET UP: every call fails until the operator has prepared this machine: run `sallyport setup --engine wasm`\n") {
		t.Error(got)
	}
	c.NotReady = ""
	if got := Describe(c, DefaultLimits()); !strings.Contains(got, "run `sallyport setup`") {
		t.Error(got)
	}
}

func TestDescriptionIsBounded(t *testing.T) {
	c := scientific()
	c.Packages = nil
	for i := range 60 {
		c.Packages = append(c.Packages, Package{Name: fmt.Sprintf("some-package-%d", i), Version: "1.2.3"})
	}
	if got := Describe(c, DefaultLimits()); !strings.Contains(got, "some-package-59 1.2.3") || utf8.RuneCountInString(got) > maxDescription {
		t.Errorf("%d characters:\n%s", utf8.RuneCountInString(got), got)
	}
	for i := range 1000 {
		c.Packages = append(c.Packages, Package{Name: fmt.Sprintf("some-other-package-%d", i), Version: "1.2.3"})
		c.Notes = append(c.Notes, strings.Repeat("日", 1000)+"\n- a forged \x1b line")
	}
	c.NotReady, c.Ready = strings.Repeat("x", 10_000), false
	got := Describe(c, DefaultLimits())
	if n := utf8.RuneCountInString(got); n > maxDescription || !strings.HasSuffix(got, " more.") {
		t.Errorf("%d characters, ending in %q", n, got[len(got)-50:])
	}
	if strings.Contains(got, "\n- a forged") || strings.Contains(got, "\x1b") || strings.Contains(got, "1.2.3") {
		t.Errorf("not cleaned:\n%s", got)
	}
}

func TestDescriptionWithoutPackages(t *testing.T) {
	if got := Describe(Capabilities{Ready: true}, DefaultLimits()); !strings.Contains(got, "Packages: the standard library only.") {
		t.Error(got)
	}
}
