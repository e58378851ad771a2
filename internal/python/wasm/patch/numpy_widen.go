package patch

import "encoding/binary"

// The standard library and the packages lie in one archive; code objects carry this path.
const libraryArchive = "/usr/local/lib/python315.zip/"

// Offsets in CPython 3.15's structures on wasm32; see expectFrames.
const (
	currentTState   = 27561516 // address of the thread state's pointer
	tstateFrame     = 56
	frameExecutable = 0
	framePrevious   = 4
	frameInstr      = 28
	frameStackTop   = 32
	frameOwner      = 38
	frameValues     = 40 // local variables, then the stack
	codeFilename    = 80
	unicodeLength   = 8
	unicodeASCII    = 20 // where the characters of an ASCII string start
	typeName        = 12
	typeFlags       = 84
	tupleFlag       = 1 << 26
	stringFlag      = 1 << 28
)

const (
	arrayTypeAddr = 26443132 // numpy.ndarray
	// ownerInterpreter marks frames of the interpreter itself, which have no code to look at.
	ownerInterpreter = 3
)

// widen makes index functions return 64-bit integers to the user's own code.
//
// argsort, nonzero, bincount and the others fill arrays of npy_intp, whose products wrap. C and
// Cython code of the packages needs exactly these, as it needs them on any system, so the
// packages in the archive get them unchanged. The caller is the innermost Python frame outside
// numpy, unless that frame is in the middle of a call of a Cython function.
func (n *numpyPatch) widen(user uint32) {
	widen := n.widened()
	for _, f := range []struct{ name, params string }{
		{"array_argmax", four}, {"array_argmin", four}, {"array_argsort", four}, {"array_argpartition", four},
		{"array_nonzero", two}, {"array_searchsorted", four}, {"array_lexsort", four}, {"arr_bincount", four},
		{"arr_ravel_multi_index", three}, {"arr_unravel_index", three}, {"array_count_nonzero", three}, {"array_where", three},
	} {
		n.wrap(f.name, f.params, user, widen)
	}
	n.codes(user)
}

// codes makes the type codes of a C long and of an index, written by the user, mean 64 bits, as
// they do on 64-bit Linux. The numbered codes, such as "i4", are left alone.
func (n *numpyPatch) codes(user uint32) {
	convert := n.fn("_convert_from_str", two, one)
	descrFromType := n.fn("PyArray_DescrFromType", one, one)
	dealloc := n.fn("_Py_Dealloc", one, "")
	n.expect("code_repr", "\x41\xd7\x00\x6a\x2d\x00\x00\x41\x10\x71", 1) // the string flag
	original := n.move(convert, 2)
	const text, align, result, number, length = 0, 1, 2, 3, 4
	var c asm
	c.locals(3)
	c.get(text).get(align).call(original).tee(result).eqz().when().i32(0).ret().end()
	c.get(result).load(descrTypeNum).tee(number).i32(npyLong).ne().get(number).i32(npyLong + 1).ne().and()
	c.when().get(result).ret().end()
	c.get(text).load(pyObjectType).load(typeFlags).i32(stringFlag).and().eqz().when().get(result).ret().end()
	c.get(text).load(unicodeLength).set(length)
	c.block()
	for _, code := range []string{"l", "L", "p", "P", "n", "N", "long", "ulong", "intp", "uintp"} {
		for _, order := range []string{"", "=", "<"} {
			name := order + code
			if order != "" && len(code) > 1 {
				continue
			}
			c.get(length).i32(int32(len(name))).eq()
			c.notAt(text, 0, name).eqz().and().brIf(0)
		}
	}
	c.get(result).ret()
	c.end()
	c.call(user).eqz().when().get(result).ret().end()
	c.release(result, dealloc)
	c.get(number).i32(npyLongLong - npyLong).add().call(descrFromType)
	n.setBody(convert, c)
}

