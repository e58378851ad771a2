package patch

import (
	"bytes"
	"fmt"

	"sallyport.dev/sallyport/internal/python/wasm/module"
)

// Type numbers of numpy's C code (ndarraytypes.h). On wasm32 a C long and npy_intp have 32 bits.
const (
	npyLong     = 7 // also NPY_INTP, and what numpy takes as its default integer here
	npyLongLong = 9
)

// pyObjectType is the offset of ob_type in a PyObject; the reference count stands before it.
const pyObjectType = 4

// numpy makes 64 bits the default for integers in user data, as on 64-bit systems.
//
// Only the places where numpy chooses a type for somebody's data are changed: Python integers,
// dtype=int, arange, what sum and prod add up in. NPY_INTP itself keeps its 32 bits, since C code
// that was compiled for it indexes memory with such arrays. Two more changes join both worlds:
// where C code asks for an index array and is given 64-bit integers, they are converted if each
// value fits (numpyFits), and what numpy's index functions return to the user's own code is
// widened (numpyWiden).
func numpy(m *module.Module) error {
	n := &numpyPatch{m: m}
	n.defaults()
	n.reductions()
	user := n.calledByUser()
	n.fits(user)
	n.widen(user)
	n.random()
	n.sampling()
	if n.err != nil {
		return fmt.Errorf("patching numpy: %w", n.err)
	}
	return nil
}

// numpyPatch edits function bodies; the first error sticks.
type numpyPatch struct {
	m   *module.Module
	err error
}

func (n *numpyPatch) fail(format string, args ...any) {
	if n.err == nil {
		n.err = fmt.Errorf(format, args...)
	}
}

// fn returns the index of a function that must have this type, given as parameters and results
// in the binary format.
func (n *numpyPatch) fn(name, params, results string) uint32 {
	if n.err != nil {
		return 0
	}
	index, err := n.m.Func(name)
	if err != nil {
		n.err = err
		return 0
	}
	sig, err := n.m.Signature(index)
	want := fmt.Appendf(nil, "\x60%c%s%c%s", len(params), params, len(results), results)
	if err != nil || !bytes.Equal(sig, want) {
		n.fail("function %s does not have the expected type %x but %x", name, want, sig)
	}
	return index
}

// call is the code of a call as the linker writes it: an index padded to five bytes.
func (n *numpyPatch) call(name, params, results string) string {
	return "\x10" + padded(n.fn(name, params, results))
}

func padded(v uint32) string {
	b := make([]byte, 5)
	for i := range b {
		b[i] = byte(v>>(7*i))&0x7f | 0x80
	}
	b[4] &= 0x7f
	return string(b)
}

// replace puts new code for old, which must stand in the named function exactly count times.
func (n *numpyPatch) replace(name, old, new string, count int) {
	if n.err != nil {
		return
	}
	index, err := n.m.Func(name)
	if err != nil {
		n.err = err
		return
	}
	body, err := n.m.Body(index)
	if err != nil {
		n.err = err
		return
	}
	if got := bytes.Count(body, []byte(old)); got != count {
		n.fail("function %s holds the code that is to be changed %d times, not %d", name, got, count)
		return
	}
	n.err = n.m.SetBody(index, bytes.ReplaceAll(body, []byte(old), []byte(new)))
}

// expect refuses a module in which the named function lacks a piece of code from which an offset
// or an address was taken.
func (n *numpyPatch) expect(name, code string, count int) { n.replace(name, code, code, count) }

const (
	one   = "\x7f"             // an i32
	two   = "\x7f\x7f"         // two of them
	three = "\x7f\x7f\x7f"     // and so on
	four  = "\x7f\x7f\x7f\x7f" //
)

// defaults changes the places that choose the default integer.
func (n *numpyPatch) defaults() {
	descr := n.call("PyArray_DescrFromType", one, one)
	const long, longLong = "\x41\x07", "\x41\x09" // i32.const 7 and 9
	for _, site := range []struct {
		function string
		count    int
	}{
		{"int_default_descriptor", 1},    // promotion of Python integers with one another
		{"_convert_from_any", 1},         // dtype=int
		{"PyArray_ArangeObj", 1},         // at least the default integer
		{"_multiarray_umath_exec", 1},    // the array that stands for huge Python integers
		{"py_resolve_dtypes_generic", 2}, // ufunc.resolve_dtypes((int, …))
	} {
		n.replace(site.function, long+descr, longLong+descr, site.count)
	}
	// -1 takes a path of its own, since it is also the sign of an error; all others are chosen by range.
	n.replace("discover_descriptor_from_pylong", long+descr+"\x0f", longLong+descr+"\x0f", 1)
	n.replace("discover_descriptor_from_pylong", "\x41\x07\x41\x09", "\x41\x09\x41\x09", 1)
	// A Python integer that was not seen as the default integer is replaced by that array of zero.
	n.replace("convert_ufunc_arguments", "\x28\x02\x00\x41\x10\x6a\x28\x02\x00\x41\x07\x46\x0d\x00",
		"\x28\x02\x00\x41\x10\x6a\x28\x02\x00\x41\x09\x46\x0d\x00", 1)
	// bool with a Python integer: load the type from _LongLong_dtype instead of _Intp_dtype.
	intpDType, longLongDType := "\x28\x02"+padded(intpDTypeAddr), "\x28\x02"+padded(longLongDTypeAddr)
	n.expect("initialize_legacy_dtypemeta_aliases", "\x28\x02\x24\x41\x04\x6a\x22\x07\x28\x02\x00\x36\x02"+padded(longLongDTypeAddr), 1)
	n.replace("int_common_dtype", intpDType, longLongDType, 2)
	// A ufunc of one Python integer, such as np.square(100000), has a short cut that stores the value as a long.
	n.replace("ufunc_generic_fastcall", "\x36\x02\xb0\x02"+long+descr, "\xac\x37\x03\xb0\x02"+longLong+descr, 1)
}

