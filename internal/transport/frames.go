package transport

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"sallyport.dev/sallyport/internal/mcp"
)

// A frame is one line, or the refusal of a line that was too long to keep.
type frame struct {
	data    []byte
	refusal *mcp.Refusal
}

// frameReader splits a stream at byte 0x0A and at nothing else: U+2028, U+0085 and their kin may
// stand inside a JSON string.
type frameReader struct {
	in    *bufio.Reader
	limit int
	begun bool
}

func newFrameReader(in io.Reader, limit int) *frameReader {
	return &frameReader{in: bufio.NewReaderSize(in, 64<<10), limit: limit}
}

// next returns the next line that is not blank, without its 0x0A; a 0x0D before that is white space
// to JSON. A last line without a line end counts. Memory grows with what arrived, up to the limit; a longer line is read to its end
// and dropped, so that the stream stays in step.
func (f *frameReader) next() (frame, error) {
	for {
		line, refusal, err := f.line()
		if refusal != nil {
			return frame{refusal: refusal}, nil
		}
		if !f.begun && len(line) > 0 {
			f.begun = true
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		if len(bytes.Trim(line, " \t\r")) > 0 {
			return frame{data: line}, nil
		}
		if err != nil {
			return frame{}, err
		}
	}
}

// line reads up to the next 0x0A. A read error is held back until the line before it is used:
// the reader returns it again.
func (f *frameReader) line() ([]byte, *mcp.Refusal, error) {
	var line []byte
	for {
		part, err := f.in.ReadSlice('\n')
		if n := len(part); n > 0 && part[n-1] == '\n' {
			part = part[:n-1]
		}
		if len(line)+len(part) > f.limit {
			return nil, f.skip(line, part, err), nil
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, nil, err
		}
	}
}

// skip reads the rest of a line that is too long, looking for its id on the way.
func (f *frameReader) skip(line, part []byte, err error) *mcp.Refusal {
	var id mcp.IDScanner
	_, _ = id.Write(line)
	_, _ = id.Write(part)
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = f.in.ReadSlice('\n')
		_, _ = id.Write(part)
	}
	f.begun = true
	return &mcp.Refusal{
		ID: id.ID(), Code: mcp.CodeInvalidRequest, Limit: true,
		Reason: fmt.Sprintf("message is larger than the limit of %d bytes", f.limit),
	}
}
