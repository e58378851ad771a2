package patch

import (
	"bytes"
	"strings"
	"testing"

	"sallyport.dev/sallyport/internal/python/wasm/module"
)

// fake builds a module of named functions that take and return one i32.
func fake(t *testing.T, bodies map[string]string) *module.Module {
	t.Helper()
	section := func(id byte, body string) string { return string([]byte{id, byte(len(body))}) + body }
	var functions, code, names string
	n := 0
	for name, body := range bodies {
		functions += "\x00"
		body = "\x00" + body + "\x0b"
		code += string([]byte{byte(len(body))}) + body
		names += string([]byte{byte(n), byte(len(name))}) + name
		n++
	}
	count := string([]byte{byte(n)})
	b := "\x00asm\x01\x00\x00\x00" +
		section(1, "\x01\x60\x01\x7f\x01\x7f") +
		section(3, count+functions) +
		section(10, count+code) +
		section(0, "\x04name"+section(1, count+names))
	m, err := module.Parse([]byte(b))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func body(t *testing.T, m *module.Module, name string) []byte {
	t.Helper()
	index, err := m.Func(name)
	if err != nil {
		t.Fatal(err)
	}
	b, err := m.Body(index)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// call0 is a call of function 0 as the linker writes it.
const call0 = "\x10\x80\x80\x80\x80\x00"

func TestReplaceChangesWhatIsAsExpected(t *testing.T) {
	m := fake(t, map[string]string{"f": "\x41\x07" + call0})
	n := &numpyPatch{m: m}
	n.replace("f", "\x41\x07"+call0, "\x41\x09"+call0, 1)
	if n.err != nil {
		t.Fatal(n.err)
	}
	if want := []byte("\x00\x41\x09" + call0 + "\x0b"); !bytes.Equal(body(t, m, "f"), want) {
		t.Errorf("body is %x, want %x", body(t, m, "f"), want)
	}
}

func TestReplaceRefusesAnythingElse(t *testing.T) {
	for name, code := range map[string]string{
		"another constant": "\x41\x08" + call0,
		"twice":            "\x41\x07" + call0 + "\x1a\x41\x07" + call0,
		"another function": "\x41\x07\x10\x81\x80\x80\x80\x00",
	} {
		t.Run(name, func(t *testing.T) {
			m := fake(t, map[string]string{"f": code})
			before := bytes.Clone(body(t, m, "f"))
			n := &numpyPatch{m: m}
			n.replace("f", "\x41\x07"+call0, "\x41\x09"+call0, 1)
			if n.err == nil {
				t.Fatal("a function that is not as expected was changed")
			}
			if !bytes.Equal(body(t, m, "f"), before) {
				t.Error("the function was changed in spite of the error")
			}
		})
	}
}

func TestFunctionsOfAnotherTypeAreRefused(t *testing.T) {
	n := &numpyPatch{m: fake(t, map[string]string{"f": "\x20\x00"})}
	n.fn("f", one, one)
	if n.err != nil {
		t.Fatal(n.err)
	}
	n.fn("f", two, one)
	if n.err == nil {
		t.Fatal("a function of one parameter was taken for one of two")
	}
}

func TestTheFirstErrorSticks(t *testing.T) {
	m := fake(t, map[string]string{"f": "\x41\x07"})
	n := &numpyPatch{m: m}
	n.replace("g", "\x41\x07", "\x41\x09", 1)
	n.replace("f", "\x41\x07", "\x41\x09", 1)
	if n.err == nil || !strings.Contains(n.err.Error(), "g") {
		t.Errorf("error is %v, want one about g", n.err)
	}
	if !bytes.Equal(body(t, m, "f"), []byte("\x00\x41\x07\x0b")) {
		t.Error("a function was changed after an error")
	}
}

func TestNumpyRefusesAnotherModule(t *testing.T) {
	for name, m := range map[string]*module.Module{
		"without numpy": fake(t, map[string]string{"main": "\x20\x00"}),
		"with another numpy": fake(t, map[string]string{
			"PyArray_DescrFromType":  "\x20\x00",
			"int_default_descriptor": "\x41\x05" + call0,
		}),
	} {
		if err := numpy(m); err == nil || !strings.Contains(err.Error(), "patching numpy") {
			t.Errorf("%s: error is %v, want a refusal", name, err)
		}
	}
}

func TestAsmEncodes(t *testing.T) {
	for _, c := range []struct {
		name string
		got  func(*asm) *asm
		want string
	}{
		{"small constant", func(c *asm) *asm { return c.i32(9) }, "\x41\x09"},
		{"sign bit of LEB128", func(c *asm) *asm { return c.i32(64) }, "\x41\xc0\x00"},
		{"minus one", func(c *asm) *asm { return c.i32(-1) }, "\x41\x7f"},
		{"64 bits", func(c *asm) *asm { return c.i64(1 << 31) }, "\x42\x80\x80\x80\x80\x08"},
		{"offset", func(c *asm) *asm { return c.load(300) }, "\x28\x00\xac\x02"},
		{"locals of both kinds", func(c *asm) *asm { return c.locals(2, 1) }, "\x02\x02\x7f\x01\x7e"},
		{"padded", func(c *asm) *asm { return c.op([]byte(padded(10685))...) }, "\xbd\xd3\x80\x80\x00"},
	} {
		if got := c.got(&asm{}).b; string(got) != c.want {
			t.Errorf("%s is %x, want %x", c.name, got, c.want)
		}
	}
}

func TestNotAtComparesTheWholeText(t *testing.T) {
	var c asm
	c.notAt(0, 0, libraryArchive)
	// 29 characters: three times eight, four, and one.
	for _, piece := range []struct {
		code  string
		count int
	}{{"\x29\x00", 3}, {"\x2d\x00", 1}} {
		if got := strings.Count(string(c.b), piece.code); got != piece.count {
			t.Errorf("%x occurs %d times, want %d", piece.code, got, piece.count)
		}
	}
}

func TestNumpySourceIsEmbedded(t *testing.T) {
	if !strings.Contains(NumpySource(), "def _split_names") {
		t.Error("numpy64.py is not embedded")
	}
}
