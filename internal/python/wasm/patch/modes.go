package patch

import "sallyport.dev/sallyport/internal/python/wasm/module"

// statMode is the offset of st_mode in wasi-libc's struct stat on wasm32.
const statMode = 24

// modes gives files the permission bits that WASI does not know.
//
// Without them each file has mode 000, and so have all members of archives that tarfile, zipfile
// and shutil make. Regular files get 0644 and folders 0755.
func modes(m *module.Module) error {
	for _, f := range []struct {
		name   string
		params int
		buf    uint32 // which parameter is the struct stat
	}{
		{"fstat", 2, 1},
		{"__wasilibc_nocwd_fstatat", 4, 2},
	} {
		if err := addModes(m, f.name, f.params, f.buf); err != nil {
			return err
		}
	}
	return nil
}

func addModes(m *module.Module, name string, params int, buf uint32) error {
	index, body, err := m.Find(name, params)
	if err != nil {
		return err
	}
	original := m.Aside(params, body)
	result, mode := uint32(params), uint32(params)+1
	c := module.NewCode(module.I32, module.I32)
	for i := range uint32(params) {
		c.LocalGet(i)
	}
	c.Call(original).LocalTee(result).I32Eqz()
	c.If()
	c.LocalGet(buf).I32Load(statMode).LocalSet(mode)
	for _, kind := range []struct{ format, bits int32 }{{0o100000, 0o644}, {0o040000, 0o755}} {
		// Only where the whole of st_mode is the bare format: never over real permissions.
		c.LocalGet(mode).I32Const(kind.format).I32Eq()
		c.If().LocalGet(buf).I32Const(kind.format | kind.bits).I32Store(statMode).End()
	}
	c.End()
	c.LocalGet(result)
	return m.SetBody(index, c.Body())
}
