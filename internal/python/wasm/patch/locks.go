package patch

import (
	"bytes"
	"errors"

	"sallyport.dev/sallyport/internal/python/wasm/module"
)

// WASI error numbers, negated as wasi-libc's futex returns them.
const (
	negEAGAIN    = -6
	negETIMEDOUT = -73
)

// stackPointer is the global that clang uses for its stack in linear memory.
const stackPointer = 0

// locks makes a wait that nobody can end sleep instead of trapping.
//
// wasi-libc's single-threaded futex reaches an unreachable instruction as soon as a lock would
// have to wait, so lock.acquire(timeout=…), event.wait(…) and queue.get(timeout=…) end the
// interpreter. There is no other thread that could wake the waiter, thus a wait with a time-out
// is a sleep, and a wait without one lasts until the call's time limit, as in native CPython.
func locks(m *module.Module) error {
	wait, body, err := m.Find("__wasilibc_futex_wait", 5) // (addr, val, clock, timespec, flags)
	if err != nil {
		return err
	}
	if trap := []byte{0x0b, 0x00, 0x0b}; !bytes.Contains(body, trap) {
		return errors.New("patching locks: the futex has no trap any more")
	}
	clockSleep, err := m.Func("clock_nanosleep")
	if err != nil {
		return err
	}
	sleep, err := m.Func("nanosleep")
	if err != nil {
		return err
	}
	return m.SetBody(wait, futexWait(clockSleep, sleep))
}

func futexWait(clockSleep, sleep uint32) []byte {
	const addr, val, clock, ts, flags, hour = 0, 1, 2, 3, 4, 5
	c := module.NewCode(module.I32)
	c.LocalGet(addr).I32Load(0).LocalGet(val).I32Ne()
	c.If().I32Const(negEAGAIN).Return().End()
	c.LocalGet(ts)
	c.If()
	// flags is 2 for an absolute time on the clock, for which clock_nanosleep takes 1.
	c.LocalGet(flags)
	c.If().LocalGet(clock).I32Const(1).LocalGet(ts).I32Const(0).Call(clockSleep).Drop()
	c.Else().LocalGet(ts).I32Const(0).Call(sleep).Drop()
	c.End()
	c.I32Const(negETIMEDOUT).Return()
	c.End()
	// No time-out: sleep by the hour, in a timespec {int64 seconds, int32 nanoseconds} on the stack.
	c.GlobalGet(stackPointer).I32Const(16).I32Sub().LocalTee(hour).GlobalSet(stackPointer)
	c.Loop()
	c.LocalGet(hour).I64Const(3600).I64Store(0)
	c.LocalGet(hour).I64Const(0).I64Store(8)
	c.LocalGet(hour).I32Const(0).Call(sleep).Drop()
	c.Br(0).End()
	c.Unreachable()
	return c.Body()
}
