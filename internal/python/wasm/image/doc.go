// Package image turns the CPython wheel's module into a program that starts from a memory image
// in which the interpreter runs and the packages are imported already.
//
// Compiling the interpreter takes a minute and does not depend on what it has in memory. So it is
// compiled once, as a template whose memory starts as a pattern, and the pattern is found in the
// compiled file and written over: with the wheel's own initial memory for the builder, which runs
// our build script and prints its whole memory, and with that memory for the image.
//
// Nothing here runs anything: package wasm starts the runtime, inside the belt.
package image
