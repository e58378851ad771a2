package module

// A ValType is the type of a value on the WebAssembly stack.
type ValType byte

// The number types.
const (
	I32 ValType = 0x7f
	I64 ValType = 0x7e
	F32 ValType = 0x7d
	F64 ValType = 0x7c
)

// Code is a small assembler for the few functions that are added to a module. Each method
// appends one instruction; the names are those of the specification.
type Code struct {
	locals []ValType
	b      []byte
}

// NewCode starts a function with these locals, which are numbered after its parameters.
func NewCode(locals ...ValType) *Code { return &Code{locals: locals} }

// Body returns the finished function body.
func (c *Code) Body() []byte {
	out := appendU32(nil, uint32(len(c.locals)))
	for _, l := range c.locals {
		out = append(out, 1, byte(l))
	}
	return append(append(out, c.b...), 0x0b)
}

func (c *Code) op(b ...byte) *Code { c.b = append(c.b, b...); return c }

func (c *Code) opU32(op byte, v uint32) *Code { c.b = appendU32(append(c.b, op), v); return c }

// I32Const pushes a constant.
func (c *Code) I32Const(v int32) *Code { c.b = appendS32(append(c.b, 0x41), v); return c }

// I64Const pushes a constant.
func (c *Code) I64Const(v int64) *Code { c.b = appendS64(append(c.b, 0x42), v); return c }

// Call calls a function by index.
func (c *Code) Call(f uint32) *Code { return c.opU32(0x10, f) }

// LocalGet pushes a local.
func (c *Code) LocalGet(i uint32) *Code { return c.opU32(0x20, i) }

// LocalSet pops into a local.
func (c *Code) LocalSet(i uint32) *Code { return c.opU32(0x21, i) }

// LocalTee stores into a local and keeps the value.
func (c *Code) LocalTee(i uint32) *Code { return c.opU32(0x22, i) }

// I32Store pops value and address and stores 32 bits at address+offset.
func (c *Code) I32Store(offset uint32) *Code {
	c.b = appendU32(append(c.b, 0x36, 0x02), offset)
	return c
}

// I64Store pops value and address and stores 64 bits at address+offset.
func (c *Code) I64Store(offset uint32) *Code {
	c.b = appendU32(append(c.b, 0x37, 0x00), offset)
	return c
}

// I32Load pops an address and pushes the 32 bits at address+offset.
func (c *Code) I32Load(offset uint32) *Code {
	c.b = appendU32(append(c.b, 0x28, 0x02), offset)
	return c
}

// I64Load pops an address and pushes the 64 bits at address+offset.
func (c *Code) I64Load(offset uint32) *Code {
	c.b = appendU32(append(c.b, 0x29, 0x03), offset)
	return c
}

// The arithmetic and control instructions that are needed.
func (c *Code) I32Add() *Code      { return c.op(0x6a) }
func (c *Code) I32Sub() *Code      { return c.op(0x6b) }
func (c *Code) I32LtU() *Code      { return c.op(0x49) }
func (c *Code) I32Eqz() *Code      { return c.op(0x45) }
func (c *Code) I64Add() *Code      { return c.op(0x7c) }
func (c *Code) Drop() *Code        { return c.op(0x1a) }
func (c *Code) Return() *Code      { return c.op(0x0f) }
func (c *Code) Unreachable() *Code { return c.op(0x00) }
func (c *Code) Block() *Code       { return c.op(0x02, 0x40) }
func (c *Code) Loop() *Code        { return c.op(0x03, 0x40) }
func (c *Code) If() *Code          { return c.op(0x04, 0x40) }
func (c *Code) Else() *Code        { return c.op(0x05) }
func (c *Code) End() *Code         { return c.op(0x0b) }

// Br jumps out of (or, for a loop, to the start of) the n-th enclosing block.
func (c *Code) Br(n uint32) *Code { return c.opU32(0x0c, n) }

// BrIf jumps when the popped value is not zero.
func (c *Code) BrIf(n uint32) *Code { return c.opU32(0x0d, n) }

// MemorySize pushes the memory's size in pages.
func (c *Code) MemorySize() *Code { return c.op(0x3f, 0x00) }

// I32Shl shifts left.
func (c *Code) I32Shl() *Code { return c.op(0x74) }

// StoreBytes writes data at the address held in a local.
func (c *Code) StoreBytes(local uint32, data []byte) *Code {
	padded := append([]byte(nil), data...)
	for len(padded)%8 != 0 {
		padded = append(padded, 0)
	}
	for i := 0; i < len(padded); i += 8 {
		var v uint64
		for k := range 8 {
			v |= uint64(padded[i+k]) << (8 * k)
		}
		c.LocalGet(local).I64Const(int64(v)).I64Store(uint32(i))
	}
	return c
}

// GlobalGet pushes a global.
func (c *Code) GlobalGet(i uint32) *Code { return c.opU32(0x23, i) }

// GlobalSet pops into a global.
func (c *Code) GlobalSet(i uint32) *Code { return c.opU32(0x24, i) }

// More arithmetic.
func (c *Code) I32Ne() *Code   { return c.op(0x47) }
func (c *Code) I32Eq() *Code   { return c.op(0x46) }
func (c *Code) I32And() *Code  { return c.op(0x71) }
func (c *Code) I32Or() *Code   { return c.op(0x72) }
func (c *Code) I32ShrU() *Code { return c.op(0x76) }
