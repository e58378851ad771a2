package patch

import (
	"fmt"

	"sallyport.dev/sallyport/internal/python/wasm/module"
)

// WASI error numbers.
const (
	errnoIO    = 29
	errnoMFILE = 33
)

// openFiles names the error that a process with too many open files gets.
//
// The runtime has no code for it on its way through its newer interfaces, and reports an I/O
// error, which reads like a broken disk. Opening gives no I/O error for another reason on the
// in-memory folders that a guest has.
func openFiles(m *module.Module) error {
	index, body, err := m.Find("__wasilibc_nocwd_openat_nomode", 3)
	if err != nil {
		return err
	}
	errno, err := errnoAddress(body)
	if err != nil {
		return fmt.Errorf("patching open: %w", err)
	}
	original := m.Aside(3, body)
	const result = 3
	c := module.NewCode(module.I32)
	c.LocalGet(0).LocalGet(1).LocalGet(2).Call(original).LocalTee(result).I32Const(-1).I32Eq()
	c.If()
	c.I32Const(errno).I32Load(0).I32Const(errnoIO).I32Eq()
	c.If().I32Const(errno).I32Const(errnoMFILE).I32Store(0).End()
	c.End()
	c.LocalGet(result)
	return m.SetBody(index, c.Body())
}

// errnoAddress finds where a function stores errno: the only store to a constant address, which
// clang writes as i32.const 0; value; i32.store offset=errno.
func errnoAddress(body []byte) (int32, error) {
	var found int32
	for i := 0; i+7 <= len(body); i++ {
		if body[i] != 0x36 || body[i+1] != 0x02 {
			continue
		}
		// The linker pads relocated offsets to five bytes.
		v, n := int32(0), 0
		for n < 5 && i+2+n < len(body) {
			b := body[i+2+n]
			v |= int32(b&0x7f) << (7 * n)
			n++
			if b < 0x80 {
				break
			}
		}
		if n < 4 || v < 16<<20 {
			continue
		}
		if found != 0 && found != v {
			return 0, fmt.Errorf("two constant addresses: %#x, %#x", found, v)
		}
		found = v
	}
	if found == 0 {
		return 0, fmt.Errorf("no store to errno")
	}
	return found, nil
}
