package mcp

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// JSON-RPC error codes that a refusal carries.
const (
	CodeParse          = -32700 // not JSON
	CodeInvalidRequest = -32600 // JSON, but not a message that we take
	CodeInvalidParams  = -32602 // a known method with members of the wrong type
	CodeInternal       = -32603
)

// A Refusal is a message that was not taken, with the answer for its sender. Its reason never
// repeats what the sender wrote, apart from the id.
type Refusal struct {
	ID     ID // of the refused message when it could be read
	Code   int
	Reason string
	Limit  bool // refused for its size, depth or count alone
}

func (r *Refusal) Error() string { return fmt.Sprintf("%d: %s", r.Code, r.Reason) }

// Response is the JSON-RPC error response, without a newline.
func (r *Refusal) Response() []byte { return ErrorResponse(r.ID, r.Code, r.Reason) }

// ErrorResponse builds a JSON-RPC error response, without a newline. Text that is not UTF-8 is
// repaired rather than refused, since an answer must go out.
func ErrorResponse(id ID, code int, text string) []byte {
	message, _ := jsontext.AppendQuote(nil, text) // an error only reports repaired UTF-8
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, id.token(), code, message)
}
