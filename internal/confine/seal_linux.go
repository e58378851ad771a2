package confine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A puppet is a program that was stopped by exec, before the first instruction of its loader.
// Through ptrace we let it make a few system calls in its own name: close what it inherited,
// install its filter. The filter can then deny fork and exec as well, which a filter that the
// starting thread carries must allow; and limits that we set meanwhile are in place before the
// program runs. All calls must come from the thread that started the program.
type puppet struct {
	pid   int
	saved registers
	code  []byte // what stood at the program counter
}

// scratchBelowStack is how far below the stack pointer arguments are put. The kernel keeps the
// stack of a new program mapped far beyond that, and nothing has been called yet.
const scratchBelowStack = 32 << 10

// takePuppet waits for the stop of a program that was started under trace.
func takePuppet(pid int) (*puppet, error) {
	if err := awaitTrap(pid); err != nil {
		return nil, err
	}
	// Our end ends the program even if the death signal were lost.
	if err := unix.PtraceSetOptions(pid, unix.PTRACE_O_EXITKILL); err != nil {
		return nil, fmt.Errorf("setting trace options: %w", err)
	}
	p := &puppet{pid: pid, code: make([]byte, len(callAndTrap))}
	if err := p.saved.get(pid); err != nil {
		return nil, fmt.Errorf("reading registers: %w", err)
	}
	if _, err := unix.PtracePeekText(pid, p.saved.counter(), p.code); err != nil {
		return nil, fmt.Errorf("reading code: %w", err)
	}
	if _, err := unix.PtracePokeText(pid, p.saved.counter(), callAndTrap); err != nil {
		return nil, fmt.Errorf("writing code: %w", err)
	}
	return p, nil
}

// call makes one system call in the program.
func (p *puppet) call(number int, args ...uintptr) (uintptr, error) {
	regs := p.saved
	regs.setCall(number, args)
	if err := regs.set(p.pid); err != nil {
		return 0, fmt.Errorf("writing registers: %w", err)
	}
	if err := unix.PtraceCont(p.pid, 0); err != nil {
		return 0, fmt.Errorf("continuing: %w", err)
	}
	if err := awaitTrap(p.pid); err != nil {
		return 0, err
	}
	if err := regs.get(p.pid); err != nil {
		return 0, fmt.Errorf("reading registers: %w", err)
	}
	result := int64(regs.result())
	if result < 0 && result >= -4095 {
		return 0, unix.Errno(-result)
	}
	return uintptr(result), nil
}

// arguments is where data for a call is put.
func (p *puppet) arguments() uintptr { return (p.saved.stack() - scratchBelowStack) &^ 63 }

// put writes data where arguments may lie and returns its address. Each call overwrites the last.
func (p *puppet) put(data []byte) (uintptr, error) {
	address := p.arguments()
	if len(data) > scratchBelowStack/2 {
		return 0, errors.New("too much data for a stopped program")
	}
	local := unix.Iovec{Base: &data[0]}
	local.SetLen(len(data))
	remote := unix.RemoteIovec{Base: address, Len: len(data)}
	if n, err := unix.ProcessVMWritev(p.pid, []unix.Iovec{local}, []unix.RemoteIovec{remote}, 0); err == nil && n == len(data) {
		return address, nil
	}
	// A word at a time, where the kernel was built without the quick way.
	if _, err := unix.PtracePokeData(p.pid, address, data); err != nil {
		return 0, fmt.Errorf("writing arguments: %w", err)
	}
	return address, nil
}

// A request is a system call for the program to make.
type request struct {
	what   string
	number int
	args   [4]uintptr
}

// seal closes inherited descriptors, lets an overlong file be an error instead of a death, and
// installs the filter.
func (p *puppet) seal(filter []unix.SockFilter) error {
	const action, header = 32, 16 // struct sigaction; struct sock_fprog: u16 length, padding, pointer
	base := p.arguments()
	data := make([]byte, action+header, action+header+len(filter)*int(unsafe.Sizeof(filter[0])))
	const ignore = 1 // SIG_IGN
	binary.NativeEndian.PutUint64(data, ignore)
	binary.NativeEndian.PutUint16(data[action:], uint16(len(filter)))
	binary.NativeEndian.PutUint64(data[action+8:], uint64(base+action+header))
	data = append(data, unsafe.Slice((*byte)(unsafe.Pointer(&filter[0])), len(filter)*int(unsafe.Sizeof(filter[0])))...)
	if _, err := p.put(data); err != nil {
		return err
	}
	return p.callAll([]request{
		// Descriptors that we were given without close-on-exec, by whoever started us, end here.
		{"closing inherited descriptors", unix.SYS_CLOSE_RANGE, [4]uintptr{3, uintptr(full)}},
		// RLIMIT_FSIZE sends SIGXFSZ, which kills and loses all output. Ignored, it is EFBIG.
		{"ignoring SIGXFSZ", unix.SYS_RT_SIGACTION, [4]uintptr{uintptr(unix.SIGXFSZ), base, 0, 8}},
		{"installing seccomp filter", unix.SYS_SECCOMP, [4]uintptr{unix.SECCOMP_SET_MODE_FILTER, 0, base + action}},
	})
}

// release puts everything back and lets the program run.
func (p *puppet) release() error {
	if _, err := unix.PtracePokeText(p.pid, p.saved.counter(), p.code); err != nil {
		return fmt.Errorf("restoring code: %w", err)
	}
	if err := p.saved.set(p.pid); err != nil {
		return fmt.Errorf("restoring registers: %w", err)
	}
	if err := unix.PtraceDetach(p.pid); err != nil {
		return fmt.Errorf("letting the program run: %w", err)
	}
	return nil
}

// awaitTrap waits until the program stands at a breakpoint. A signal from outside that reaches it
// before its first instruction is dropped: nobody else has business with it yet. A fault means
// that our own calls went wrong.
func awaitTrap(pid int) error {
	for {
		var status unix.WaitStatus
		_, err := unix.Wait4(pid, &status, unix.WALL|unix.WNOTHREAD, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return fmt.Errorf("waiting for the program to stop: %w", err)
		case status.Exited() || status.Signaled():
			return errEndedEarly
		}
		switch signal := status.StopSignal(); signal {
		case unix.SIGTRAP:
			return nil
		case unix.SIGSEGV, unix.SIGBUS, unix.SIGILL, unix.SIGFPE, unix.SIGSYS:
			return fmt.Errorf("the stopped program faulted: %v", signal)
		}
		if err := unix.PtraceCont(pid, 0); err != nil {
			return fmt.Errorf("continuing: %w", err)
		}
	}
}

// errEndedEarly means that the program is gone and its number was given up.
var errEndedEarly = errors.New("the program ended before it ran")
