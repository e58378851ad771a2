package confine

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A trial is one attack. The arguments in braces are filled in: {victim} is a read-only entry as
// the program sees it, {host} the same file by its host path, {secret} a host file that was not
// shown, {work} the scratch folder, {pid} and {tid} a victim, {socket} a socket that we hold.
type trial struct {
	name string
	args string

	landlock   bool // Landlock alone does not stop it (docs/belt.md says so)
	privileged bool // without the belt it works for root only
	absent     bool // it cannot work on every host, so there is nothing to see without the belt
}

var trials = []trial{
	{name: "read", args: "{secret}"},
	{name: "read", args: "/etc/hostname", absent: true},
	{name: "read by link", args: "{secret} {work}"},
	{name: "list", args: "/proc"},
	{name: "list", args: "{folder}/.."},
	{name: "stat", args: "{secret}", landlock: true},
	{name: "chdir", args: "{secret}", landlock: true},
	{name: "write", args: "{victim}"},
	{name: "write", args: "{host}"},
	{name: "write", args: "{folder}/inside"},
	{name: "truncate", args: "{victim}"},
	{name: "truncate open", args: "{victim}"},
	{name: "utime", args: "{victim}"},
	{name: "utime", args: "{host}"},
	{name: "futime", args: "{victim}"},
	{name: "utime", args: "{folder}/inside"},
	{name: "chmod", args: "{victim}"},
	{name: "fchmod", args: "{victim}"},
	{name: "chown", args: "{victim}"},
	{name: "setxattr", args: "{victim}"},
	{name: "flock", args: "{victim}"},
	{name: "read lock", args: "{victim}"},
	{name: "link", args: "{victim} {work}", absent: true},
	{name: "rename", args: "{folder}/inside"},
	{name: "unlink", args: "{folder}/inside"},
	{name: "create", args: "{folder}/inside"},
	{name: "create", args: "{secret}"},
	{name: "run from scratch", args: "/ {work}"},
	{name: "fifo", args: "/ {work}"},

	{name: "kill", args: "{pid}"},
	{name: "kill", args: "{us}"},
	{name: "tgkill", args: "{us} {tid}"},
	{name: "tkill", args: "{us} {tid}"},
	{name: "environ", args: "{pid}"},
	{name: "environ", args: "{us}"},
	{name: "memory file", args: "{pid}"},
	{name: "descriptor of another", args: "{pid}"},
	{name: "process_vm_readv", args: "{pid}"},
	{name: "pidfd_open", args: "{us}"},
	{name: "ptrace", args: "{pid}"},
	{name: "connect abstract", args: "0 {abstract}"},
	{name: "connect path", args: "0 {socket}"},
	{name: "datagram pair", args: "0 {datagram}"},
	{name: "stream pair then send", args: ""},
	{name: "parent death", args: ""},
	{name: "fork", args: ""},
	{name: "start a program", args: ""},
	{name: "exec", args: ""},
	{name: "exec again", args: "{program}"},
	{name: "execveat memory", args: "", absent: true},
	{name: "inet", args: ""},
	{name: "netlink", args: ""},

	{name: "mount", args: "", privileged: true},
	{name: "unshare", args: "", privileged: true},
	{name: "user namespace", args: "", absent: true},
	{name: "clone3", args: "", absent: true},
	{name: "setns", args: ""},
	{name: "bpf", args: "", privileged: true},
	{name: "add_key", args: "", absent: true},
	{name: "keyctl", args: "", absent: true},
	{name: "io_uring_setup", args: "", absent: true},
	{name: "perf_event_open", args: "", privileged: true},
	{name: "userfaultfd", args: "", absent: true},
	{name: "memfd_create", args: ""},
	{name: "open_by_handle_at", args: "", privileged: true},
	{name: "personality", args: ""},
	{name: "shmget", args: "", absent: true},
	{name: "chroot", args: "", privileged: true},
	{name: "setuid", args: "", privileged: true},
	{name: "setgroups", args: "", privileged: true},
	{name: "raise a limit", args: ""},
	{name: "landlock", args: "", absent: true},
	{name: "terminal", args: "", absent: true},
	{name: "x32", args: "", absent: true},
	{name: "unknown call", args: "", absent: true},
	{name: "capabilities", args: "", privileged: true},
}

// A scene is what the attacks aim at.
type scene struct {
	dir      string
	replacer map[string]string
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{dir: openDir(t)}
	s.restore(t)
	listen := func(network, address string) {
		if network == "unixgram" {
			l, err := net.ListenUnixgram(network, &net.UnixAddr{Name: address, Net: network})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { l.Close() })
			return
		}
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
	}
	abstract := fmt.Sprintf("confine-%d-%s", os.Getpid(), filepath.Base(s.dir))
	listen("unix", "@"+abstract)
	listen("unixgram", "@"+abstract+"-d")
	listen("unix", filepath.Join(s.dir, "socket"))
	os.Chmod(filepath.Join(s.dir, "socket"), 0o777)
	s.replacer = map[string]string{
		"{abstract}": abstract, "{datagram}": abstract + "-d", "{socket}": filepath.Join(s.dir, "socket"),
		"{secret}": filepath.Join(s.dir, "secret"), "{host}": filepath.Join(s.dir, "victim"), "{us}": strconv.Itoa(os.Getpid()),
	}
	return s
}

