package confine

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"
)

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

// callAll makes the calls in one go, up to the first that fails. Each stop costs two changes of
// process, which is most of the price of a start on a busy machine.
func (p *puppet) callAll(requests []request) error {
	var code []byte
	load := func(opcode uint16, value uint64) { // mov register, 64-bit constant
		code = binary.LittleEndian.AppendUint64(binary.BigEndian.AppendUint16(code, opcode), value)
	}
	var ends []int
	for i, r := range requests {
		load(0x49bc, uint64(i)) // r12: how far we got; a call leaves it alone
		load(0x48b8, uint64(r.number))
		load(0x48bf, uint64(r.args[0]))
		load(0x48be, uint64(r.args[1]))
		load(0x48ba, uint64(r.args[2]))
		load(0x49ba, uint64(r.args[3]))
		code = append(code,
			0x0f, 0x05, // syscall
			0x48, 0x85, 0xc0, // test rax, rax
			0x0f, 0x88, 0, 0, 0, 0) // js to the trap
		ends = append(ends, len(code))
	}
	for _, end := range ends {
		binary.LittleEndian.PutUint32(code[end-4:], uint32(len(code)-end))
	}
	code = append(code, 0xcc)
	saved := make([]byte, len(code))
	if _, err := unix.PtracePeekText(p.pid, p.saved.counter(), saved); err != nil {
		return fmt.Errorf("reading code: %w", err)
	}
	if _, err := unix.PtracePokeText(p.pid, p.saved.counter(), code); err != nil {
		return fmt.Errorf("writing code: %w", err)
	}
	regs := p.saved
	regs.Orig_rax = ^uint64(0)
	regs.Rax = 0
	if err := regs.set(p.pid); err != nil {
		return fmt.Errorf("writing registers: %w", err)
	}
	if err := unix.PtraceCont(p.pid, 0); err != nil {
		return fmt.Errorf("continuing: %w", err)
	}
	if err := awaitTrap(p.pid); err != nil {
		return err
	}
	if err := regs.get(p.pid); err != nil {
		return fmt.Errorf("reading registers: %w", err)
	}
	if _, err := unix.PtracePokeText(p.pid, p.saved.counter(), saved); err != nil {
		return fmt.Errorf("restoring code: %w", err)
	}
	if result := int64(regs.Rax); result < 0 {
		return fmt.Errorf("%s: %w", requests[min(regs.R12, uint64(len(requests)-1))].what, unix.Errno(-result))
	}
	return nil
}
