package mcp

import "github.com/go-json-experiment/json/jsontext"

// FindID reads the id of a message that may be broken, so that its sender can match the refusal.
// It returns none when there is no id, more than one, or one that cannot be echoed.
func FindID(data []byte) ID {
	var s IDScanner
	_, _ = s.Write(data)
	return s.ID()
}

// An IDScanner finds the id of a message that passes by in pieces and is not kept: a message
// above the size limit often has its id at the very end. It uses a constant amount of memory.
// The zero value is ready for one message.
type IDScanner struct {
	depth  int
	quoted bool
	escape bool
	value  bool // after the colon of a member of the envelope
	broken bool

	token []byte // the scalar or name being read at depth 1
	gap   bool   // white space follows the token
	over  bool   // token is no single value, or longer than an id may be
	name  string
	id    ID
	found int
}

// maxToken is room for the longest id with each byte written as an escape.
const maxToken = 6*maxID + 2

// Write takes the next piece. It never fails.
func (s *IDScanner) Write(p []byte) (int, error) {
	for _, b := range p {
		if s.broken {
			break
		}
		s.next(b)
	}
	return len(p), nil
}

// ID is the id that was found so far.
func (s *IDScanner) ID() ID {
	if s.found != 1 {
		return ""
	}
	return s.id
}

func (s *IDScanner) next(b byte) {
	if s.quoted {
		s.keep(b)
		switch {
		case s.escape:
			s.escape = false
		case b == '\\':
			s.escape = true
		case b == '"':
			s.quoted = false
		}
		return
	}
	switch b {
	case '"':
		s.quoted = true
		s.keep(b)
	case '{', '[':
		// An id that is itself an object or array counts as found and cannot be echoed.
		s.depth++
		if s.depth == 1 && b == '[' {
			s.broken = true // a batch has no id of its own
		}
		if s.depth == 2 {
			s.token, s.over, s.gap = append(s.token[:0], b), false, false
		}
	case '}', ']':
		if s.depth == 1 {
			s.end()
		}
		if s.depth--; s.depth <= 0 {
			s.broken = true // what follows is no part of this message
		}
	case ':':
		if s.depth == 1 && !s.value {
			s.name, s.value = s.text(), true
			s.token, s.over, s.gap = s.token[:0], false, false
		}
	case ',':
		if s.depth == 1 {
			s.end()
		}
	case ' ', '\t', '\r', '\n':
		s.gap = len(s.token) > 0
	default:
		if s.depth == 0 && b != 0xEF && b != 0xBB && b != 0xBF {
			s.broken = true
		}
		s.keep(b)
	}
}

func (s *IDScanner) keep(b byte) {
	if s.depth != 1 {
		return
	}
	if s.gap || len(s.token) >= maxToken {
		s.over = true // "1 2" is not the id 12
		return
	}
	s.token = append(s.token, b)
}

// text is the member name that was just read.
func (s *IDScanner) text() string {
	if s.over {
		return ""
	}
	text, err := jsontext.AppendUnquote(nil, s.token)
	if err != nil {
		return ""
	}
	return string(text)
}

// end closes a member of the envelope.
func (s *IDScanner) end() {
	if s.value && s.name == "id" {
		s.found++
		s.id = ""
		if !s.over {
			s.id, _ = ParseID(s.token)
		}
	}
	s.token, s.over, s.gap, s.value, s.name = s.token[:0], false, false, false, ""
}
