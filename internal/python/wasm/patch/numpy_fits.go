package patch

import "strings"

// Offsets in numpy's structures on wasm32: PyArrayObject_fields and _PyArray_Descr.
const (
	arrayData    = 8
	arrayNDim    = 12
	arrayDims    = 16
	arrayDescr   = 28
	descrTypeObj = 8
	descrTypeNum = 16
)

// flagsCArrayRO asks PyArray_FromArray for contiguous, aligned data in native byte order.
const flagsCArrayRO = 0x0001 | 0x0100

// Casting rules of numpy, and one of ours that only [numpyPatch.loops] passes on.
const (
	castSafe     = 2
	castSameKind = 3
	castFits     = 99
)

// Flags of PyArray_FromArray and PyArray_FromAny.
const (
	flagForceCast       = 0x0010
	flagWriteBackIfCopy = 0x2000
)

// fits lets C code that wants an index array take 64-bit integers, when all of them fit.
//
// On a 64-bit system the two types are one, so repeat, choose, put and many functions of other
// packages take what arange made. Here the conversion is not "safe" in numpy's sense and would be
// refused; and where numpy forces it, it would cut values in silence. Instead the values are
// looked at, and an array with one that does not fit is refused.
func (n *numpyPatch) fits(user uint32) {
	fromArray := n.fn("PyArray_FromArray", three, one)
	canCast := n.fn("PyArray_CanCastArrayTo", three, one)
	canCastType := n.fn("PyArray_CanCastTypeTo", three, one)
	fits := n.valuesFit(fromArray)
	if n.err != nil {
		return
	}
	n.fromArray(canCast, fits)
	n.astype(canCast, fits, user)
	n.loops(canCast, canCastType, fits)
	n.bincount(fromArray)
	n.indices(fromArray)
}

// valuesFit adds a function that tells whether an array of 64-bit integers may stand for one of
// npy_intp: types first, then each value.
func (n *numpyPatch) valuesFit(fromArray uint32) uint32 {
	descrFromType := n.fn("PyArray_DescrFromType", one, one)
	dealloc := n.fn("_Py_Dealloc", one, "")
	// The loads by which PyArray_Return knows a scalar, and reducelike… a type number.
	n.expect("PyArray_Return", "\x20\x00\x41\x0c\x6a\x28\x02\x00\x45\x0d\x00", 1)
	n.expect("reducelike_promote_and_resolve", "\x20\x01\x41\x1c\x6a\x28\x02\x00\x22\x0a\x41\x10\x6a\x28\x02\x00\x22\x0b\x41\x0a\x4b", 1)
	if n.err != nil {
		return 0
	}
	const arr, to, result, count, i, data = 0, 1, 2, 3, 4, 5
	var c asm
	c.locals(4)
	c.get(to).load(descrTypeNum).i32(npyLong).ne().when().i32(0).ret().end()
	c.get(arr).load(arrayDescr).load(descrTypeNum).i32(npyLongLong).ne().when().i32(0).ret().end()
	// A contiguous view or copy. It is of the same type, so this does not come back here.
	c.get(arr).i32(npyLongLong).call(descrFromType).i32(flagsCArrayRO).call(fromArray).tee(arr)
	c.eqz().when().i32(0).ret().end()
	c.i32(1).set(count)
	c.block().loop()
	c.get(i).get(arr).load(arrayNDim).geS().brIf(1)
	c.get(count).get(arr).load(arrayDims).get(i).i32(4).mul().add().load(0).mul().set(count)
	c.get(i).i32(1).add().set(i)
	c.br(0).end().end()
	c.get(arr).load(arrayData).set(data)
	c.i32(1).set(result)
	c.block().loop()
	c.get(count).eqz().brIf(1)
	// Equal to its lower half, sign-extended?
	c.get(data).load64(0).wrap().extend().get(data).load64(0).ne64()
	c.when().i32(0).set(result).br(2).end()
	c.get(data).i32(8).add().set(data)
	c.get(count).i32(1).sub().set(count)
	c.br(0).end().end()
	c.release(arr, dealloc)
	c.get(result)
	return n.addFunc(2, c)
}

