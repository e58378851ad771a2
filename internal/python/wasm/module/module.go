package module

import (
	"bytes"
	"fmt"
	"io"
	"slices"
)

// Section ids of the binary format.
const (
	secCustom    = 0
	secType      = 1
	secImport    = 2
	secFunction  = 3
	secMemory    = 5
	secGlobal    = 6
	secExport    = 7
	secStart     = 8
	secCode      = 10
	secData      = 11
	secDataCount = 12
)

// PageSize is the unit of a WebAssembly memory, in bytes.
const PageSize = 64 << 10

var magic = []byte("\x00asm\x01\x00\x00\x00")

type section struct {
	id   byte
	body []byte
}

// A Module is a parsed binary that can be edited and written again. It keeps slices of the
// bytes that it was parsed from.
type Module struct {
	sections  []section
	types     [][]byte // encoded function types
	imports   []importedFunc
	functions []uint32 // type index of each own function
	bodies    [][]byte // code of each own function, without its size
	names     map[string]uint32
	twice     map[string]bool // names of more than one function
}

type importedFunc struct {
	module, name string
}

// Parse reads a module. Only modules whose imports are all functions are accepted.
func Parse(b []byte) (*Module, error) {
	if !bytes.HasPrefix(b, magic) {
		return nil, fmt.Errorf("parsing WebAssembly module: not a binary module of version 1")
	}
	r := &reader{b: b, pos: len(magic)}
	m := &Module{}
	for r.more() {
		id := r.byte()
		body := r.bytes(r.u32())
		if r.err != nil {
			break
		}
		m.sections = append(m.sections, section{id, body})
		if err := m.index(id, body); err != nil {
			return nil, fmt.Errorf("parsing WebAssembly section %d: %w", id, err)
		}
	}
	if r.err != nil {
		return nil, fmt.Errorf("parsing WebAssembly module: %w", r.err)
	}
	if len(m.functions) != len(m.bodies) {
		return nil, fmt.Errorf("parsing WebAssembly module: %d functions, %d bodies", len(m.functions), len(m.bodies))
	}
	return m, nil
}

func (m *Module) index(id byte, body []byte) error {
	r := &reader{b: body}
	switch id {
	case secType:
		return m.indexTypes(r)
	case secImport:
		for n := r.u32(); n > 0 && r.err == nil; n-- {
			f := importedFunc{r.name(), r.name()}
			if kind := r.byte(); kind != 0 {
				r.fail("import %s.%s is not a function", f.module, f.name)
			}
			r.u32()
			m.imports = append(m.imports, f)
		}
	case secFunction:
		for n := r.u32(); n > 0 && r.err == nil; n-- {
			m.functions = append(m.functions, r.u32())
		}
	case secCode:
		for n := r.u32(); n > 0 && r.err == nil; n-- {
			m.bodies = append(m.bodies, r.bytes(r.u32()))
		}
	}
	return r.err
}

// indexTypes keeps plain function types; other forms (recursion groups, structs) are refused,
// since a module of this kind has none and an index into them would be off.
func (m *Module) indexTypes(r *reader) error {
	for n := r.u32(); n > 0 && r.err == nil; n-- {
		start := r.pos
		if form := r.byte(); form != 0x60 {
			r.fail("type form %#x is not a function", form)
		}
		r.bytes(r.u32())
		r.bytes(r.u32())
		if r.err == nil {
			m.types = append(m.types, r.b[start:r.pos])
		}
	}
	return r.err
}

// Import returns the index of an imported function.
func (m *Module) Import(module, name string) (uint32, error) {
	i := slices.Index(m.imports, importedFunc{module, name})
	if i < 0 {
		return 0, fmt.Errorf("module does not import %s.%s", module, name)
	}
	return uint32(i), nil
}

// Imports lists the imported functions as module.name, in order.
func (m *Module) Imports() []string {
	var out []string
	for _, f := range m.imports {
		out = append(out, f.module+"."+f.name)
	}
	return out
}

// Export returns the index of an exported function.
func (m *Module) Export(name string) (uint32, error) {
	r := &reader{b: m.section(secExport)}
	for n := r.u32(); n > 0 && r.err == nil; n-- {
		got, kind, index := r.name(), r.byte(), r.u32()
		if r.err == nil && got == name && kind == 0 {
			return index, nil
		}
	}
	return 0, fmt.Errorf("module does not export function %s", name)
}

