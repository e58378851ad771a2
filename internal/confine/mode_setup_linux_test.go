package confine

import (
	"os"
	"os/exec"
	"testing"
)

// A mode is a way in which this host can make a belt.
type mode struct {
	name   string
	set    settings
	weaker bool
}

func plain(t testing.TB, program string, args []string) {
	t.Helper()
	if err := exec.Command(program, args...).Run(); err != nil {
		t.Fatal(err)
	}
}

// prepare makes a belt that is closed with the test. The runtime folder must be one that another
// user can pass through, which t.TempDir is not.
func (m mode) prepare(t testing.TB, spec Spec) *Belt {
	t.Helper()
	belt, err := m.try(t, spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { belt.Close() })
	return belt
}

func (m mode) try(t testing.TB, spec Spec) (*Belt, error) {
	t.Helper()
	if spec.Runtime == "" {
		spec.Runtime = openDir(t)
	}
	spec.AllowWeaker = spec.AllowWeaker || m.weaker
	return prepare(t.Context(), spec, m.set)
}

// openDir is a temporary folder that every user may enter.
func openDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "confine-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	return dir
}
