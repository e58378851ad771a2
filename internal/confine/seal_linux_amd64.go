package confine

import "golang.org/x/sys/unix"

// callAndTrap is: syscall; int3
var callAndTrap = []byte{0x0f, 0x05, 0xcc, 0x90, 0x90, 0x90, 0x90, 0x90}

type registers struct{ unix.PtraceRegs }

func (r *registers) get(pid int) error { return unix.PtraceGetRegs(pid, &r.PtraceRegs) }
func (r *registers) set(pid int) error { return unix.PtraceSetRegs(pid, &r.PtraceRegs) }
func (r *registers) counter() uintptr  { return uintptr(r.Rip) }
func (r *registers) stack() uintptr    { return uintptr(r.Rsp) }
func (r *registers) result() uint64    { return r.Rax }

func (r *registers) setCall(number int, args []uintptr) {
	r.Rax = uint64(number)
	r.Orig_rax = ^uint64(0) // not inside a system call, so nothing to restart
	for i, to := range []*uint64{&r.Rdi, &r.Rsi, &r.Rdx, &r.R10, &r.R8, &r.R9} {
		*to = 0
		if i < len(args) {
			*to = uint64(args[i])
		}
	}
}
