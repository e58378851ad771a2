package transport

import (
	"net/http"
	"strings"
	"time"

	"sallyport.dev/sallyport/internal/mcp"
)

// codeSession is the code that the SDKs of other languages use for a session that is not there.
const codeSession = -32001

// deny answers with a JSON-RPC error, which is what MCP clients show to people.
func deny(w http.ResponseWriter, status int, id mcp.ID, code int, text string) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	if status != http.StatusOK && status != http.StatusNotFound {
		// Or net/http waits for the rest of the body, which may never come, before it answers.
		h.Set("Connection", "close")
	}
	w.WriteHeader(status)
	_, _ = w.Write(append(mcp.ErrorResponse(id, code, text), '\n')) // a client that left needs none
}

// An answer is the ResponseWriter that the SDK gets. It turns the SDK's plain-text errors into
// JSON-RPC errors with the request's id, sees the session id pass, and gives each write a time
// limit: a client that does not read would hold the session's lock for good.
type answer struct {
	http.ResponseWriter
	id       mcp.ID
	timeout  time.Duration
	started  func(session string) // called before the header of a good answer goes out
	status   int
	plain    bool
	captured []byte
}

const sessionHeader = "Mcp-Session-Id"

// Unwrap lets http.ResponseController reach Flush and the deadlines.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

func (a *answer) WriteHeader(status int) {
	if a.status != 0 {
		return
	}
	a.status = status
	h := a.Header()
	if status >= 400 && strings.HasPrefix(h.Get("Content-Type"), "text/plain") {
		a.plain = true // finish sends it, once its text is known
		return
	}
	if session := h.Get(sessionHeader); session != "" && a.started != nil {
		a.started(session)
	}
	limitWrites(a.ResponseWriter, a.timeout)
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	if a.plain {
		a.captured = append(a.captured, p[:min(len(p), maxErrorText-len(a.captured))]...)
		return len(p), nil
	}
	limitWrites(a.ResponseWriter, a.timeout)
	return a.ResponseWriter.Write(p)
}

// limitWrites gives the writes that come next their time, up to the next call of it.
func limitWrites(w http.ResponseWriter, timeout time.Duration) {
	// Where it is not supported, as in tests without a network, nothing can block either.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(timeout))
}

// finish sends what was held back.
func (a *answer) finish() {
	if !a.plain {
		return
	}
	text := strings.TrimSpace(strings.ToValidUTF8(string(a.captured), ""))
	status, code := a.status, mcp.CodeInvalidRequest
	switch {
	case status == http.StatusNotFound:
		code = codeSession
	case a.id != "" && strings.Contains(text, "not handled") && strings.Contains(text, "unsupported"):
		// A method that nobody offers is no fault of HTTP: clients of the handshake era take a
		// 400 for a broken transport.
		status, code = http.StatusOK, codeMethodNotFound
	}
	a.Header().Del("Content-Length")
	deny(a.ResponseWriter, status, a.id, code, text)
}

const codeMethodNotFound = -32601
