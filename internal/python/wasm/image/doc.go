// Package image turns the CPython wheel's module into a program that starts from a memory image
// in which the interpreter runs and the packages are imported already.
//
// It works in two steps. A builder module runs our build script in the live interpreter and
// writes its whole memory to standard output. The final module carries that memory as its data
// and, when started, hands one line of Python to the interpreter in it. Neither step runs
// anything itself: package wasm starts the runtime, inside the belt.
package image
