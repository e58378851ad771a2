package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

const versionKey = "io.modelcontextprotocol/protocolVersion"

// place says which object of a message is being read.
type place int

const (
	elsewhere place = iota
	envelope
	params
	meta
	arguments
)

// known lists the members that somebody reads at a place. A lone variant in another case is
// refused too: this side would take the member for absent, a careless peer would use it.
func (p place) known(name string) (exact string, ok bool) {
	var names []string
	switch p {
	case envelope:
		names = []string{"jsonrpc", "id", "method", "params", "result", "error"}
	case params:
		names = []string{"name", "arguments", "_meta", "uri", "requestId", "protocolVersion", "inputResponses", "requestState"}
	case meta:
		names = []string{versionKey, "progressToken"}
	}
	for _, exact := range names {
		if strings.EqualFold(exact, name) {
			return exact, true
		}
	}
	return "", false
}

// Check reads one message. Exactly one of the results is set: the message is meaningless when
// the refusal is not nil. The bytes are kept, not copied.
func Check(data []byte, limits Limits) (Message, *Refusal) {
	limits = limits.OrDefault()
	if len(data) > limits.Bytes {
		return Message{}, refuse(data, CodeInvalidRequest, true, "message is larger than the limit of %d bytes", limits.Bytes)
	}
	c := &checker{dec: jsontext.NewDecoder(bytes.NewBuffer(data)), limits: limits}
	c.msg.Raw = data
	if err := c.message(); err != nil {
		var r *Refusal
		if errors.As(err, &r) {
			r.ID = FindID(data)
			return Message{}, r
		}
		return Message{}, syntax(data, err)
	}
	return c.msg, nil
}

// refuse builds the refusal of a message that may be broken anywhere.
func refuse(data []byte, code int, limit bool, format string, args ...any) *Refusal {
	return &Refusal{ID: FindID(data), Code: code, Limit: limit, Reason: fmt.Sprintf(format, args...)}
}

// syntax tells text that is no JSON from JSON that strict reading does not take.
func syntax(data []byte, err error) *Refusal {
	at := int64(0)
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		at = syntactic.ByteOffset
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return refuse(data, CodeInvalidRequest, false, "duplicate object member at byte %d", at)
	}
	if jsontext.Value(data).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
		return refuse(data, CodeInvalidRequest, false, "text is not valid Unicode at byte %d (invalid UTF-8 or a lone surrogate)", at)
	}
	return refuse(data, CodeParse, false, "message is not valid JSON at byte %d", at)
}

type checker struct {
	dec     *jsontext.Decoder
	limits  Limits
	members int
	msg     Message

	version, idSeen, methodSeen, resultSeen, errorSeen bool
	idReason                                           string
	idNull                                             bool
	paramsKind                                         jsontext.Kind
	name, args                                         jsontext.Kind
	requestID                                          string // why it is no id
}

func invalid(format string, args ...any) error {
	return &Refusal{Code: CodeInvalidRequest, Reason: fmt.Sprintf(format, args...)}
}

func (c *checker) message() error {
	switch c.dec.PeekKind() {
	case '[':
		return invalid("batches are not supported; send one message at a time")
	case '{':
	default:
		// Let the decoder say whether this is JSON at all before its shape is judged.
		if _, err := c.dec.ReadValue(); err != nil {
			return err
		}
		return invalid("a message must be a JSON object")
	}
	if err := c.object(envelope, 1); err != nil {
		return err
	}
	if _, err := c.dec.ReadToken(); !errors.Is(err, io.EOF) {
		if err != nil {
			return err
		}
		return invalid("more than one JSON value in one message")
	}
	return c.shape()
}

func (c *checker) object(at place, depth int) error {
	if depth > c.limits.Depth {
		return &Refusal{Code: CodeInvalidRequest, Limit: true, Reason: fmt.Sprintf("message nests deeper than %d levels", c.limits.Depth)}
	}
	if _, err := c.dec.ReadToken(); err != nil {
		return err
	}
	var seen map[string]bool
	if at != elsewhere {
		seen = make(map[string]bool)
	}
	for c.dec.PeekKind() != '}' {
		token, err := c.dec.ReadToken()
		if err != nil {
			return err
		}
		if c.members++; c.members > c.limits.Members {
			return &Refusal{Code: CodeInvalidRequest, Limit: true, Reason: fmt.Sprintf("message has more than %d object members", c.limits.Members)}
		}
		if at == elsewhere {
			if err := c.value(elsewhere, depth); err != nil {
				return err
			}
			continue
		}
		name := token.String()
		folded := fold(name)
		if exact, ok := at.known(name); (ok && exact != name) || seen[folded] {
			return invalid("object members differ only in upper and lower case at byte %d", c.dec.InputOffset())
		}
		seen[folded] = true
		if err := c.member(at, name, depth); err != nil {
			return err
		}
	}
	_, err := c.dec.ReadToken()
	return err
}

