package image

import (
	"encoding/binary"

	"sallyport.dev/sallyport/internal/python/wasm/module"
)

// headBreak is the word that holds the end of the heap, in bytes, once sbrk goes by it.
const headBreak = 1036

// heap lets the allocator use memory that is there from the start.
//
// wasi-libc's sbrk always grows the memory, since a module's initial memory is in use from the
// start. An image's is not: it has its full size from the first instruction, most of it free.
func heap(m *module.Module) error {
	index, body, err := m.Find("sbrk", 1)
	if err != nil {
		return err
	}
	original := m.Aside(1, body)
	const by, old, want, have = 0, 1, 2, 3
	c := module.NewCode(module.I32, module.I32, module.I32)
	c.I32Const(headBreak).I32Load(0).LocalTee(old).LocalGet(by).I32Add().LocalSet(want)
	c.MemorySize().I32Const(16).I32Shl().LocalSet(have)
	c.LocalGet(have).LocalGet(want).I32LtU()
	c.If()
	// Whole pages; the original sets errno when the memory cannot grow.
	c.LocalGet(want).LocalGet(have).I32Sub().I32Const(module.PageSize - 1).I32Add().I32Const(-module.PageSize).I32And()
	c.Call(original).I32Const(-1).I32Eq()
	c.If().I32Const(-1).Return().End()
	c.End()
	c.I32Const(headBreak).LocalGet(want).I32Store(0)
	c.LocalGet(old)
	return m.SetBody(index, c.Body())
}

// Heap returns the end of the heap in a memory, in bytes: what the interpreter holds at a start.
func Heap(memory []byte) int64 { return int64(binary.LittleEndian.Uint32(memory[headBreak:])) }
