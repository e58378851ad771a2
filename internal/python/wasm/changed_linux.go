package wasm

import (
	"io/fs"
	"syscall"
)

// changed compares what no owner of a file can set back: the time of the last change of its
// inode. A new link to it counts as a change as well, which costs one more hash and nothing else.
func changed(was, now fs.FileInfo) bool {
	a, okA := was.Sys().(*syscall.Stat_t)
	b, okB := now.Sys().(*syscall.Stat_t)
	return !okA || !okB || a.Ctim != b.Ctim
}
