// Package wasm runs Python in WebAssembly: one wasmtime process for each call, started from a
// memory image in which CPython runs and the packages are imported already.
//
// [Prepare] makes the image at install time; [New] opens it; [Engine.Run] starts a process inside
// the belt, hands it the script through its standard input, captures its two streams, and reads
// what it left in its scratch folders. Nothing is shared between two calls but read-only files.
//
// The package believes the operating system about how a process ended, and nothing else: the
// report that the interpreter leaves is hostile input. It refuses to run an image whose bytes are
// not the ones that setup recorded, and it never starts a process outside the belt.
package wasm