// Func returns the index of a function by its name in the name section. Names of static functions
// need not be unique; one that is not is an error.
func (m *Module) Func(name string) (uint32, error) {
	if m.names == nil {
		if err := m.readNames(); err != nil {
			return 0, err
		}
	}
	i, ok := m.names[name]
	switch {
	case !ok:
		return 0, fmt.Errorf("module has no function named %s", name)
	case m.twice[name]:
		return 0, fmt.Errorf("module has more than one function named %s", name)
	}
	return i, nil
}

func (m *Module) readNames() error {
	m.names, m.twice = map[string]uint32{}, map[string]bool{}
	for _, s := range m.sections {
		r := &reader{b: s.body}
		if s.id != secCustom || r.name() != "name" {
			continue
		}
		for r.more() {
			sub, body := r.byte(), r.bytes(r.u32())
			if sub != 1 || r.err != nil {
				continue
			}
			f := &reader{b: body}
			for n := f.u32(); n > 0 && f.err == nil; n-- {
				index, name := f.u32(), f.name()
				if _, ok := m.names[name]; ok {
					m.twice[name] = true
				}
				m.names[name] = index
			}
			if f.err != nil {
				return fmt.Errorf("reading function names: %w", f.err)
			}
		}
		return r.err
	}
	return nil
}

// Body returns the code of an own function: its locals and instructions.
func (m *Module) Body(index uint32) ([]byte, error) {
	i := int(index) - len(m.imports)
	if i < 0 || i >= len(m.bodies) {
		return nil, fmt.Errorf("function %d has no body", index)
	}
	return m.bodies[i], nil
}

// SetBody replaces the code of an own function.
func (m *Module) SetBody(index uint32, body []byte) error {
	if _, err := m.Body(index); err != nil {
		return err
	}
	m.bodies[int(index)-len(m.imports)] = body
	return nil
}

// AddFunc appends a function and returns its index.
func (m *Module) AddFunc(params, results []ValType, body []byte) uint32 {
	m.functions = append(m.functions, m.typeIndex(params, results))
	m.bodies = append(m.bodies, body)
	return uint32(len(m.imports) + len(m.bodies) - 1)
}

// Signature returns the encoded type of an own function.
func (m *Module) Signature(index uint32) ([]byte, error) {
	i := int(index) - len(m.imports)
	if i < 0 || i >= len(m.functions) || int(m.functions[i]) >= len(m.types) {
		return nil, fmt.Errorf("function %d has no known type", index)
	}
	return m.types[m.functions[i]], nil
}

func (m *Module) typeIndex(params, results []ValType) uint32 {
	want := encodeType(params, results)
	for i, t := range m.types {
		if bytes.Equal(t, want) {
			return uint32(i)
		}
	}
	m.types = append(m.types, want)
	return uint32(len(m.types) - 1)
}

func encodeType(params, results []ValType) []byte {
	b := appendU32([]byte{0x60}, uint32(len(params)))
	for _, p := range params {
		b = append(b, byte(p))
	}
	b = appendU32(b, uint32(len(results)))
	for _, r := range results {
		b = append(b, byte(r))
	}
	return b
}

func (m *Module) section(id byte) []byte {
	for _, s := range m.sections {
		if s.id == id {
			return s.body
		}
	}
	return nil
}

// Encode writes the module.
func (m *Module) Encode(w io.Writer) error {
	if _, err := w.Write(magic); err != nil {
		return fmt.Errorf("writing WebAssembly module: %w", err)
	}
	for _, s := range m.sections {
		chunks := [][]byte{s.body}
		switch s.id {
		case secType:
			chunks = append([][]byte{appendU32(nil, uint32(len(m.types)))}, m.types...)
		case secFunction:
			b := appendU32(nil, uint32(len(m.functions)))
			for _, t := range m.functions {
				b = appendU32(b, t)
			}
			chunks = [][]byte{b}
		case secCode:
			chunks = m.codeChunks()
		}
		if err := writeSection(w, s.id, chunks); err != nil {
			return fmt.Errorf("writing WebAssembly section %d: %w", s.id, err)
		}
	}
	return nil
}

func (m *Module) codeChunks() [][]byte {
	chunks := make([][]byte, 0, 2*len(m.bodies)+1)
	chunks = append(chunks, appendU32(nil, uint32(len(m.bodies))))
	for _, b := range m.bodies {
		chunks = append(chunks, appendU32(nil, uint32(len(b))), b)
	}
	return chunks
}

func writeSection(w io.Writer, id byte, chunks [][]byte) error {
	size := 0
	for _, c := range chunks {
		size += len(c)
	}
	if _, err := w.Write(appendU32([]byte{id}, uint32(size))); err != nil {
		return err
	}
	for _, c := range chunks {
		if _, err := w.Write(c); err != nil {
			return err
		}
	}
	return nil
}
