package confine

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestScratchQuota(t *testing.T) {
	m := modes()[0]
	if !canView() {
		t.Skip("no private view here")
	}
	belt := attackBelt(t, m, nil)
	box := open(t, belt)
	out, exit := output(t, box, Command{Args: []string{"fill", box.Path("work")}})
	if exit.Code != 3 || !strings.Contains(out, fmt.Sprintln("wrote", 4<<20)) || !strings.Contains(out, "ENOSPC") || !strings.Contains(out, "recovered true") {
		t.Errorf("fill: %q %+v", out, exit)
	}
	// What was left is read after the death of the program.
	if data, err := fs.ReadFile(box.Root("work").FS(), "again"); err != nil || string(data) != "ok" {
		t.Errorf("after death: %q %v", data, err)
	}
	box = open(t, belt)
	out, exit = output(t, box, Command{Args: []string{"many files", box.Path("work")}})
	if exit.Code != 3 || !strings.Contains(out, "made 200\n") || !strings.Contains(out, "ENOSPC") {
		t.Errorf("many files: %q %+v", out, exit)
	}
}

// Where scratch lies on the host's disk, the watch ends who takes too much.
func TestScratchQuotaByWatch(t *testing.T) {
	m := modes()[1]
	belt := attackBelt(t, m, func(s *Spec) { s.Limits.FileSize = 64 << 20 })
	for name, args := range map[string][]string{
		"bytes":              {"fill and wait", "", "8000000"},
		"bytes with no name": {"fill and wait", "", "8000000", "unlinked"},
		"files":              {"many files", ""},
		"depth":              {"deep", "", "150", "wait"},
	} {
		t.Run(name, func(t *testing.T) {
			box := open(t, belt)
			args[1] = box.Path("work")
			out, exit := output(t, box, Command{Args: args})
			if exit.Signal != syscall.SIGKILL || exit.Cause != CauseDisk {
				t.Errorf("%q %+v", out, exit)
			}
		})
	}
}

func TestFileSizeIsAnError(t *testing.T) {
	eachMode(t, func(t *testing.T, m mode) {
		belt := attackBelt(t, m, func(s *Spec) { s.Limits.FileSize = 1 << 20 })
		box := open(t, belt)
		out, exit := output(t, box, Command{Args: []string{"fill", box.Path("work")}})
		if exit.Code != 3 || !strings.Contains(out, fmt.Sprintln("wrote", 1<<20)) || !strings.Contains(out, "EFBIG") {
			t.Errorf("fill: %q %+v", out, exit)
		}
		box = open(t, belt)
		out, exit = output(t, box, Command{Args: []string{"sparse", box.Path("work")}})
		if exit.Code != 3 || !strings.Contains(out, "EFBIG") {
			t.Errorf("sparse: %q %+v", out, exit)
		}
	})
}

// The probe's own runtime handles the signal, so this takes a program that does not.
func TestFileSizeDoesNotKill(t *testing.T) {
	program := ""
	for _, path := range []string{"/bin/dd", "/usr/bin/dd"} {
		if _, err := os.Stat(path); err == nil {
			program = path
		}
	}
	if program == "" {
		t.Skip("no dd to write with")
	}
	eachMode(t, func(t *testing.T, m mode) {
		belt := m.prepare(t, Spec{Program: program, Scratch: []Scratch{{Name: "work", Bytes: 4 << 20, Files: 10}}, Limits: Limits{FileSize: 4096}})
		box := open(t, belt)
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(make([]byte, 20000)); err != nil {
			t.Fatal(err)
		}
		w.Close()
		defer r.Close()
		out, exit := output(t, box, Command{Args: []string{"of=" + box.Path("work") + "/x", "bs=1000"}, Stdin: r, Env: []string{"LC_ALL=C"}})
		if exit.Code != 1 || !strings.Contains(out, "File too large") {
			t.Errorf("%q %+v", out, exit)
		}
	})
}

func TestDescriptorsAndEnvironment(t *testing.T) {
	eachMode(t, func(t *testing.T, m mode) {
		// Somebody who starts us may leave descriptors open that do not close on exec.
		leak, err := unix.Open("/etc", unix.O_RDONLY|unix.O_DIRECTORY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(leak)
		t.Setenv("CONFINE_SECRET", "hunter2")
		belt := attackBelt(t, m, func(s *Spec) { s.Limits.OpenFiles = 40 })
		for _, env := range [][]string{nil, {"HOME=/nowhere", "A=b c"}} {
			out, exit := output(t, open(t, belt), Command{Args: []string{"environment"}, Env: env})
			if want := fmt.Sprintf("%q\nenvironment succeeded\n", append([]string{}, env...)); out != want || exit.Code != 0 {
				t.Errorf("environment: %q, want %q", out, want)
			}
		}
		// The probe's own runtime opens nothing at its start.
		if out, exit := output(t, open(t, belt), Command{Args: []string{"open descriptors"}}); !strings.HasPrefix(out, "open [0 1 2]\n") || exit.Code != 0 {
			t.Errorf("descriptors: %q %+v", out, exit)
		}
		if out, exit := output(t, open(t, belt), Command{Args: []string{"descriptors"}}); !strings.Contains(out, "dups 37\n") || !strings.Contains(out, "EMFILE") || exit.Code != 3 {
			t.Errorf("limit of descriptors: %q %+v", out, exit)
		}
	})
}

func TestOutgrownLimitsKill(t *testing.T) {
	limits := map[string]struct {
		args  []string
		set   func(*Limits)
		cause string
	}{
		"memory":  {[]string{"memory"}, func(l *Limits) { l.Memory = 100 << 20 }, CauseMemory},
		"cpu":     {[]string{"spin"}, func(l *Limits) { l.CPU = 200 * time.Millisecond }, CauseCPU},
		"threads": {[]string{"threads"}, func(l *Limits) { l.Threads = 40 }, CauseThreads},
	}
	eachMode(t, func(t *testing.T, m mode) {
		for name, limit := range limits {
			t.Run(name, func(t *testing.T) {
				belt := attackBelt(t, m, func(s *Spec) { limit.set(&s.Limits) })
				out, exit := output(t, open(t, belt), Command{Args: limit.args})
				if exit.Cause != limit.cause || exit.Signal == 0 || exit.Code != -1 {
					t.Errorf("%q %+v", out, exit)
				}
			})
		}
	})
}

// The kernel's own limit of processor time holds where the watch is too late.
func TestCPULimitWithoutWatch(t *testing.T) {
	m := modes()[1]
	belt := attackBelt(t, m, func(s *Spec) { s.Limits.CPU = time.Second })
	box := open(t, belt)
	process, read := begin(t, box, Command{Args: []string{"sleep", "60000"}})
	defer read()
	defer process.Kill()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", process.PID()))
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.Fields(string(data)), " ")
	for _, want := range []string{
		"Max cpu time 1 2 seconds", "Max core file size 0 0 bytes", "Max file size 5242880 5242880 bytes", "Max open files 256 256 files", "Max locked memory 0 0 bytes",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("limits lack %q: %s", want, data)
		}
	}
}

