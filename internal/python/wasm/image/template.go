package image

import (
	"fmt"

	"sallyport.dev/sallyport/internal/python/wasm/module"
)

// The words by which a start is told what to do. They lie in the lowest page of memory, which is
// the unused end of the interpreter's stack; see patch.recursion.
const (
	headMode  = 1024 // what _start does
	headStart = 1028 // address of the start source
	headSize  = 1032 // its length, bytes
	headEnd   = 1040
)

// Modes of a start. A file whose memory was never written over holds the pattern and matches none.
const (
	modeBuild = 0x646c6962
	modeRun   = 0x206e7572
)

// Exit statuses of the builder.
const (
	exitScript = 3 // the build script raised
	exitWrite  = 4 // the memory could not be written
	exitMode   = 5 // the file is a template still
)

// Template rewrites the wheel's module m into a program whose memory is size bytes of pattern.
// Once that is written over, it either runs the Python source build and prints its memory, or
// starts from memory that was printed so.
func Template(m *module.Module, build, start string, size int) error {
	f, err := lookUp(m)
	if err != nil {
		return err
	}
	if err := heap(m); err != nil {
		return err
	}
	c := module.NewCode(module.I32, module.I32, module.I32, module.I32, module.I32)
	c.I32Const(headMode).I32Load(0).I32Const(modeRun).I32Eq()
	c.If()
	c.I32Const(headStart).I32Load(0).I32Const(headSize).I32Load(0).Call(f.turn).Call(f.exit)
	c.End()
	c.I32Const(headMode).I32Load(0).I32Const(modeBuild).I32Ne()
	c.If().I32Const(exitMode).Call(f.exit).End()
	emitBuild(c, f, build, start)
	index := m.AddFunc(nil, nil, c.Body())
	m.SetExports(
		module.Export{Name: "memory", Kind: module.KindMemory},
		module.Export{Name: "_start", Kind: module.KindFunc, Index: index},
	)
	if err := m.SetImage(pattern(size)); err != nil {
		return err
	}
	m.DropCustom()
	return nil
}

// emitBuild runs the build script, leaves the start source in memory, and prints all of it.
func emitBuild(c *module.Code, f functions, build, start string) {
	const ptr, startPtr, vec, at, left = 0, 1, 2, 3, 4
	source := func(local uint32, text string) {
		// One spare word: StoreBytes writes whole words.
		c.I32Const(int32(len(text) + 8)).Call(f.alloc).LocalSet(local)
		c.StoreBytes(local, []byte(text))
	}
	source(ptr, build)
	c.LocalGet(ptr).I32Const(int32(len(build))).Call(f.turn)
	c.If().I32Const(exitScript).Call(f.exit).End()
	source(startPtr, start)
	c.I32Const(headMode).I32Const(modeRun).I32Store(0)
	c.I32Const(headStart).LocalGet(startPtr).I32Store(0)
	c.I32Const(headSize).I32Const(int32(len(start))).I32Store(0)
	c.I32Const(32).Call(f.alloc).LocalSet(vec)
	// The next process is given other folders under the same names: forget these.
	c.Call(f.resetPreopens)
	c.MemorySize().I32Const(16).I32Shl().LocalSet(left)
	c.Block().Loop()
	c.LocalGet(left).I32Eqz().BrIf(1)
	c.LocalGet(vec).LocalGet(at).I32Store(0)
	// 64 KiB a write: the runtime copies each buffer and bounds what one call may take.
	c.LocalGet(vec).I32Const(module.PageSize).I32Store(4)
	c.I32Const(1).LocalGet(vec).I32Const(1).LocalGet(vec).I32Const(12).I32Add().Call(f.fdWrite)
	c.If().I32Const(exitWrite).Call(f.exit).End()
	c.LocalGet(at).LocalGet(vec).I32Load(12).I32Add().LocalSet(at)
	c.LocalGet(left).LocalGet(vec).I32Load(12).I32Sub().LocalSet(left)
	c.Br(0).End().End()
	c.I32Const(0).Call(f.exit)
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
