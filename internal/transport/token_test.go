package transport

import (
	"fmt"
	"strings"
	"testing"
)

func TestToken(t *testing.T) {
	const text = "correct-horse-battery"
	token, err := NewToken([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := NewToken([]byte(" " + text + "\r\n")); err != nil || again != token {
		t.Errorf("white space around the token matters: %v", err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if shown := fmt.Sprintf(verb, token); strings.Contains(shown, text) {
			t.Errorf("%s shows the token", verb)
		}
	}
	for _, bad := range []string{"", "short", strings.Repeat("x", 5000), "with a space in it!", "umlaut-ä-and-more", "line\nbreak-inside-it"} {
		if _, err := NewToken([]byte(bad)); err == nil || (bad != "" && strings.Contains(err.Error(), bad)) {
			t.Errorf("%.20q: got %v", bad, err)
		}
	}
}
