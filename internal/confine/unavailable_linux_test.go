package confine

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// On a host that lacks a fence nothing starts, and the message names the fence.
func TestMissingFenceIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("taking a system call away from ourselves needs root, of the host or of a namespace")
	}
	program := attackProgram(t)
	cases := map[string]struct {
		number   int
		errno    unix.Errno
		argument int
		want     []string
	}{
		"no landlock":          {unix.SYS_LANDLOCK_CREATE_RULESET, unix.ENOSYS, -1, []string{"belt unavailable: landlock:", "no Landlock"}},
		"landlock off":         {unix.SYS_LANDLOCK_CREATE_RULESET, unix.EOPNOTSUPP, -1, []string{"belt unavailable: landlock:", "lsm="}},
		"landlock denied":      {unix.SYS_LANDLOCK_CREATE_RULESET, unix.EPERM, -1, []string{"belt unavailable: landlock:", "seccomp profile"}},
		"restricting fails":    {unix.SYS_LANDLOCK_RESTRICT_SELF, unix.EPERM, -1, []string{"restricting thread by Landlock"}},
		"rule fails":           {unix.SYS_LANDLOCK_ADD_RULE, unix.EINVAL, -1, []string{"adding Landlock rule"}},
		"no new privileges":    {unix.SYS_PRCTL, unix.EINVAL, unix.PR_SET_NO_NEW_PRIVS, []string{"setting no_new_privs"}},
		"no seccomp":           {unix.SYS_SECCOMP, unix.ENOSYS, -1, []string{"belt unavailable:", "seccomp:"}},
		"filter refused":       {unix.SYS_SECCOMP, unix.EINVAL, unix.SECCOMP_SET_MODE_FILTER, []string{"belt unavailable: sealed start:", "installing seccomp filter"}},
		"no tracing":           {unix.SYS_PTRACE, unix.EPERM, -1, []string{"belt unavailable: sealed start:", "ptrace"}},
		"no close_range":       {unix.SYS_CLOSE_RANGE, unix.ENOSYS, -1, []string{"belt unavailable: sealed start:", "closing inherited descriptors"}},
		"capabilities stay":    {unix.SYS_CAPSET, unix.EPERM, -1, []string{"dropping capabilities"}},
		"limits cannot be set": {unix.SYS_PRLIMIT64, unix.EPERM, -1, []string{"limit"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			out, err := actor(t, "without", program, openDir(t), strconv.Itoa(c.number), strconv.Itoa(int(c.errno)), strconv.Itoa(c.argument)).CombinedOutput()
			if exitStatus(err) != 1 {
				t.Fatalf("%s: %v", out, err)
			}
			for _, want := range c.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("%q does not say %q", out, want)
				}
			}
		})
	}
	// The same program where nothing was taken away.
	out, err := actor(t, "without", program, openDir(t), "100000", "1", "-1").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "prepared ") {
		t.Errorf("%s: %v", out, err)
	}
}

// Without a right to mount, the belt goes on with Landlock and says so.
func TestNoViewIsReported(t *testing.T) {
	if !canView() {
		t.Skip("no private view here to take away")
	}
	program := attackProgram(t)
	out, err := actor(t, "without", program, openDir(t), strconv.Itoa(unix.SYS_UNSHARE), strconv.Itoa(int(unix.EPERM)), "-1").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "without: private view") {
		t.Errorf("%s: %v", out, err)
	}
}

func TestOldLandlockIsRefused(t *testing.T) {
	program := attackProgram(t)
	for abi := range landlockNeeded {
		m := mode{set: settings{noView: true, landlock: func() (int, error) { return abi, nil }}}
		_, err := m.try(t, Spec{Program: program})
		var unavailable *Unavailable
		if !errors.As(err, &unavailable) || !strings.Contains(err.Error(), "landlock: ABI "+strconv.Itoa(abi)+", need >= 3") {
			t.Errorf("ABI %d: %v", abi, err)
		}
	}
}

// What the operator allowed by name is done, and every report says so.
func TestWeakerBeltSaysSo(t *testing.T) {
	program := attackProgram(t)
	for name, m := range map[string]mode{
		"no seal":     {set: settings{noSeal: true, noView: true}, weaker: true},
		"no landlock": {set: settings{noView: true, landlock: func() (int, error) { return 0, errors.New("taken away") }}, weaker: true},
		"nothing":     {set: settings{noView: true, noSeal: true, landlock: func() (int, error) { return 1, nil }}, weaker: true},
	} {
		t.Run(name, func(t *testing.T) {
			belt := m.prepare(t, Spec{Program: program, Scratch: []Scratch{{Name: "work", Bytes: 1 << 20, Files: 10}}})
			if len(belt.Report().Missing()) == 0 || !strings.Contains(belt.Report().Summary(), "missing: ") {
				t.Errorf("nothing is missing: %s", belt.Report().Summary())
			}
			// What is left still holds.
			out, exit := output(t, open(t, belt), Command{Args: []string{"inet"}})
			if exit.Code != 3 || !strings.Contains(out, "EPERM") {
				t.Errorf("%q %+v", out, exit)
			}
			m.weaker = false
			var unavailable *Unavailable
			if _, err := m.try(t, Spec{Program: program}); !errors.As(err, &unavailable) {
				t.Errorf("not refused without the operator's word: %v", err)
			}
		})
	}
}

func TestPathsThatAreNotWhatTheyWere(t *testing.T) {
	program := attackProgram(t)
	m := modes()[1]
	dir := openDir(t)
	file := filepath.Join(dir, "file")
	write := func() {
		os.RemoveAll(file)
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.try(t, Spec{Program: program, ReadOnly: map[string]string{"file": file}}); err == nil {
		t.Error("a missing path was accepted")
	}
	write()
	for name, change := range map[string]func() error{
		"missing": func() error { return os.Remove(file) },
		"a link":  func() error { os.Remove(file); return os.Symlink("/etc", file) },
		"folder":  func() error { os.Remove(file); return os.Mkdir(file, 0o755) },
	} {
		write()
		belt := m.prepare(t, Spec{Program: program, ReadOnly: map[string]string{"file": file}})
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if box, err := belt.Open(t.Context()); err == nil {
			box.Close()
			t.Errorf("%s: opened", name)
		}
	}
	os.RemoveAll(file)
	if err := unix.Mkfifo(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := m.try(t, Spec{Program: program, ReadOnly: map[string]string{"file": file}}); err == nil {
		t.Error("a pipe was accepted as a file")
	}
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := m.try(t, Spec{Program: script}); err == nil {
		t.Error("a script was accepted as a program")
	}
	if os.Geteuid() == 0 && chooseIdentity().change {
		hidden := filepath.Join(dir, "hidden")
		if err := os.WriteFile(hidden, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, m := range modes() {
			if _, err := m.try(t, Spec{Program: program, ReadOnly: map[string]string{"hidden": hidden}}); err == nil || !strings.Contains(err.Error(), "let others read it") {
				t.Errorf("%s: a file that the program's user cannot read: %v", m.name, err)
			}
		}
	}
}
