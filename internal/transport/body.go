package transport

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

// A bodyReader reads request bodies into memory that they share, so that many large ones at once
// are refused rather than exhaust the machine.
type bodyReader struct {
	limit   int64
	timeout time.Duration
	shared  int64 // bytes that all bodies may hold together
	held    atomic.Int64
}

// A httpError is an answer in place of the SDK's.
type httpError struct {
	status int
	text   string
}

func (e *httpError) Error() string { return e.text }

// read returns the body, and what gives its memory back.
func (b *bodyReader) read(w http.ResponseWriter, r *http.Request) (body []byte, release func(), err error) {
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		// A compressed body says nothing of its real size until it is unpacked.
		return nil, nil, &httpError{http.StatusUnsupportedMediaType, "compressed bodies are not supported; send the body without Content-Encoding"}
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/json" {
		return nil, nil, &httpError{http.StatusUnsupportedMediaType, "the Content-Type must be application/json"}
	}
	tooLarge := &httpError{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than the limit of %d bytes", b.limit)}
	if r.ContentLength > b.limit {
		return nil, nil, tooLarge
	}
	// Each read may take its time, all of them together may not.
	control := http.NewResponseController(w)
	if err := control.SetReadDeadline(time.Now().Add(b.timeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return nil, nil, fmt.Errorf("setting the time limit of a body: %w", err)
	}
	var held int64
	release = func() { b.held.Add(-held) }
	in := http.MaxBytesReader(w, r.Body, b.limit)
	chunk := make([]byte, 32<<10)
	for {
		n, err := in.Read(chunk)
		held += int64(n)
		if b.held.Add(int64(n)) > b.shared {
			release()
			return nil, nil, &httpError{http.StatusServiceUnavailable, "too many large requests at once; retry in a moment"}
		}
		body = append(body, chunk[:n]...) // memory for what came, whatever Content-Length says
		switch {
		case errors.Is(err, io.EOF):
			// The wait for the answer has no limit of its own here.
			if err := control.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
				release()
				return nil, nil, fmt.Errorf("lifting the time limit of a body: %w", err)
			}
			return body, release, nil
		case err == nil:
			continue
		}
		release()
		var over *http.MaxBytesError
		switch {
		case errors.As(err, &over):
			return nil, nil, tooLarge
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, nil, &httpError{http.StatusRequestTimeout, "the body did not arrive in time"}
		}
		return nil, nil, &httpError{http.StatusBadRequest, "the body could not be read to its end"}
	}
}
