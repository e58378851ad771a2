package mcp

import (
	"strings"
	"unicode"
)

// fold maps names that a parser which ignores case takes for the same to one spelling. It uses
// the smallest rune of each folding orbit, as encoding/json does, so that U+017F (long s) meets
// "s" and U+212A (Kelvin) meets "k": ToLower alone would let those through.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, name)
}
