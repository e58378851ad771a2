package module

import (
	"bytes"
	"strings"
	"testing"
)

// sample is a module with one import, one function named f, one page of memory and data in it.
func sample() []byte {
	b := bytes.Clone(magic)
	put := func(id byte, body ...byte) { b = append(append(b, id, byte(len(body))), body...) }
	put(secType, 2, 0x60, 1, 0x7f, 1, 0x7f, 0x60, 0, 0)
	put(secImport, []byte{1, 1, 'e', 2, 'g', 'o', 0, 1}...)
	put(secFunction, 1, 0)
	put(secMemory, 1, 0, 2)
	put(secExport, []byte{1, 3, 'r', 'u', 'n', 0, 1}...)
	put(secCode, 1, 4, 0, 0x20, 0, 0x0b)
	put(secData, []byte{2, 0, 0x41, 8, 0x0b, 3, 'a', 'b', 'c', 1, 2, 'x', 'y'}...)
	put(secCustom, []byte{4, 'n', 'a', 'm', 'e', 1, 4, 1, 1, 1, 'f'}...)
	return b
}

func parse(t *testing.T, b []byte) *Module {
	t.Helper()
	m, err := Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func encode(t *testing.T, m *Module) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := m.Encode(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestUnchangedModuleIsCopied(t *testing.T) {
	if got := encode(t, parse(t, sample())); !bytes.Equal(got, sample()) {
		t.Errorf("wrote\n%x, read\n%x", got, sample())
	}
}

func TestLookUp(t *testing.T) {
	m := parse(t, sample())
	if i, err := m.Import("e", "go"); err != nil || i != 0 {
		t.Errorf("import: %d, %v", i, err)
	}
	if i, err := m.Func("f"); err != nil || i != 1 {
		t.Errorf("function: %d, %v", i, err)
	}
	if i, err := m.Export("run"); err != nil || i != 1 {
		t.Errorf("export: %d, %v", i, err)
	}
	for _, missing := range []func() error{
		func() error { _, err := m.Import("e", "stop"); return err },
		func() error { _, err := m.Func("g"); return err },
		func() error { _, err := m.Export("f"); return err },
		func() error { _, err := m.Body(0); return err }, // an import has none
		func() error { _, err := m.Body(2); return err },
		func() error { return m.SetBody(9, nil) },
		func() error { _, err := m.Signature(0); return err },
	} {
		if missing() == nil {
			t.Error("something that is not there was found")
		}
	}
	if data, err := m.Data(); err != nil || string(data) != strings.Repeat("\x00", 8)+"abc" {
		t.Errorf("data: %q, %v", data, err)
	}
	if minimum, maximum, err := m.Memory(); err != nil || minimum != 2 || maximum != 65536 {
		t.Errorf("memory: %d to %d, %v", minimum, maximum, err)
	}
}

func TestNamesOfSeveralFunctions(t *testing.T) {
	b := sample()
	b = append(b[:len(b)-13], secCustom, 14, 4, 'n', 'a', 'm', 'e', 1, 7, 2, 0, 1, 'f', 1, 1, 'f')
	if _, err := parse(t, b).Func("f"); err == nil || !strings.Contains(err.Error(), "more than one") {
		t.Errorf("an ambiguous name: %v", err)
	}
}

func TestImage(t *testing.T) {
	m := parse(t, sample())
	image := make([]byte, 4*PageSize)
	copy(image[PageSize:], "second page")
	copy(image[3*PageSize:], "fourth page")
	if err := m.SetImage(image); err != nil {
		t.Fatal(err)
	}
	again := parse(t, encode(t, m))
	data, err := again.Data()
	if err != nil || !bytes.Equal(data, image) {
		t.Errorf("the image came back with %d bytes, %v", len(data), err)
	}
	if minimum, _, err := again.Memory(); err != nil || minimum != 4 {
		t.Errorf("memory has %d pages, %v", minimum, err)
	}
	if m.SetImage(image[:100]) == nil {
		t.Error("part of a page was taken for an image")
	}
}

func TestAddedFunction(t *testing.T) {
	m := parse(t, sample())
	body := NewCode(I32).I32Const(-1).LocalTee(0).I64Const(1 << 40).Drop().Drop().Body()
	index := m.AddFunc(nil, nil, body)
	m.SetExports(Export{"_start", KindFunc, index})
	m.DropCustom()
	again := parse(t, encode(t, m))
	if i, err := again.Export("_start"); err != nil || i != index {
		t.Errorf("export: %d, %v", i, err)
	}
	if got, err := again.Body(index); err != nil || !bytes.Equal(got, body) {
		t.Errorf("body: %x, %v", got, err)
	}
	if sig, err := again.Signature(index); err != nil || !bytes.Equal(sig, []byte{0x60, 0, 0}) {
		t.Errorf("signature: %x, %v", sig, err)
	}
	if _, err := again.Func("f"); err == nil {
		t.Error("names were kept")
	}
}

func TestNumbers(t *testing.T) {
	for _, v := range []int64{0, 1, -1, 63, 64, -64, -65, 1 << 31, -1 << 31, 1<<63 - 1, -1 << 63} {
		b := appendS64(nil, v)
		if v >= -1<<31 && v < 1<<31 {
			if r := (&reader{b: b}); int64(r.s32()) != v || r.err != nil {
				t.Errorf("%d became %x", v, b)
			}
		}
		if last := b[len(b)-1]; last&0x80 != 0 {
			t.Errorf("%d does not end: %x", v, b)
		}
	}
	for _, bad := range []string{"", "\x80", "\xff\xff\xff\xff\x1f", "\x80\x80\x80\x80\x80\x00"} {
		if r := (&reader{b: []byte(bad)}); r.u32() != 0 || r.err == nil {
			t.Errorf("%x is a number", bad)
		}
	}
}

func TestBrokenModules(t *testing.T) {
	whole := sample()
	for i := range whole {
		if m, err := Parse(whole[:i]); err == nil && i > len(magic) {
			// Cut between two sections: what is left must still agree with itself.
			if len(m.functions) != len(m.bodies) {
				t.Errorf("cut at %d was taken", i)
			}
		}
	}
	for _, bad := range []string{"", "\x00asm\x02\x00\x00\x00", string(magic) + "\x02\x07\x01\x01e\x01m\x02\x00", string(magic) + "\x01\x02\x01\x5f"} {
		if _, err := Parse([]byte(bad)); err == nil {
			t.Errorf("%q was taken for a module", bad)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(sample())
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Parse(b)
		if err != nil {
			return
		}
		_, _ = m.Func("f")
		_, _ = m.Export("run")
		_, _, _ = m.Memory()
		if len(b) < 1<<12 {
			_, _ = m.Data()
		}
		var out bytes.Buffer
		if err := m.Encode(&out); err != nil {
			t.Fatal(err)
		}
		if _, err := Parse(out.Bytes()); err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
	})
}

func TestFindChecksTheType(t *testing.T) {
	m := parse(t, sample())
	index, body, err := m.Find("f", 1)
	if err != nil || index != 1 || len(body) == 0 {
		t.Fatalf("found %d, %x, %v", index, body, err)
	}
	if _, _, err := m.Find("f", 2); err == nil || !strings.Contains(err.Error(), "signature") {
		t.Errorf("another type: %v", err)
	}
	aside := m.Aside(1, body)
	if kept, err := m.Body(aside); err != nil || !bytes.Equal(kept, body) {
		t.Errorf("set aside: %x, %v", kept, err)
	}
}
