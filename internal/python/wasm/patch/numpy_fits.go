package patch

import "sallyport.dev/sallyport/internal/python/wasm/module"

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

// fits lets C code that wants an index array take 64-bit integers, when all of them fit.
//
// On a 64-bit system the two types are one, so repeat, choose, put and many functions of other
// packages take what arange made. Here the conversion is not "safe" in numpy's sense and would be
// refused. The values are looked at: one that does not fit is refused as before, never cut.
func (n *numpyPatch) fits() {
	fromArray := n.fn("PyArray_FromArray", three, one)
	canCast := n.fn("PyArray_CanCastArrayTo", three, one)
	descrFromType := n.fn("PyArray_DescrFromType", one, one)
	dealloc := n.fn("_Py_Dealloc", one, "")
	// The loads by which PyArray_Return knows a scalar, and reducelike… a type number.
	n.expect("PyArray_Return", "\x20\x00\x41\x0c\x6a\x28\x02\x00\x45\x0d\x00", 1)
	n.expect("reducelike_promote_and_resolve", "\x20\x01\x41\x1c\x6a\x28\x02\x00\x22\x0a\x41\x10\x6a\x28\x02\x00\x22\x0b\x41\x0a\x4b", 1)
	if n.err != nil {
		return
	}
	const arr, to, casting, result, count, i, data = 0, 1, 2, 3, 4, 5, 6
	var c asm
	c.locals(4)
	c.get(arr).get(to).get(casting).call(canCast).tee(result).when().i32(1).ret().end()
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
	index := n.m.AddFunc(i32s(3), i32s(1), append(c.b, 0x0b))
	n.replace("PyArray_FromArray", "\x10"+padded(canCast), "\x10"+padded(index), 1)
}

func i32s(n int) []module.ValType {
	out := make([]module.ValType, n)
	for i := range out {
		out[i] = module.I32
	}
	return out
}
