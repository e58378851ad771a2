package image

import (
	"encoding/binary"
	"fmt"

	"sallyport.dev/sallyport/internal/python/wasm/module"
)

// headerSize is the length of what the builder writes in front of the memory:
// address and length of the start source, both little-endian 32-bit.
const headerSize = 8

// exitScriptFailed is the builder's exit status when the build script raised.
const exitScriptFailed = 3

// Builder rewrites the wheel's module m into a program that runs the Python source build, then
// leaves start in memory for later, and writes its memory to standard output.
func Builder(m *module.Module, build, start string) error {
	f, err := lookUp(m)
	if err != nil {
		return err
	}
	const ptr, startPtr, vec, at, left = 0, 1, 2, 3, 4
	c := module.NewCode(module.I32, module.I32, module.I32, module.I32, module.I32)
	source := func(local uint32, text string) {
		// One spare word: StoreBytes writes whole words.
		c.I32Const(int32(len(text) + 8)).Call(f.alloc).LocalSet(local)
		c.StoreBytes(local, []byte(text))
	}
	source(ptr, build)
	c.LocalGet(ptr).I32Const(int32(len(build))).Call(f.turn)
	c.If().I32Const(exitScriptFailed).Call(f.exit).End()
	source(startPtr, start)
	c.I32Const(32).Call(f.alloc).LocalSet(vec)
	// The next process may be given other folders under the same names: forget these.
	c.Call(f.resetPreopens)

	// The header, then everything from address 0.
	c.LocalGet(vec).LocalGet(startPtr).I32Store(16)
	c.LocalGet(vec).I32Const(int32(len(start))).I32Store(20)
	c.LocalGet(vec).LocalGet(vec).I32Const(16).I32Add().I32Store(0)
	c.LocalGet(vec).I32Const(headerSize).I32Store(4)
	write := func() {
		c.I32Const(1).LocalGet(vec).I32Const(1).LocalGet(vec).I32Const(12).I32Add().Call(f.fdWrite)
		c.If().I32Const(4).Call(f.exit).End()
	}
	write()
	c.MemorySize().I32Const(16).I32Shl().LocalSet(left)
	c.Block().Loop()
	c.LocalGet(left).I32Eqz().BrIf(1)
	c.LocalGet(vec).LocalGet(at).I32Store(0)
	// 64 KiB a write: the runtime copies each buffer and bounds what one call may take.
	c.LocalGet(vec).I32Const(module.PageSize).I32Store(4)
	write()
	c.LocalGet(at).LocalGet(vec).I32Load(12).I32Add().LocalSet(at)
	c.LocalGet(left).LocalGet(vec).I32Load(12).I32Sub().LocalSet(left)
	c.Br(0).End().End()
	c.I32Const(0).Call(f.exit)
	program(m, m.AddFunc(nil, nil, c.Body()))
	return nil
}

// Final rewrites the wheel's module m into the program that starts from memory, which is what the
// builder wrote.
func Final(m *module.Module, memory []byte) error {
	f, err := lookUp(m)
	if err != nil {
		return err
	}
	if len(memory) <= headerSize || (len(memory)-headerSize)%module.PageSize != 0 {
		return fmt.Errorf("memory image of %d bytes was cut off", len(memory))
	}
	startPtr := binary.LittleEndian.Uint32(memory[0:])
	startLen := binary.LittleEndian.Uint32(memory[4:])
	image := memory[headerSize:]
	if uint64(startPtr)+uint64(startLen) > uint64(len(image)) {
		return fmt.Errorf("memory image names a start source at %#x, outside itself", startPtr)
	}
	if err := m.SetImage(image); err != nil {
		return err
	}
	c := module.NewCode()
	c.I32Const(int32(startPtr)).I32Const(int32(startLen)).Call(f.turn).Call(f.exit)
	program(m, m.AddFunc(nil, nil, c.Body()))
	m.DropCustom()
	return nil
}

func program(m *module.Module, start uint32) {
	m.SetExports(
		module.Export{Name: "memory", Kind: module.KindMemory},
		module.Export{Name: "_start", Kind: module.KindFunc, Index: start},
	)
}

type functions struct {
	alloc, turn, exit, fdWrite, resetPreopens uint32
}

func lookUp(m *module.Module) (functions, error) {
	var f functions
	var err error
	get := func(dst *uint32, find func() (uint32, error)) {
		if err == nil {
			*dst, err = find()
		}
	}
	const wasi = "wasi_snapshot_preview1"
	get(&f.alloc, func() (uint32, error) { return m.Export("host_alloc") })
	get(&f.turn, func() (uint32, error) { return m.Export("turn") })
	get(&f.exit, func() (uint32, error) { return m.Import(wasi, "proc_exit") })
	get(&f.fdWrite, func() (uint32, error) { return m.Import(wasi, "fd_write") })
	get(&f.resetPreopens, func() (uint32, error) { return m.Func("__wasilibc_reset_preopens") })
	if err != nil {
		return f, fmt.Errorf("preparing module: %w", err)
	}
	return f, nil
}
