package transport

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// A Token admits its bearer. It holds the digest alone: what is not kept cannot be logged.
type Token struct{ digest [sha256.Size]byte }

// Bounds of a token. Shorter ones can be guessed over a network; longer ones do not fit a header.
const (
	minToken = 16
	maxToken = 4096
)

// NewToken makes a token of its text, without white space around it.
func NewToken(text []byte) (Token, error) {
	text = bytes.TrimSpace(text)
	switch {
	case len(text) < minToken:
		return Token{}, fmt.Errorf("the token has fewer than %d characters", minToken)
	case len(text) > maxToken:
		return Token{}, fmt.Errorf("the token has more than %d characters", maxToken)
	case bytes.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }):
		return Token{}, errors.New("the token has characters that cannot stand in a header; use letters and digits")
	}
	return Token{sha256.Sum256(text)}, nil
}

// principal is a short name for the bearer, safe to show.
func (t Token) principal() string { return "token-" + hex.EncodeToString(t.digest[:4]) }

func (t Token) String() string { return t.principal() }

// admit finds the token that a request bears. Without tokens everyone is admitted as "".
func admit(tokens []Token, r *http.Request) (principal string, ok bool) {
	if len(tokens) == 0 {
		return "", true
	}
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return "", false
	}
	scheme, text, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	// Digests are compared, each of them, in constant time: neither length nor prefix shows.
	digest := sha256.Sum256([]byte(strings.TrimSpace(text)))
	for _, token := range tokens {
		if subtle.ConstantTimeCompare(digest[:], token.digest[:]) == 1 {
			principal, ok = token.principal(), true
		}
	}
	return principal, ok
}
