package conventions

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// forbidden are words that no file may hold. They are put together here, so that this file passes.
func forbidden() map[string]string {
	const registry = "users choose their index and mirror; a host's name in a file takes the choice away"
	return map[string]string{
		"py" + "pi.org":                  registry,
		"python" + "hosted.org":          registry,
		"npm" + "js.org":                 registry,
		"npm" + "js.com":                 registry,
		"proxy." + "golang.org":          registry,
		"crates" + ".io":                 registry,
		"/wo" + "rk/":                    "a path of one machine",
		"/tmp/" + "plan":                 "a path of one machine",
		"TO" + "DO":                      "open ends go to the issue tracker, with an owner",
		"FIX" + "ME":                     "open ends go to the issue tracker, with an owner",
		"<<<<" + "<<<":                   "an unresolved merge",
		"BEGIN OPENSSH PRIVATE " + "KEY": "a private key",
	}
}

func TestForbiddenWords(t *testing.T) {
	words := forbidden()
	for _, name := range files(t) {
		if name == "go.sum" {
			continue
		}
		text := read(t, name)
		if !utf8.ValidString(text) {
			continue
		}
		for word, why := range words {
			if at := strings.Index(text, word); at >= 0 {
				t.Errorf("%s:%d has %q: %s", name, 1+strings.Count(text[:at], "\n"), word, why)
			}
		}
	}
}
