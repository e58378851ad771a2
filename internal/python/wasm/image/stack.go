package image

import (
	"encoding/binary"
	"errors"

	"sallyport.dev/sallyport/internal/python/wasm/patch"
)

// What the wheel's snapshot took for the interpreter's stack, and what it is; see patch.recursion,
// which corrects the function that sets the limits of later threads of execution.
const (
	stackEnd     = patch.StackEnd
	stackAssumed = 128 << 10 // what the C library reports
	stackFloor   = stackEnd - patch.Usable
	hardMargin   = 8 << 10
	softMargin   = 16 << 10
)

// deepen corrects the limits in the thread state that the wheel's snapshot holds already. They are
// three consecutive words: the top, the soft limit, the hard limit.
func deepen(memory []byte) error {
	word := func(at int) uint32 { return binary.LittleEndian.Uint32(memory[at:]) }
	found := -1
	for at := stackEnd; at+12 <= len(memory); at += 4 {
		top := word(at)
		if top == 0 || top > stackEnd || word(at+4) != top-stackAssumed+softMargin || word(at+8) != top-stackAssumed+hardMargin {
			continue
		}
		if found >= 0 {
			return errors.New("two places look like the interpreter's stack limits")
		}
		found = at
	}
	if found < 0 {
		return errors.New("the interpreter's stack limits are not where they were expected")
	}
	binary.LittleEndian.PutUint32(memory[found+4:], stackFloor+softMargin)
	binary.LittleEndian.PutUint32(memory[found+8:], stackFloor+hardMargin)
	return nil
}