// Addresses of numpy's pointers to its DType classes; the loads and stores above prove them.
const (
	intpDTypeAddr     = 27642972
	longLongDTypeAddr = 27642932
)

// reductions lets sum, prod, cumsum and their kin add up bool and all integers of less than 64
// bits in 64 bits, unsigned ones in unsigned.
func (n *numpyPatch) reductions() {
	const name = "reducelike_promote_and_resolve"
	// For bool, and as a start for the others.
	n.replace(name, "\x41\x07\x21\x09\x02\x40", "\x41\x09\x21\x09\x02\x40", 1)
	// itemsize <= 3 becomes <= 7.
	n.replace(name, "\x41\x20\x6a\x28\x02\x00\x41\x03\x4d\x0d\x00", "\x41\x20\x6a\x28\x02\x00\x41\x07\x4d\x0d\x00", 1)
	// A table that maps the type number less two: unsigned ones are even there. 10 - (x & 1) is
	// NPY_ULONGLONG or NPY_LONGLONG.
	n.replace(name, "\x20\x0b\x2d\x00\x80\xe3\xc3\x8a\x00\x21\x09", "\x41\x0a\x20\x0b\x41\x01\x71\x6b\x21\x09", 1)
}

// random lets numpy's legacy generator return 64-bit integers, where it has C longs or cuts to them.
func (n *numpyPatch) random() {
	// What it has computed in 64 bits is returned as it is.
	index := n.fn("__pyx_f_5numpy_6random_6mtrand_int64_to_long", one, one)
	var c asm
	c.locals(0)
	c.newReference(0)
	c.get(0)
	n.setBody(index, c)
	// These fill arrays of C longs, which are widened for everybody.
	const class = "__pyx_pw_5numpy_6random_6mtrand_11RandomState_"
	always := n.constant(1)
	widen := n.widened()
	n.wrap(class+"87binomial", four, always, widen)
	n.wrap(class+"103multinomial", four, always, widen)
	// These name numpy.long but work through Python objects; let them read numpy.int64 instead.
	for _, f := range []struct {
		name  string
		count int
	}{{"__pyx_pf_5numpy_6random_6mtrand_11RandomState_34choice", 2}, {class + "31randint", 1}, {class + "109permutation", 1}} {
		n.replace(f.name, "\x28\x02"+padded(nameLongAddr), "\x28\x02"+padded(nameInt64Addr), f.count)
	}
}

// Where numpy.random.mtrand keeps the names that it looks up.
const (
	nameLongAddr  = 27668500
	nameInt64Addr = 27668356
)

// sampling lets scikit-learn's sampling without replacement, whose buffers hold C longs but are
// made with dtype=int, ask for numpy's type of a C long.
func (n *numpyPatch) sampling() {
	const intType, longScalarType = "\x41\xf4\xb2\xb9\x8c\x00\x36\x02", 26435440
	for _, fused := range []string{"__pyx_fuse_0", "__pyx_fuse_1"} {
		for _, method := range []string{"pool", "tracking_selection", "reservoir_sampling"} {
			n.replace(fused+"__pyx_f_7sklearn_5utils_7_random__sample_without_replacement_with_"+method,
				intType, "\x41"+padded(longScalarType)+"\x36\x02", 2)
		}
	}
}

func (n *numpyPatch) setBody(index uint32, c asm) {
	if n.err == nil {
		n.err = n.m.SetBody(index, append(c.b, 0x0b))
	}
}

// addFunc adds a function of so many i32 parameters that returns an i32.
func (n *numpyPatch) addFunc(params int, c asm) uint32 {
	if n.err != nil {
		return 0
	}
	return n.m.AddFunc(i32s(params), i32s(1), append(c.b, 0x0b))
}

func (n *numpyPatch) constant(v int32) uint32 {
	var c asm
	c.locals(0)
	c.i32(v)
	return n.addFunc(0, c)
}

// move gives a function's code an index of its own, so that the function can be wrapped.
func (n *numpyPatch) move(index uint32, params int) uint32 {
	if n.err != nil {
		return 0
	}
	body, err := n.m.Body(index)
	if err != nil {
		n.err = err
		return 0
	}
	return n.m.AddFunc(i32s(params), i32s(1), body)
}

func i32s(n int) []module.ValType {
	out := make([]module.ValType, n)
	for i := range out {
		out[i] = module.I32
	}
	return out
}