// restore brings the files back that an attack without a belt has changed.
func (s *scene) restore(t *testing.T) {
	t.Helper()
	os.RemoveAll(filepath.Join(s.dir, "folder"))
	os.RemoveAll(filepath.Join(s.dir, "scratch"))
	for _, dir := range []string{"folder", "scratch"} {
		if err := os.Mkdir(filepath.Join(s.dir, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"victim", "secret", "folder/inside"} {
		os.Remove(filepath.Join(s.dir, name))
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte("as it was"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// The hardest case: the program's user owns what it must not change.
	if id := chooseIdentity(); id.change {
		for _, name := range []string{".", "victim", "secret", "folder", "folder/inside"} {
			if err := os.Lchown(filepath.Join(s.dir, name), id.uid, id.gid); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// fill splits the arguments first: a name may have a blank.
func (s *scene) fill(args string, more map[string]string) []string {
	fields := strings.Fields(args)
	for i := range fields {
		for from, to := range s.replacer {
			fields[i] = strings.ReplaceAll(fields[i], from, to)
		}
		for from, to := range more {
			fields[i] = strings.ReplaceAll(fields[i], from, to)
		}
	}
	return fields
}

// fingerprint is all that an attack could change of the files.
func (s *scene) fingerprint(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, name := range []string{".", "victim", "secret", "folder", "folder/inside"} {
		var stat unix.Stat_t
		if err := unix.Lstat(filepath.Join(s.dir, name), &stat); err != nil {
			fmt.Fprintln(&b, name, err)
			continue
		}
		data, _ := os.ReadFile(filepath.Join(s.dir, name))
		size, _ := unix.Listxattr(filepath.Join(s.dir, name), nil)
		fmt.Fprintln(&b, name, stat.Mode, stat.Uid, stat.Gid, stat.Nlink, stat.Mtim, stat.Size, size, string(data))
	}
	return b.String()
}

// The victim is another confined process: same user, same kind of belt.
func victim(t *testing.T, belt *Belt) *Process {
	t.Helper()
	box := open(t, belt)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	process, err := box.Start(Command{Args: []string{"sleep", "600000"}, Stdout: w})
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	awaitLine(t, r)
	return process
}

func TestAttacksFail(t *testing.T) {
	eachMode(t, func(t *testing.T, m mode) {
		s := newScene(t)
		belt := attackBelt(t, m, func(spec *Spec) {
			spec.ReadOnly = map[string]string{"victim": filepath.Join(s.dir, "victim"), "folder": filepath.Join(s.dir, "folder")}
		})
		other := victim(t, belt)
		before := s.fingerprint(t)
		for _, trial := range trials {
			t.Run(trial.name+" "+trial.args, func(t *testing.T) {
				box := open(t, belt)
				tid := 0
				box.cell.thread.do(func() error { tid = unix.Gettid(); return nil })
				args := s.fill(trial.args, map[string]string{
					"{victim}": box.Path("victim"), "{folder}": box.Path("folder"), "{work}": box.Path("work"), "{program}": box.Path("program"),
					"{pid}": strconv.Itoa(other.PID()), "{tid}": strconv.Itoa(tid),
				})
				out, exit := output(t, box, Command{Args: append([]string{trial.name}, args...)})
				if trial.landlock && m.name == "landlock" {
					if exit.Code != 0 {
						t.Errorf("Landlock stops it after all: %q %+v; correct docs/belt.md", out, exit)
					}
					return
				}
				if exit.Code != 3 || !strings.Contains(out, "denied") {
					t.Errorf("not refused: %q %+v", out, exit)
				}
			})
		}
		if after := s.fingerprint(t); after != before {
			t.Errorf("files changed:\n%s\nwere:\n%s", after, before)
		}
		select {
		case <-other.Done():
			t.Errorf("the other process ended: %+v", other.Wait())
		default:
		}
	})
}

// Each attack works where no belt is, so the test above can fail.
func TestAttacksSucceedWithoutBelt(t *testing.T) {
	program := attackProgram(t)
	s := newScene(t)
	sleeper := exec.Command(program, "sleep", "600000")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		sleeper.Process.Kill()
		sleeper.Wait()
	}()
	ordinary := !chooseIdentity().change
	done := make(map[string]bool)
	for _, trial := range trials {
		if trial.absent || trial.privileged && ordinary {
			continue
		}
		t.Run(trial.name+" "+trial.args, func(t *testing.T) {
			s.restore(t)
			args := s.fill(trial.args, map[string]string{
				"{victim}": filepath.Join(s.dir, "victim"), "{folder}": filepath.Join(s.dir, "folder"), "{work}": filepath.Join(s.dir, "scratch"),
				"{program}": program, "{pid}": strconv.Itoa(sleeper.Process.Pid), "{tid}": strconv.Itoa(os.Getpid()),
			})
			out, err := exec.Command(program, append([]string{trial.name}, args...)...).CombinedOutput()
			// "exec again" runs the program once more, which then knows no such attack.
			if code := exitStatus(err); code != 0 && !(trial.name == "exec again" && code == 2) {
				t.Errorf("does not work without a belt either: %q %v", out, err)
			}
			done[trial.name] = true
		})
	}
	if len(done) < 30 {
		t.Errorf("only %d attacks were seen to work: %v", len(done), slices.Sorted(func(yield func(string) bool) {
			for name := range done {
				if !yield(name) {
					return
				}
			}
		}))
	}
}

// A belt must leave alone what runtimes need.
func TestProgramMaySignalItself(t *testing.T) {
	eachMode(t, func(t *testing.T, m mode) {
		out, exit := output(t, open(t, attackBelt(t, m, nil)), Command{Args: []string{"signal itself"}})
		if exit.Code != 0 {
			t.Errorf("%q %+v", out, exit)
		}
	})
}