// expectFrames proves the offsets by CPython's own code that uses them.
func (n *numpyPatch) expectFrames() {
	n.expect("PyEval_GetFrame", "\x41\x00\x28\x02"+padded(currentTState)+"\x41\x38\x6a\x28\x02\x00", 1)
	n.expect("PyEval_GetFrame", "\x41\x26\x6a\x2c\x00\x00\x22\x02\x41\x02\x4a", 1)
	n.expect("PyEval_GetFrame", "\x28\x02\x00\x41\x7e\x71", 1)
	n.expect("PyEval_GetFrame", "\x20\x01\x41\x04\x6a\x28\x02\x00\x22\x01\x0d\x00", 1)
	n.expect("_PyFrame_ClearExceptCode", "\x20\x00\x41\x20\x6a\x22\x04\x28\x02\x00", 1)
	n.expect("_PyFrame_ClearExceptCode", "\x41\x28\x6a\x22\x05\x36\x02\x00", 1)
	n.expect("PyEval_GetFrame", "\x20\x01\x41\x1c\x6a\x28\x02\x00", 1)
	n.expect("code_repr", "\x20\x00\x41\xd0\x00\x6a\x28\x02\x00", 1)
	n.expect("PyArray_Return", "\x41\xfc\xfa\xcd\x8c\x00", 2)
	n.expect("PyTuple_GetItem", "\x41\xd7\x00\x6a\x2d\x00\x00\x41\x04\x71", 1)
}

// calledByUser adds a function that tells whether the innermost frame outside numpy belongs to
// the user's code. It reads memory only: no object is made and no reference counted.
func (n *numpyPatch) calledByUser() uint32 {
	n.expectFrames()
	calls := n.callsCython()
	const frame, name = 0, 1
	var c asm
	c.locals(2)
	c.i32(0).load(currentTState).load(tstateFrame).set(frame)
	c.block().loop()
	c.get(frame).eqz().brIf(1)
	c.block()
	c.get(frame).load8s(frameOwner).i32(ownerInterpreter).geS().brIf(0)
	c.get(frame).load(frameExecutable).i32(-2).and().load(codeFilename).set(name)
	// Somewhere else than in the archive: the user's.
	c.notAt(name, 0, libraryArchive).when().get(frame).call(calls).eqz().ret().end()
	// A package in the archive that is not numpy: its caller's caller does not matter.
	c.notAt(name, len(libraryArchive), "numpy/").when().i32(0).ret().end()
	c.end()
	c.get(frame).load(framePrevious).set(frame)
	c.br(0).end().end()
	c.i32(0)
	return n.addFunc(0, c)
}

// Tags in the low bits of a slot on the interpreter's stack.
const (
	tagMask = 3
	tagInt  = 3 // no object but a small integer
)

// callsCython adds a function that tells whether a frame is calling a Cython function, which has
// no frame of its own. The callable lies on the frame's stack under the arguments, whose number
// is the instruction's argument; four more slots cover the forms of calls with keywords.
func (n *numpyPatch) callsCython() uint32 {
	const frame, left, slot, object = 0, 1, 2, 3
	var c asm
	c.locals(3)
	c.get(frame).load(frameInstr).load8u(1).i32(4).add().set(left)
	c.get(frame).load(frameStackTop).set(slot)
	c.block().loop()
	c.get(left).eqz().brIf(1)
	c.get(slot).i32(4).sub().tee(slot).get(frame).i32(frameValues).add().ltU().brIf(1)
	c.block()
	c.get(slot).load(0).tee(object).i32(tagMask).and().i32(tagInt).eq().brIf(0)
	c.get(object).i32(^tagMask).and().tee(object).eqz().brIf(0)
	c.get(object).load(pyObjectType).load(typeName).load64(0).i64(cythonTypes).eq64().when().i32(1).ret().end()
	c.end()
	c.get(left).i32(1).sub().set(left)
	c.br(0).end().end()
	c.i32(0)
	return n.addFunc(1, c)
}

// cythonTypes is how the names of Cython's types begin in memory: "_cython_".
const cythonTypes = 0x5f6e6f687479635f

// notAt leaves 1 when the string object in a local does not have text at a position. A shorter
// string is safe to read: its memory goes on, and its end differs.
func (c *asm) notAt(local uint32, position int, text string) *asm {
	c.block() // of type i32
	c.b[len(c.b)-1] = 0x7f
	c.i32(1)
	c.get(local).load(unicodeLength).i32(int32(position + len(text))).ltS().brIf(0)
	for at := 0; at < len(text); {
		rest, offset := []byte(text[at:]), uint32(unicodeASCII+position+at)
		switch {
		case len(rest) >= 8:
			c.get(local).load64(offset).i64(int64(binary.LittleEndian.Uint64(rest))).ne64()
			at += 8
		case len(rest) >= 4:
			c.get(local).load(offset).i32(int32(binary.LittleEndian.Uint32(rest))).ne()
			at += 4
		default:
			c.get(local).load8u(offset).i32(int32(rest[0])).ne()
			at++
		}
		c.brIf(0)
	}
	c.drop().i32(0)
	return c.end()
}

