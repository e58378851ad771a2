package module

import (
	"bytes"
	"fmt"
)

// Find returns a function and its code by name. It fails when the function's type is another one
// than params times i32, and one i32 as result.
func (m *Module) Find(name string, params int) (index uint32, body []byte, err error) {
	if index, err = m.Func(name); err != nil {
		return 0, nil, err
	}
	sig, err := m.Signature(index)
	if err != nil {
		return 0, nil, err
	}
	if !bytes.Equal(sig, encodeType(words(params), words(1))) {
		return 0, nil, fmt.Errorf("finding %s: unexpected signature %x", name, sig)
	}
	body, err = m.Body(index)
	return index, body, err
}

// Aside keeps a function's code under an index of its own, for code that goes in its place.
func (m *Module) Aside(params int, body []byte) uint32 {
	return m.AddFunc(words(params), words(1), body)
}

func words(n int) []ValType {
	types := make([]ValType, n)
	for i := range types {
		types[i] = I32
	}
	return types
}