// fromArray covers what converts its arguments by PyArray_FromArray: take, put, repeat, choose,
// and the C code of other packages.
func (n *numpyPatch) fromArray(canCast, fits uint32) {
	const arr, to, casting, flags = 0, 1, 2, 3
	var c asm
	c.locals(0)
	c.get(casting).i32(castSafe).eq().get(casting).i32(castSameKind).eq().or().when()
	c.get(to).load(descrTypeNum).i32(npyLong).eq().when()
	c.get(arr).load(arrayDescr).load(descrTypeNum).i32(npyLongLong).eq().when()
	// An output: its old values do not matter, and the way back to 64 bits loses nothing.
	c.get(flags).i32(flagWriteBackIfCopy).and().when().i32(1).ret().end()
	c.get(arr).get(to).call(fits).ret()
	c.end().end().end()
	c.get(arr).get(to).get(casting).call(canCast)
	index := n.addFunc(4, c)
	n.replace("PyArray_FromArray", "\x22\x01\x10"+padded(canCast), "\x22\x01\x20\x02\x10"+padded(index), 1)
}

// astype lets packages ask for index arrays by astype(intp, casting="safe"). The user's own code
// gets the error that it gets on Linux for int32.
func (n *numpyPatch) astype(canCast, fits, user uint32) {
	const arr, to, casting = 0, 1, 2
	var c asm
	c.locals(0)
	c.get(arr).get(to).get(casting).call(canCast).when().i32(1).ret().end()
	c.get(casting).i32(castSafe).ne().when().i32(0).ret().end()
	c.call(user).when().i32(0).ret().end()
	c.get(arr).get(to).call(fits)
	n.replace("array_astype", "\x10"+padded(canCast), "\x10"+padded(n.addFunc(3, c)), 1)
}

// loops gives ufuncs that have loops for npy_intp but none for 64-bit integers, such as
// scipy.special.eval_hermite, a second try when they have found no loop.
func (n *numpyPatch) loops(canCast, canCastType, fits uint32) {
	const arr, to, casting = 0, 1, 2
	withRule := func(otherwise func(*asm)) uint32 {
		var c asm
		c.locals(0)
		c.get(casting).i32(castFits).eq().when()
		c.get(arr).get(to).i32(castSafe).call(canCast).when().i32(1).ret().end()
		c.get(arr).get(to).call(fits).ret().end()
		otherwise(&c)
		return n.addFunc(3, c)
	}
	byArray := withRule(func(c *asm) { c.get(arr).get(to).get(casting).call(canCast) })
	byType := withRule(func(c *asm) { c.get(arr).load(arrayDescr).get(to).get(casting).call(canCastType) })
	const name, args = "ufunc_loop_matches", "\x20\x05\x20\x02\x10"
	n.replace(name, args+padded(canCast), args+padded(byArray), 2)
	n.replace(name, "\x41\x1c\x6a\x28\x02\x00"+args+padded(canCastType), args+padded(byType), 1)

	resolve := n.fn("linear_search_type_resolver", strings.Repeat(one, 6), one)
	raised := n.fn("PyErr_GetRaisedException", "", one)
	restore := n.fn("PyErr_SetRaisedException", one, "")
	clearErr := n.fn("PyErr_Clear", "", "")
	dealloc := n.fn("_Py_Dealloc", one, "")
	original := n.move(resolve, 6)
	const exception = 6
	var c asm
	c.locals(1)
	c.get(0).get(1).get(2).get(3).get(4).get(5).call(original)
	c.i32(-1).ne().when().i32(0).ret().end()
	c.get(2).i32(castSafe).ne().when().i32(-1).ret().end()
	c.call(raised).set(exception)
	c.get(0).get(1).i32(castFits).get(3).get(4).get(5).call(original)
	c.eqz().when()
	c.get(exception).when().release(exception, dealloc).end()
	c.i32(0).ret().end()
	// No better: the first error says it.
	c.call(clearErr).get(exception).call(restore)
	c.i32(-1)
	n.setBody(resolve, c)
}

