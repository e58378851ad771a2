package confine

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A program's main goroutine may leave the first thread at any time; here it stays until told.
func init() { //nolint:gochecknoinits // only what runs before main runs on the first thread for sure
	if os.Getenv("CONFINE_TEST_ROLE") == "first" {
		runtime.LockOSThread()
	}
}

// leaveFirst lets the first thread take up the next goroutine, which is one that wants a thread
// for itself, and says whether it got this one.
func leaveFirst() int {
	runtime.UnlockOSThread()
	for range 200 {
		t := newThread()
		t.do(func() error {
			if unix.Gettid() == unix.Getpid() {
				fmt.Println("a box has the first thread")
			}
			return nil
		})
		t.end()
	}
	fmt.Println("done")
	return 0
}

// play is what the test program does when it is started again as something else. It prints one
// line that the test reads.
func play(role string, args []string) int {
	if role == "first" {
		return leaveFirst()
	}
	spec := Spec{Program: args[0], Runtime: args[1], Scratch: []Scratch{{Name: "work", Bytes: 1 << 20, Files: 100}}}
	switch role {
	case "server":
		return serve(spec, args[2], args[3])
	case "limits":
		return showLimits(spec)
	case "enter":
		return enter(spec, args[2])
	case "without":
		// A host on which a system call fails.
		number, errno, argument := atoi(args[2]), atoi(args[3]), atoi(args[4])
		if err := deny(number, errno, argument); err != nil {
			fmt.Println("broken:", err)
			return 2
		}
		belt, err := Prepare(context.Background(), spec)
		if err != nil {
			fmt.Println(strings.ReplaceAll(err.Error(), "\n", " "))
			return 1
		}
		fmt.Println("prepared", belt.Report().Summary())
		belt.Close()
	}
	return 0
}

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

// showLimits prints the limits of a confined process.
func showLimits(spec Spec) int {
	box, err := Open(context.Background(), spec)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer box.Close()
	process, err := box.Start(Command{Args: []string{"sleep", "60000"}})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", process.PID()))
	fmt.Println(string(data), err, "space", AddressSpace())
	return 0
}

// serve starts confined processes for ever: some end soon, so that starts are always under way.
func serve(spec Spec, modeName, token string) int {
	var m mode
	for _, each := range modes() {
		if each.name == modeName {
			m = each
		}
	}
	belt, err := prepare(context.Background(), spec, m.set)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("serving")
	for i := range 6 {
		millis := "20"
		if i%3 == 0 {
			millis = "60000"
		}
		go func() {
			for {
				box, err := belt.Open(context.Background())
				if err != nil {
					fmt.Println(err)
					os.Exit(1)
				}
				process, err := box.Start(Command{Args: []string{"sleep", millis, token}})
				if err != nil {
					fmt.Println(err)
					os.Exit(1)
				}
				process.Wait()
				box.Close()
			}
		}()
	}
	select {}
}

// deny makes one system call fail for the whole process. A negative argument means always.
func deny(number, errno, argument int) error {
	filter := []unix.SockFilter{
		load(offsetNumber),
		jump(unix.BPF_JEQ, uint32(number), 1, 0),
		ret(retAllow),
		load(offsetArgs),
		jump(unix.BPF_JEQ, uint32(argument), 1, 0),
		ret(retAllow),
		ret(unix.SECCOMP_RET_ERRNO | uint32(errno)),
	}
	if argument < 0 {
		filter[4] = jump(unix.BPF_JGE, 0, 1, 0)
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if os.Geteuid() != 0 {
		unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	}
	const everyThread = unix.SECCOMP_FILTER_FLAG_TSYNC
	if _, _, e := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, everyThread, uintptr(unsafe.Pointer(&prog))); e != 0 {
		return e
	}
	return nil
}

// actor is the test program in another role.
func actor(t testing.TB, role string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Skip("the test program does not know itself: ", err)
	}
	command := exec.Command(self, args...)
	command.Env = append(os.Environ(), "CONFINE_TEST_ROLE="+role)
	return command
}
