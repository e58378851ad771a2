package image

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"sallyport.dev/sallyport/internal/python/wasm/patch"
)

const size = 4 * 65536

func TestFindThePattern(t *testing.T) {
	compiled := append(bytes.Repeat([]byte{1}, 3*block), pattern(size)...)
	compiled = append(compiled, bytes.Repeat([]byte{2}, 100)...)
	find := func() (int64, error) { return Find(bytes.NewReader(compiled), int64(len(compiled)), size) }
	if at, err := find(); err != nil || at != 3*block {
		t.Fatalf("found at %d, %v", at, err)
	}
	// A runtime that splits, trims or compresses the memory must be noticed.
	compiled[3*block+size-1] ^= 1
	if _, err := find(); err == nil {
		t.Error("a broken end was taken")
	}
	compiled = compiled[:3*block+size/2]
	if _, err := find(); err == nil {
		t.Error("half of a pattern was taken")
	}
	compiled = nil
	if _, err := find(); err == nil {
		t.Error("an empty file was taken")
	}
}

// snapshot is data as the wheel has it: zeros where the stack is, the stack limits behind it.
func snapshot() []byte {
	data := make([]byte, patch.StackEnd+1024)
	for i, v := range []uint32{patch.StackEnd, patch.StackEnd - stackAssumed + softMargin, patch.StackEnd - stackAssumed + hardMargin} {
		binary.LittleEndian.PutUint32(data[patch.StackEnd+512+4*i:], v)
	}
	return data
}

func TestInitialMemory(t *testing.T) {
	const big = patch.StackEnd + 65536
	memory, err := Initial(snapshot(), 257, big)
	if err != nil {
		t.Fatal(err)
	}
	if Heap(memory) != 257*65536 {
		t.Errorf("the heap ends at %d", Heap(memory))
	}
	if soft := binary.LittleEndian.Uint32(memory[patch.StackEnd+516:]); soft != patch.StackEnd-patch.Usable+softMargin {
		t.Errorf("the soft stack limit is %#x", soft)
	}
	if err := Check(memory, big); err == nil {
		t.Error("a memory that was never run passes for one that was")
	}
	used := snapshot()
	used[headMode] = 1
	twice := snapshot()
	copy(twice[patch.StackEnd+800:], twice[patch.StackEnd+512:patch.StackEnd+524])
	for name, data := range map[string][]byte{
		"too large": make([]byte, big+1), "a used page": used, "no limits": make([]byte, patch.StackEnd+1024), "two limits": twice,
	} {
		if _, err := Initial(data, 257, big); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

func TestCheck(t *testing.T) {
	memory := make([]byte, size)
	put := func(at int, v uint32) { binary.LittleEndian.PutUint32(memory[at:], v) }
	put(headMode, modeRun)
	put(headStart, 70000)
	put(headSize, 20)
	if err := Check(memory, size); err != nil {
		t.Fatal(err)
	}
	if err := Check(memory[:size-1], size); err == nil || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("a short memory: %v", err)
	}
	put(headStart, size-10)
	if Check(memory, size) == nil {
		t.Error("a start source outside the memory was taken")
	}
	put(headStart, 0xffffffff)
	put(headSize, 0xffffffff)
	if Check(memory, size) == nil {
		t.Error("a start source beyond 32 bits was taken")
	}
}