// bincount converts integers of any kind by force. Here they go through 64 bits, and from there
// only if they fit.
func (n *numpyPatch) bincount(fromArray uint32) {
	fromAny := n.fn("PyArray_FromAny", strings.Repeat(one, 6), one)
	descrFromType := n.fn("PyArray_DescrFromType", one, one)
	dealloc := n.fn("_Py_Dealloc", one, "")
	const op, descr, low, high, flags, context, wide = 0, 1, 2, 3, 4, 5, 6
	var c asm
	c.locals(1)
	c.get(descr).eqz().get(flags).i32(flagForceCast).and().eqz().or().when()
	c.get(op).get(descr).get(low).get(high).get(flags).get(context).call(fromAny).ret().end()
	c.get(op).i32(npyLongLong).call(descrFromType).get(low).get(high).get(flags).get(context).call(fromAny).tee(wide)
	c.eqz().when().release(descr, dealloc).i32(0).ret().end()
	c.get(wide).get(descr).get(flags).i32(^flagForceCast).and().call(fromArray).set(descr)
	c.release(wide, dealloc)
	c.get(descr)
	n.replace("arr_bincount", "\x10"+padded(fromAny), "\x10"+padded(n.addFunc(6, c)), 4)
}

// indexErrorAddr is where CPython keeps PyExc_IndexError.
const indexErrorAddr = 26079528

// One entry of numpy's npy_index_info.
const (
	indexSize   = 12
	indexObject = 0
	indexKind   = 8
	indexFancy  = 16
)

// indices narrows index arrays before numpy uses them, where it would cut 2**32 to 0.
func (n *numpyPatch) indices(fromArray uint32) {
	prepare := n.fn("prepare_index_noarray", strings.Repeat(one, 9), one)
	descrFromType := n.fn("PyArray_DescrFromType", one, one)
	dealloc := n.fn("_Py_Dealloc", one, "")
	clearErr := n.fn("PyErr_Clear", "", "")
	setString := n.fn("PyErr_SetString", two, "")
	n.expect("PyTuple_GetItem", "\x28\x02"+padded(indexErrorAddr), 1)
	original := n.move(prepare, 9)
	const infos, num, result, i, object, narrow, stack = 3, 4, 9, 10, 11, 12, 13
	var c asm
	c.locals(5)
	for p := range uint32(9) {
		c.get(p)
	}
	c.call(original).tee(result).i32(indexFancy).and().eqz().when().get(result).ret().end()
	c.get(result).i32(0).ltS().when().get(result).ret().end()
	c.block().loop()
	c.get(i).get(num).load(0).geS().brIf(1)
	c.get(infos).get(i).i32(indexSize).mul().add().load(indexKind).i32(indexFancy).eq().when()
	c.get(infos).get(i).i32(indexSize).mul().add().load(indexObject).tee(object).when()
	c.get(object).load(arrayDescr).load(descrTypeNum).i32(npyLongLong).eq().when()
	c.get(object).i32(npyLong).call(descrFromType).i32(0).call(fromArray).tee(narrow)
	c.eqz().when()
	c.call(clearErr)
	c.u32(0x23, stackPointer).i32(64).sub().tee(stack).u32(0x24, stackPointer)
	c.text(stack, "index does not fit 32 bits, so it is out of bounds")
	c.i32(0).load(indexErrorAddr).get(stack).call(setString)
	c.get(stack).i32(64).add().u32(0x24, stackPointer)
	// The caller takes the entries over only if there was no error.
	c.i32(0).set(i)
	c.block().loop()
	c.get(i).get(num).load(0).geS().brIf(1)
	c.get(infos).get(i).i32(indexSize).mul().add().load(indexObject).tee(object)
	c.when().release(object, dealloc).end()
	c.get(i).i32(1).add().set(i)
	c.br(0).end().end()
	c.i32(-1).ret()
	c.end()
	c.get(infos).get(i).i32(indexSize).mul().add().get(narrow).store(indexObject)
	c.release(object, dealloc)
	c.end().end().end()
	c.get(i).i32(1).add().set(i)
	c.br(0).end().end()
	c.get(result)
	n.setBody(prepare, c)
}
