package patch

import "encoding/binary"

// asm writes a function body for numpy's patches: the instructions that [module.Code] has no use
// for elsewhere, such as 64-bit comparisons. Names are those of the specification, shortened.
type asm struct{ b []byte }

// maxMortal is the largest reference count that CPython counts; objects above it live for ever.
const maxMortal = 1<<30 - 1

// locals declares so many i32 locals and i64 locals after the parameters.
func (c *asm) locals(n32 byte, n64 ...byte) *asm {
	c.b = append(c.b, byte(1+len(n64)), n32, 0x7f)
	for _, n := range n64 {
		c.b = append(c.b, n, 0x7e)
	}
	return c
}

func (c *asm) op(b ...byte) *asm { c.b = append(c.b, b...); return c }

func (c *asm) u32(op byte, v uint32) *asm {
	c.b = binary.AppendUvarint(append(c.b, op), uint64(v))
	return c
}

func (c *asm) i32(v int32) *asm { return c.signed(0x41, int64(v)) }
func (c *asm) i64(v int64) *asm { return c.signed(0x42, v) }

func (c *asm) signed(op byte, v int64) *asm {
	c.b = append(c.b, op)
	for {
		low := byte(v & 0x7f)
		v >>= 7
		if (v == 0 && low&0x40 == 0) || (v == -1 && low&0x40 != 0) {
			c.b = append(c.b, low)
			return c
		}
		c.b = append(c.b, low|0x80)
	}
}

func (c *asm) get(local uint32) *asm { return c.u32(0x20, local) }
func (c *asm) set(local uint32) *asm { return c.u32(0x21, local) }
func (c *asm) tee(local uint32) *asm { return c.u32(0x22, local) }
func (c *asm) call(f uint32) *asm    { return c.u32(0x10, f) }
func (c *asm) br(depth uint32) *asm  { return c.u32(0x0c, depth) }
func (c *asm) brIf(depth uint32) *asm {
	return c.u32(0x0d, depth)
}

// Loads and stores promise no alignment: it is a hint only.
func (c *asm) load(offset uint32) *asm   { return c.op(0x28, 0).rest(offset) }
func (c *asm) load8u(offset uint32) *asm { return c.op(0x2d, 0).rest(offset) }
func (c *asm) load8s(offset uint32) *asm { return c.op(0x2c, 0).rest(offset) }
func (c *asm) load64(offset uint32) *asm { return c.op(0x29, 0).rest(offset) }
func (c *asm) store(offset uint32) *asm  { return c.op(0x36, 0).rest(offset) }
func (c *asm) store64(offset uint32) *asm {
	return c.op(0x37, 0).rest(offset)
}

func (c *asm) rest(v uint32) *asm { c.b = binary.AppendUvarint(c.b, uint64(v)); return c }

func (c *asm) add() *asm    { return c.op(0x6a) }
func (c *asm) sub() *asm    { return c.op(0x6b) }
func (c *asm) mul() *asm    { return c.op(0x6c) }
func (c *asm) and() *asm    { return c.op(0x71) }
func (c *asm) or() *asm     { return c.op(0x72) }
func (c *asm) eqz() *asm    { return c.op(0x45) }
func (c *asm) eq() *asm     { return c.op(0x46) }
func (c *asm) ne() *asm     { return c.op(0x47) }
func (c *asm) gtS() *asm    { return c.op(0x4a) }
func (c *asm) geS() *asm    { return c.op(0x4e) }
func (c *asm) ltS() *asm    { return c.op(0x48) }
func (c *asm) ltU() *asm    { return c.op(0x49) }
func (c *asm) eq64() *asm   { return c.op(0x51) }
func (c *asm) ne64() *asm   { return c.op(0x52) }
func (c *asm) extend() *asm { return c.op(0xac) } // i32 to i64, signed
func (c *asm) wrap() *asm   { return c.op(0xa7) } // i64 to i32
func (c *asm) ret() *asm    { return c.op(0x0f) }
func (c *asm) drop() *asm   { return c.op(0x1a) }
func (c *asm) block() *asm  { return c.op(0x02, 0x40) }
func (c *asm) loop() *asm   { return c.op(0x03, 0x40) }
func (c *asm) when() *asm   { return c.op(0x04, 0x40) }
func (c *asm) end() *asm    { return c.op(0x0b) }

// newReference is Py_INCREF of the object in a local.
func (c *asm) newReference(local uint32) *asm {
	c.get(local).load(0).i32(maxMortal).gtS().eqz().when()
	c.get(local).get(local).load(0).i32(1).add().store(0)
	return c.end()
}

// release is Py_DECREF of the object in a local.
func (c *asm) release(local, dealloc uint32) *asm {
	c.get(local).load(0).i32(maxMortal).gtS().eqz().when()
	c.get(local).get(local).load(0).i32(1).sub().store(0)
	c.get(local).load(0).eqz().when().get(local).call(dealloc).end()
	return c.end()
}

// text writes a C string of less than 64 bytes at the address in a local.
func (c *asm) text(local uint32, s string) *asm {
	var b [64]byte
	copy(b[:len(b)-1], s)
	for at := 0; at < len(b); at += 8 {
		c.get(local).i64(int64(binary.LittleEndian.Uint64(b[at:]))).store64(uint32(at))
	}
	return c
}
