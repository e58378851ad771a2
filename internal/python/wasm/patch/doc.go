// Package patch changes a few functions of the pinned CPython module where the platform, not the
// program, is at fault: waits that trap, files without permission bits, integers that wrap.
//
// Each patch names the function that it changes and checks it first. A module that does not look
// as expected is refused; nothing is patched on a guess.
package patch
