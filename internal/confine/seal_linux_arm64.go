package confine

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// callAndTrap is: svc #0; brk #0
var callAndTrap = []byte{0x01, 0x00, 0x00, 0xd4, 0x00, 0x00, 0x20, 0xd4}

type registers struct{ unix.PtraceRegs }

// This architecture has register sets only.
func (r *registers) get(pid int) error { return r.transfer(unix.PTRACE_GETREGSET, pid) }
func (r *registers) set(pid int) error { return r.transfer(unix.PTRACE_SETREGSET, pid) }

func (r *registers) transfer(request, pid int) error {
	const general = 1 // NT_PRSTATUS
	vector := unix.Iovec{Base: (*byte)(unsafe.Pointer(&r.PtraceRegs))}
	vector.SetLen(int(unsafe.Sizeof(r.PtraceRegs)))
	_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, uintptr(request), uintptr(pid), general, uintptr(unsafe.Pointer(&vector)), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

func (r *registers) counter() uintptr { return uintptr(r.Pc) }
func (r *registers) stack() uintptr   { return uintptr(r.Sp) }
func (r *registers) result() uint64   { return r.Regs[0] }

func (r *registers) setCall(number int, args []uintptr) {
	r.Regs[8] = uint64(number)
	for i := range 6 {
		r.Regs[i] = 0
		if i < len(args) {
			r.Regs[i] = uint64(args[i])
		}
	}
}

func (p *puppet) callAll(requests []request) error { return p.callEach(requests) }