// widened adds a function that returns an object with npy_intp replaced by 64 bits: an array, a
// scalar, or a tuple of them. Whatever else it is given, and what somebody else holds too (the
// user's out=), it returns as it is. It takes over the reference, as a return would.
func (n *numpyPatch) widened() uint32 {
	dealloc := n.fn("_Py_Dealloc", one, "")
	tupleGet := n.fn("PyTuple_GetItem", two, one)
	tupleSet := n.fn("PyTuple_SetItem", three, one)
	tupleSize := n.fn("PyTuple_Size", one, one)
	widenOne := n.widenedOne()
	const object, result, i, item = 0, 1, 2, 3
	var c asm
	c.locals(3)
	c.get(object).eqz().when().i32(0).ret().end()
	c.get(object).load(0).i32(1).ne().when().get(object).ret().end()
	c.get(object).load(pyObjectType).load(typeFlags).i32(tupleFlag).and().when()
	c.block().loop()
	c.get(i).get(object).call(tupleSize).geS().brIf(1)
	c.get(object).get(i).call(tupleGet).tee(item).call(widenOne).tee(result)
	c.eqz().when().release(object, dealloc).i32(0).ret().end()
	c.get(result).get(item).ne().when()
	c.get(object).get(i).get(result).call(tupleSet).drop()
	c.end()
	c.get(i).i32(1).add().set(i)
	c.br(0).end().end()
	c.get(object).ret()
	c.end()
	c.get(object).call(widenOne).tee(result).get(object).ne().when().release(object, dealloc).end()
	c.get(result)
	return n.addFunc(1, c)
}

// widenedOne adds a function that returns a new, wider array or scalar, or else the very object
// without a new reference.
func (n *numpyPatch) widenedOne() uint32 {
	isSubtype := n.fn("PyType_IsSubtype", two, one)
	descrFromType := n.fn("PyArray_DescrFromType", one, one)
	cast := n.fn("PyArray_CastToType", three, one)
	scalar := n.fn("PyArray_Scalar", three, one)
	dealloc := n.fn("_Py_Dealloc", one, "")
	const object, kind, result, descr, stack = 0, 1, 2, 3, 4
	var c asm
	c.locals(4)
	c.get(object).load(pyObjectType).set(kind)
	c.get(kind).i32(arrayTypeAddr).call(isSubtype).when()
	c.get(object).load(arrayDescr).load(descrTypeNum).i32(npyLong).ne().when().get(object).ret().end()
	c.get(object).i32(npyLongLong).call(descrFromType).i32(0).call(cast).ret()
	c.end()
	c.i32(npyLong).call(descrFromType).tee(descr).load(descrTypeObj).get(kind).ne()
	c.when().release(descr, dealloc).get(object).ret().end()
	c.release(descr, dealloc)
	// The value in 64 bits on the C stack.
	c.u32(0x23, stackPointer).i32(16).sub().tee(stack).u32(0x24, stackPointer)
	c.get(stack).get(object).load(8).extend().store64(0)
	c.i32(npyLongLong).call(descrFromType).set(descr)
	c.get(stack).get(descr).i32(0).call(scalar).set(result)
	c.release(descr, dealloc)
	c.get(stack).i32(16).add().u32(0x24, stackPointer)
	c.get(result)
	return n.addFunc(1, c)
}

// wrap puts a function around a method: its result goes through widen when the condition holds.
func (n *numpyPatch) wrap(name, params string, condition, widen uint32) {
	index := n.fn(name, params, one)
	original := n.move(index, len(params))
	result := uint32(len(params))
	var c asm
	c.locals(1)
	for i := range result {
		c.get(i)
	}
	c.call(original).set(result)
	if name == "array_where" {
		// Only where(condition) returns indices; the third parameter is the number of arguments.
		c.get(2).i32(1).ne().when().get(result).ret().end()
	}
	c.call(condition).when().get(result).call(widen).ret().end()
	c.get(result)
	n.setBody(index, c)
}
