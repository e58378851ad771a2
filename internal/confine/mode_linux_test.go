package confine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// modes are the belts that the tests run under, those that this host can make.
func modes() []mode {
	return []mode{
		{name: "view"},
		{name: "landlock", set: settings{noView: true}},
	}
}

// eachMode runs a test under each belt.
func eachMode(t *testing.T, f func(t *testing.T, m mode)) {
	for _, m := range modes() {
		t.Run(m.name, func(t *testing.T) {
			if _, err := landlockABI(); err != nil {
				t.Skip("no Landlock here: ", err)
			}
			if m.name == "view" && !canView() {
				t.Skip("no private view here")
			}
			f(t, m)
		})
	}
}

var canView = sync.OnceValue(func() bool {
	v, err := newView(nil, nil)
	v.close()
	return err == nil
})

var buildAttack = sync.OnceValues(func() (string, error) {
	path := filepath.Join(probeFolder, "attack")
	command := exec.Command("go", "build", "-buildvcs=false", "-o", path, "./testdata/attack")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// attackProgram is native code that tries what a belt must stop.
func attackProgram(t testing.TB) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command to build the probe with")
	}
	path, err := buildAttack()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// output runs a command in a box and returns what it printed and how it ended.
func output(t testing.TB, box *Box, cmd Command) (string, Exit) {
	t.Helper()
	process, read := begin(t, box, cmd)
	out := read()
	return out, process.Wait()
}

// begin starts a command with its output in a pipe; read returns all of it.
func begin(t testing.TB, box *Box, cmd Command) (process *Process, read func() string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = w, w
	process, err = box.Start(cmd)
	w.Close()
	if err != nil {
		r.Close()
		t.Fatal(err)
	}
	return process, func() string {
		defer r.Close()
		out, err := io.ReadAll(r)
		if err != nil {
			t.Error(err)
		}
		return string(out)
	}
}

// awaitLine reads until the program has printed a line, so that it is known to run.
func awaitLine(t testing.TB, r io.Reader) string {
	t.Helper()
	var line bytes.Buffer
	one := make([]byte, 1)
	for !strings.HasSuffix(line.String(), "\n") {
		if _, err := io.ReadFull(r, one); err != nil {
			t.Fatalf("after %q: %v", line.String(), err)
		}
		line.Write(one)
	}
	return line.String()
}

func open(t testing.TB, belt *Belt) *Box {
	t.Helper()
	box, err := belt.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
	return box
}

// attackBelt is a belt around the attack program with one scratch folder.
func attackBelt(t testing.TB, m mode, change func(*Spec)) *Belt {
	t.Helper()
	spec := Spec{Program: attackProgram(t), Scratch: []Scratch{{Name: "work", Bytes: 4 << 20, Files: 200}}}
	if change != nil {
		change(&spec)
	}
	return m.prepare(t, spec)
}

// exitStatus of a plain run.
func exitStatus(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		return -1
	}
	return 0
}
