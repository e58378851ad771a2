package patch

import (
	"bytes"
	"fmt"

	"sallyport.dev/sallyport/internal/python/wasm/module"
)

// Offsets of the stack limits in CPython 3.15's thread state, in bytes.
const (
	stackTop     = 784
	stackSoft    = 788
	stackHard    = 792
	stackBase    = 796
	stackInitTop = 800
)

// Usable is how much of its stack in linear memory the interpreter may use, in bytes. The module
// was linked with 16 MiB at the start of memory, but a frame of machine code takes several times
// what the same frame takes there, and the runtime's own stack is bounded as well: CPython has to
// raise RecursionError first. This much is about as deep as native CPython goes with 8 MiB.
const Usable = 1536 << 10

// StackEnd is the first byte after the stack in linear memory; it grows down from there.
const StackEnd = 16 << 20

const (
	stackFloor = StackEnd - Usable
	hardMargin = 8 << 10
	softMargin = 16 << 10
)

// recursion tells the interpreter how much stack it really has.
//
// wasi-libc reports its default of 128 KiB for any thread, so CPython raises RecursionError at a
// depth of 250 in a memoised function, although the module was linked with 16 MiB.
func recursion(m *module.Module) error {
	index, err := m.Func("_Py_InitializeRecursionLimits")
	if err != nil {
		return err
	}
	body, err := m.Body(index)
	if err != nil {
		return err
	}
	if !storesLimits(body) {
		return fmt.Errorf("patching recursion limits: the thread state is laid out in another way than expected")
	}
	const tstate, top = 0, 1
	c := module.NewCode(module.I32)
	c.GlobalGet(stackPointer).I32Const(4095).I32Add().I32Const(-4096).I32And().LocalSet(top)
	c.LocalGet(tstate).LocalGet(top).I32Store(stackTop)
	c.LocalGet(tstate).LocalGet(top).I32Store(stackInitTop)
	c.LocalGet(tstate).I32Const(stackFloor).I32Store(stackBase)
	c.LocalGet(tstate).I32Const(stackFloor + hardMargin).I32Store(stackHard)
	c.LocalGet(tstate).I32Const(stackFloor + softMargin).I32Store(stackSoft)
	if err := m.SetBody(index, c.Body()); err != nil {
		return err
	}
	return pad(m, "PyObject_Repr", reprFrame)
}

// reprFrame is what a level of repr takes more of the stack than its C frames do here, in bytes.
// Those are so small that a list nested 20,000 deep had a repr, as deep as machine code can bear
// but nowhere else; with this it ends in RecursionError at about 12,000.
const reprFrame = 96

// pad makes a function of one argument and one result use more of the stack in linear memory.
func pad(m *module.Module, name string, bytes int32) error {
	index, body, err := m.Find(name, 1)
	if err != nil {
		return err
	}
	original := m.Aside(1, body)
	const argument, top = 0, 1
	c := module.NewCode(module.I32)
	c.GlobalGet(stackPointer).LocalTee(top).I32Const(bytes).I32Sub().GlobalSet(stackPointer)
	c.LocalGet(argument).Call(original)
	c.LocalGet(top).GlobalSet(stackPointer)
	return m.SetBody(index, c.Body())
}

// storesLimits says whether the function adds each of the five offsets to its argument.
func storesLimits(body []byte) bool {
	for _, offset := range []int32{stackTop, stackSoft, stackHard, stackBase, stackInitTop} {
		// local.get 0; i32.const offset; i32.add, as clang without folding emits it.
		want := module.NewCode().LocalGet(0).I32Const(offset).I32Add().Body()
		if !bytes.Contains(body, want[1:len(want)-1]) {
			return false
		}
	}
	return true
}
