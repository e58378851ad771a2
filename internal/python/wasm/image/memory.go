package image

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"sallyport.dev/sallyport/internal/python/wasm/module"
)

// block is the unit in which the pattern is told apart and in which runtimes trim memory images.
const block = 4096

// mark is what the pattern's words are made of; no instruction stream repeats it at this pitch.
const mark = 0x9d2c5680a4f1e37b

func word(i int) uint64 { return mark ^ uint64(i)*0x9e3779b97f4a7c15 }

// pattern fills memory so that none of it is zero, which a runtime would leave out of its file.
func pattern(size int) []byte {
	b := make([]byte, size)
	for i := 0; i < size; i += 8 {
		binary.LittleEndian.PutUint64(b[i:], word(i/8))
	}
	return b
}

// isPattern says whether b is the part of the pattern that begins at byte offset at.
func isPattern(b []byte, at int) bool {
	for i := 0; i+8 <= len(b); i += 8 {
		if binary.LittleEndian.Uint64(b[i:]) != word((at+i)/8) {
			return false
		}
	}
	return true
}

var errNoPattern = errors.New("the compiled file does not hold the memory as one piece; this version of the runtime stores it in another way")

// Find returns where in a compiled template the memory of that size lies, as one piece.
func Find(r io.ReaderAt, fileSize int64, size int) (offset int64, err error) {
	buf := make([]byte, block)
	for offset = 0; offset+int64(size) <= fileSize; offset += block {
		if _, err := r.ReadAt(buf[:8], offset); err != nil {
			return 0, fmt.Errorf("reading compiled template: %w", err)
		}
		if isPattern(buf[:8], 0) {
			break
		}
	}
	if offset+int64(size) > fileSize {
		return 0, errNoPattern
	}
	for at := 0; at < size; at += block {
		if _, err := r.ReadAt(buf, offset+int64(at)); err != nil {
			return 0, fmt.Errorf("reading compiled template: %w", err)
		}
		if !isPattern(buf, at) {
			return 0, errNoPattern
		}
	}
	return offset, nil
}

// Initial returns the memory of a builder of that size: the wheel's own data, which the wheel's
// module has in a memory of pages, and the mode.
func Initial(data []byte, pages uint32, size int) ([]byte, error) {
	if len(data) > size {
		return nil, fmt.Errorf("the interpreter's own data of %d bytes exceeds the image's %d", len(data), size)
	}
	memory := make([]byte, size)
	copy(memory, data)
	if !zero(memory[headMode:headEnd]) {
		return nil, errors.New("the interpreter uses the page that the start needs")
	}
	if err := deepen(memory[:len(data)]); err != nil {
		return nil, err
	}
	binary.LittleEndian.PutUint32(memory[headMode:], modeBuild)
	binary.LittleEndian.PutUint32(memory[headBreak:], pages*module.PageSize)
	return memory, nil
}

// Check says whether memory is what a builder prints.
func Check(memory []byte, size int) error {
	if len(memory) != size {
		return fmt.Errorf("the interpreter's memory has %d bytes and the image was made for %d", len(memory), size)
	}
	if mode := binary.LittleEndian.Uint32(memory[headMode:]); mode != modeRun {
		return fmt.Errorf("the interpreter's memory was cut off or overwritten (mode %#x)", mode)
	}
	start, n := binary.LittleEndian.Uint32(memory[headStart:]), binary.LittleEndian.Uint32(memory[headSize:])
	if uint64(start)+uint64(n) > uint64(len(memory)) {
		return fmt.Errorf("the interpreter's memory names a start source at %#x, outside itself", start)
	}
	return nil
}

func zero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
