package patch

import (
	"bytes"
	"fmt"

	"sallyport.dev/sallyport/internal/python/wasm/module"
)

// Apply changes the module in place. It fails, and the module must not be used, when a function
// is not the one that a patch was written for.
func Apply(m *module.Module) error {
	for _, apply := range []func(*module.Module) error{locks, modes, recursion, openFiles, numpy} {
		if err := apply(m); err != nil {
			return err
		}
	}
	return nil
}

// find returns a function and its code, and fails when its type is another one than i32 parameters
// and one i32 result.
func find(m *module.Module, name string, params int) (index uint32, body []byte, err error) {
	if index, err = m.Func(name); err != nil {
		return 0, nil, err
	}
	sig, err := m.Signature(index)
	if err != nil {
		return 0, nil, err
	}
	want := append([]byte{0x60, byte(params)}, bytes.Repeat([]byte{byte(module.I32)}, params)...)
	if !bytes.Equal(sig, append(want, 1, byte(module.I32))) {
		return 0, nil, fmt.Errorf("patching %s: unexpected signature %x", name, sig)
	}
	body, err = m.Body(index)
	return index, body, err
}

// aside keeps a function's code under an index of its own, for code that goes in its place.
func aside(m *module.Module, params int, body []byte) uint32 {
	types := make([]module.ValType, params)
	for i := range types {
		types[i] = module.I32
	}
	return m.AddFunc(types, []module.ValType{module.I32}, body)
}