func (c *checker) array(depth int) error {
	if depth > c.limits.Depth {
		return &Refusal{Code: CodeInvalidRequest, Limit: true, Reason: fmt.Sprintf("message nests deeper than %d levels", c.limits.Depth)}
	}
	if _, err := c.dec.ReadToken(); err != nil {
		return err
	}
	for c.dec.PeekKind() != ']' {
		if err := c.value(elsewhere, depth); err != nil {
			return err
		}
	}
	_, err := c.dec.ReadToken()
	return err
}

// value reads the value of a member or an element; at says what an object there is.
func (c *checker) value(at place, depth int) error {
	switch c.dec.PeekKind() {
	case '{':
		return c.object(at, depth+1)
	case '[':
		return c.array(depth + 1)
	}
	_, err := c.dec.ReadToken()
	return err
}

// member reads a value of an object that is inspected.
func (c *checker) member(at place, name string, depth int) error {
	kind := c.dec.PeekKind()
	switch at {
	case envelope:
		return c.envelopeMember(name, kind, depth)
	case params:
		switch name {
		case "name":
			c.name = kind
		case "arguments":
			c.args = kind
			return c.value(arguments, depth)
		case "_meta":
			return c.value(meta, depth)
		case "requestId":
			if kind == '{' || kind == '[' {
				c.requestID = "requestId must be a string or an integer"
				break
			}
			token, err := c.dec.ReadValue()
			if err != nil {
				return err
			}
			c.msg.Cancels, c.requestID = ParseID(token)
			return nil
		}
	case meta:
		if name == versionKey && kind == '"' {
			token, err := c.dec.ReadToken()
			if err != nil {
				return err
			}
			c.msg.Version = token.String()
			return nil
		}
	}
	return c.value(elsewhere, depth)
}

func (c *checker) envelopeMember(name string, kind jsontext.Kind, depth int) error {
	switch name {
	case "jsonrpc", "method":
		if kind != '"' {
			break
		}
		token, err := c.dec.ReadToken()
		if err != nil {
			return err
		}
		if name == "jsonrpc" {
			c.version = token.String() == "2.0"
		} else {
			c.methodSeen, c.msg.Method = true, token.String()
		}
		return nil
	case "id":
		c.idSeen = true
		if kind == '{' || kind == '[' {
			c.idReason = "id must be a string or an integer"
			break
		}
		token, err := c.dec.ReadValue()
		if err != nil {
			return err
		}
		c.idNull = kind == 'n'
		c.msg.ID, c.idReason = ParseID(token)
		return nil
	case "params":
		c.paramsKind = kind
		return c.value(params, depth)
	case "result":
		c.resultSeen = true
	case "error":
		c.errorSeen = true
		if kind != '{' {
			return invalid("error must be an object")
		}
	}
	return c.value(elsewhere, depth)
}

// shape judges the members together, once all of them are known to be well formed.
func (c *checker) shape() error {
	switch {
	case !c.version:
		return invalid(`member "jsonrpc" must be "2.0"`)
	case c.methodSeen && (c.resultSeen || c.errorSeen):
		return invalid("a message is either a request or a response, not both")
	case c.resultSeen && c.errorSeen:
		return invalid("a response has either a result or an error, not both")
	case c.errorSeen && c.idNull:
		c.msg.Kind = Orphan
		return nil
	case c.idSeen && c.idReason != "":
		return invalid("%s", c.idReason)
	case c.resultSeen || c.errorSeen:
		if !c.idSeen {
			return invalid("a response needs an id")
		}
		c.msg.Kind = Response
		return nil
	case !c.methodSeen || c.msg.Method == "":
		return invalid(`member "method" must be a string that is not empty`)
	// null is how some clients spell "no parameters".
	case c.paramsKind != 0 && c.paramsKind != '{' && c.paramsKind != 'n':
		return &Refusal{Code: CodeInvalidParams, Reason: "params must be an object"}
	}
	c.msg.Kind = Notification
	if c.idSeen {
		c.msg.Kind = Request
	}
	return c.methodShape()
}

// methodShape checks the members that decide what runs.
func (c *checker) methodShape() error {
	switch c.msg.Method {
	case "tools/call":
		if c.name != '"' {
			return &Refusal{Code: CodeInvalidParams, Reason: `params.name must be a string: the tool to call`}
		}
		// null is how some clients spell "no arguments".
		if c.args != 0 && c.args != '{' && c.args != 'n' {
			return &Refusal{Code: CodeInvalidParams, Reason: "params.arguments must be an object"}
		}
	case "notifications/cancelled":
		if c.requestID != "" {
			return &Refusal{Code: CodeInvalidParams, Reason: "params.requestId is no id of a request"}
		}
	}
	return nil
}
