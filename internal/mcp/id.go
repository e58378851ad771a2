package mcp

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// An ID is the JSON token of a request id in one canonical spelling, so that equal ids are equal
// strings and 1 differs from "1". The empty ID stands for none and is written as null.
type ID string

// maxID bounds a string id: ids are kept while a call runs and are echoed in every answer.
const maxID = 1024

// maxExact is the largest integer up to which every integer has a float64 of its own. Peers that
// read numbers as floats, the SDK among them, would answer a larger id with a rounded one.
const maxExact = 1<<53 - 1

// ParseID reads the token of an id: a string, or an integer without fraction or exponent. The
// reason is empty when the id is fine.
func ParseID(token []byte) (id ID, reason string) {
	if len(token) == 0 {
		return "", "id is empty"
	}
	if token[0] == '"' {
		text, err := jsontext.AppendUnquote(nil, token)
		if err != nil {
			return "", "id is not a valid string"
		}
		if len(text) > maxID {
			return "", "id is longer than " + strconv.Itoa(maxID) + " bytes"
		}
		return StringID(string(text)), ""
	}
	n, err := strconv.ParseInt(string(token), 10, 64)
	switch {
	case err != nil && !isInteger(token):
		return "", "id must be a string or an integer"
	case err != nil || n > maxExact || n < -maxExact:
		return "", "id is an integer beyond 2^53, which peers would round; use a string"
	case strconv.FormatInt(n, 10) != string(token):
		return "", "id must be a string or an integer in its plain spelling"
	}
	return IntID(n), ""
}

// StringID is the ID of a string.
func StringID(s string) ID {
	token, err := jsontext.AppendQuote(nil, s)
	if err != nil { // not UTF-8: such an id cannot be echoed
		return ""
	}
	return ID(token)
}

// IntID is the ID of an integer.
func IntID(n int64) ID { return ID(strconv.FormatInt(n, 10)) }

// MarshalJSON writes the token, or null for none.
func (id ID) MarshalJSON() ([]byte, error) { return []byte(id.token()), nil }

func (id ID) token() string {
	if id == "" {
		return "null"
	}
	return string(id)
}

func isInteger(token []byte) bool {
	if token[0] == '-' {
		token = token[1:]
	}
	for _, b := range token {
		if b < '0' || b > '9' {
			return false
		}
	}
	return len(token) > 0
}