func TestStatusOfProcess(t *testing.T) {
	eachMode(t, func(t *testing.T, m mode) {
		box := open(t, attackBelt(t, m, nil))
		process, read := begin(t, box, Command{Args: []string{"sleep", "60000"}})
		defer read()
		defer process.Kill()
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", process.PID()))
		if err != nil {
			t.Fatal(err)
		}
		uid := chooseIdentity().uid
		for _, want := range []string{
			"NoNewPrivs:\t1", "Seccomp:\t2", "Seccomp_filters:\t1", "CapEff:\t0000000000000000", "CapPrm:\t0000000000000000", "CapInh:\t0000000000000000",
			fmt.Sprintf("Uid:\t%d\t%d\t%d\t%d", uid, uid, uid, uid), "TracerPid:\t0",
		} {
			if !strings.Contains(string(data), want+"\n") {
				t.Errorf("status lacks %q:\n%s", want, data)
			}
		}
		sid, err := unix.Getsid(process.PID())
		if err != nil || sid != process.PID() {
			t.Errorf("session %d %v, want its own", sid, err)
		}
	})
}

func TestExit(t *testing.T) {
	eachMode(t, func(t *testing.T, m mode) {
		belt := attackBelt(t, m, nil)
		if out, exit := output(t, open(t, belt), Command{Args: []string{"no such thing"}}); exit.Code != 2 || exit.Signal != 0 || exit.Cause != "" {
			t.Errorf("%q %+v", out, exit)
		}
		if out, exit := output(t, open(t, belt), Command{Args: []string{"abort"}}); exit.Code == 0 || exit.Cause != "" {
			t.Errorf("%q %+v", out, exit)
		}
		box := open(t, belt)
		process, read := begin(t, box, Command{Args: []string{"sleep", "60000"}})
		process.Kill()
		read()
		if exit := process.Wait(); exit.Signal != syscall.SIGKILL || exit.Code != -1 || exit.Cause != "" {
			t.Errorf("killed: %+v", exit)
		}
		process.Kill() // after the end: nothing
		if _, err := box.Start(Command{}); err == nil {
			t.Error("a box started twice")
		}
	})
}

func TestPut(t *testing.T) {
	eachMode(t, func(t *testing.T, m mode) {
		box := open(t, attackBelt(t, m, nil))
		if err := box.Put("work", "input/a/b.txt", []byte("hello")); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"../x", "/etc/x", "input/a/b.txt", ""} {
			if err := box.Put("work", name, nil); err == nil {
				t.Errorf("%q was written", name)
			}
		}
		// Replacing it needs the folder to be the program's own.
		out, exit := output(t, box, Command{Args: []string{"rename", filepath.Join(box.Path("work"), "input/a/b.txt")}})
		if exit.Code != 0 {
			t.Errorf("%q %+v", out, exit)
		}
		if data, err := fs.ReadFile(box.Root("work").FS(), "input/a/b.txt.moved"); err != nil || string(data) != "hello" {
			t.Errorf("%q %v", data, err)
		}
	})
}

// A soft limit of address space would keep engines from starting; it is lifted for the program.
func TestAddressSpace(t *testing.T) {
	if AddressSpace() != 0 {
		t.Skip("we are under a hard limit ourselves")
	}
	program := attackProgram(t)
	for name, limits := range map[string]struct{ shell, want, space string }{
		"none": {"true", "Max address space unlimited unlimited bytes", "0"},
		"soft": {"ulimit -S -v 8000000", "Max address space unlimited unlimited bytes", "0"},
		"hard": {"ulimit -v 8000000", "Max address space 8192000000 8192000000 bytes", "8192000000"},
	} {
		t.Run(name, func(t *testing.T) {
			command := actor(t, "limits", program, openDir(t))
			// The shell sets the limit and becomes the test program.
			command.Args = []string{"sh", "-c", limits.shell + ` && exec "$0" "$@"`, command.Path, program, openDir(t)}
			command.Path = "/bin/sh"
			out, err := command.CombinedOutput()
			got := strings.Join(strings.Fields(string(out)), " ")
			if err != nil || !strings.Contains(got, limits.want) || !strings.HasSuffix(got, "space "+limits.space) {
				t.Errorf("%s %v, want %q and %s", out, err, limits.want, limits.space)
			}
		})
	}
}
