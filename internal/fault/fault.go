// Package fault sorts what can go wrong into eight kinds, and says once what each kind is to a
// shell (exit code), to an MCP client (JSON-RPC code) and to a browser (HTTP status).
//
// It refuses to grow: a ninth kind would have to be told apart by every caller. The text of an
// error belongs to whoever made it. Errors go from here to cli, transport and python.
package fault

import (
	"context"
	"errors"
	"fmt"
)

// A Kind is what a caller can branch on.
//
// To add one, replace one: extend table below and docs/cli.md, and keep the count.
type Kind int

const (
	Internal    Kind = iota // a fault of ours; also every error that nobody sorted
	Usage                   // the command line, a file or a request is wrong as it stands
	Denied                  // a rule says no; asking again does not help
	NotPrepared             // something must be set up first, and the hint names the command
	Unsupported             // this host cannot enforce or run what was asked for
	Busy                    // no place now; asking again later helps
	Corrupt                 // bytes are not the ones that were promised
	Cancelled               // whoever asked has left, or a signal came
)

var table = [...]struct {
	name    string
	exit    int
	http    int
	jsonrpc int
}{
	// The MCP specification keeps -32768..-32000 for itself and JSON-RPC; private codes stand outside.
	Internal:    {"internal", 1, 500, -32603},
	Usage:       {"usage", 2, 400, -32602},
	Denied:      {"denied", 3, 403, -31003},
	NotPrepared: {"not_prepared", 4, 503, -31004},
	Unsupported: {"unsupported", 5, 501, -31005},
	Busy:        {"busy", 6, 429, -31006},
	Corrupt:     {"corrupt", 7, 502, -31007},
	Cancelled:   {"cancelled", 130, 499, -31008},
}

// Kinds lists every kind, in the order of the documents.
func Kinds() []Kind {
	kinds := make([]Kind, len(table))
	for i := range table {
		kinds[i] = Kind(i)
	}
	return kinds
}

func (k Kind) known() Kind {
	if k < 0 || int(k) >= len(table) {
		return Internal // an unknown kind must not look like a success
	}
	return k
}

func (k Kind) String() string   { return table[k.known()].name }
func (k Kind) ExitCode() int    { return table[k.known()].exit }
func (k Kind) HTTPStatus() int  { return table[k.known()].http }
func (k Kind) JSONRPCCode() int { return table[k.known()].jsonrpc }

// An Error is an error of a known kind, with what to do next.
type Error struct {
	Kind Kind
	Hint string // a sentence that starts with a verb, or empty
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// New makes an error of a kind. The hint may be empty; format may wrap with %w.
func New(kind Kind, hint, format string, args ...any) error {
	return &Error{Kind: kind, Hint: hint, Err: fmt.Errorf(format, args...)}
}

// KindOf sorts any error: the outermost Error decides, then the context's own errors.
func KindOf(err error) Kind {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e.Kind.known()
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return Cancelled
	}
	return Internal
}

// HintOf returns the outermost hint in the chain of err.
func HintOf(err error) string {
	for err != nil {
		var e *Error
		if !errors.As(err, &e) {
			return ""
		}
		if e.Hint != "" {
			return e.Hint
		}
		err = e.Err
	}
	return ""
}

// ExitCode is what the program ends with after err; 0 for nil.
func ExitCode(err error) int {
	if err == nil {
		return 0
	}
	return KindOf(err).ExitCode()
}
