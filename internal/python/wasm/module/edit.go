package module

import "fmt"

// An Export names a function or the memory for the host.
type Export struct {
	Name  string
	Kind  byte // KindFunc or KindMemory
	Index uint32
}

// Kinds of exports.
const (
	KindFunc   = 0
	KindMemory = 2
)

// SetExports replaces all exports. A command-line runtime takes a module for a program only when
// it exports _start and no initialiser.
func (m *Module) SetExports(exports ...Export) {
	b := appendU32(nil, uint32(len(exports)))
	for _, e := range exports {
		b = append(appendName(b, e.Name), e.Kind)
		b = appendU32(b, e.Index)
	}
	m.setSection(secExport, b)
}

// SetMemory sets the only memory's size and ceiling, in pages.
func (m *Module) SetMemory(minimum, maximum uint32) {
	b := appendU32([]byte{1, 1}, minimum)
	m.setSection(secMemory, appendU32(b, maximum))
}

// Memory returns the only memory's size and ceiling, in pages.
func (m *Module) Memory() (minimum, maximum uint32, err error) {
	r := &reader{b: m.section(secMemory)}
	if n := r.u32(); n != 1 {
		return 0, 0, fmt.Errorf("module has %d memories, want 1", n)
	}
	flags := r.byte()
	minimum, maximum = r.u32(), 65536
	if flags == 1 {
		maximum = r.u32()
	} else if flags != 0 {
		return 0, 0, fmt.Errorf("memory has flags %#x: shared or 64-bit memories are not supported", flags)
	}
	return minimum, maximum, r.err
}

func (m *Module) setSection(id byte, body []byte) {
	for i := range m.sections {
		if m.sections[i].id == id {
			m.sections[i].body = body
			return
		}
	}
}

// Drop removes the sections with these ids; see [Module.DropCustom] for custom ones.
func (m *Module) drop(ids ...byte) {
	kept := m.sections[:0]
	for _, s := range m.sections {
		remove := false
		for _, id := range ids {
			remove = remove || s.id == id
		}
		if !remove {
			kept = append(kept, s)
		}
	}
	m.sections = kept
}

// DropCustom removes names and other custom sections: a finished image needs none.
func (m *Module) DropCustom() { m.drop(secCustom) }

// SetImage makes the memory start as image instead of as the module's own data. Runs of zero
// pages are left out; they cost nothing in the file and stay untouched until the guest writes.
// The code must not use passive segments (memory.init), which would be gone; the compiler's
// validation catches a module that does.
func (m *Module) SetImage(image []byte) error {
	if len(image)%PageSize != 0 {
		return fmt.Errorf("image of %d bytes is not a whole number of pages", len(image))
	}
	_, maximum, err := m.Memory()
	if err != nil {
		return fmt.Errorf("setting memory image: %w", err)
	}
	pages := uint32(len(image) / PageSize)
	if pages > maximum {
		return fmt.Errorf("image of %d pages exceeds the module's maximum of %d", pages, maximum)
	}
	m.SetMemory(pages, maximum)
	var segments []byte
	count := uint32(0)
	for _, run := range runs(image) {
		segments = append(segments, 0x00, 0x41)
		segments = appendS32(segments, int32(uint32(run.start)))
		segments = append(segments, 0x0b)
		segments = appendU32(segments, uint32(run.end-run.start))
		segments = append(segments, image[run.start:run.end]...)
		count++
	}
	m.drop(secDataCount, secData)
	m.sections = append(m.sections, section{secData, append(appendU32(nil, count), segments...)})
	return nil
}

type span struct{ start, end int }

// runs returns the stretches of pages that hold anything but zeros.
func runs(image []byte) []span {
	var out []span
	for p := 0; p < len(image); p += PageSize {
		if isZero(image[p : p+PageSize]) {
			continue
		}
		if n := len(out); n > 0 && out[n-1].end == p {
			out[n-1].end = p + PageSize
			continue
		}
		out = append(out, span{p, p + PageSize})
	}
	return out
}

func isZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// Data returns the memory that the module's active segments make, from address 0 to the last byte.
// Segments must have constant addresses, as those of a linked program have.
func (m *Module) Data() ([]byte, error) {
	r := &reader{b: m.section(secData)}
	var memory []byte
	for n := r.u32(); n > 0 && r.err == nil; n-- {
		switch mode := r.byte(); mode {
		case 0:
		case 1: // passive: only code that is gone once the program is linked would copy it
			r.bytes(r.u32())
			continue
		default:
			return nil, fmt.Errorf("data segment of mode %d is not in the first memory", mode)
		}
		if op := r.byte(); op != 0x41 {
			return nil, fmt.Errorf("data segment has no constant address")
		}
		at := uint32(r.s32())
		if end := r.byte(); end != 0x0b {
			return nil, fmt.Errorf("data segment has no constant address")
		}
		b := r.bytes(r.u32())
		if r.err != nil {
			break
		}
		if end := int(at) + len(b); end > len(memory) {
			if end > 1<<31 {
				return nil, fmt.Errorf("data segment ends at %#x", end)
			}
			memory = append(memory, make([]byte, end-len(memory))...)
		}
		copy(memory[at:], b)
	}
	return memory, r.err
}
