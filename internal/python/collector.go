package python

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// encodedPerChar is how many bytes of JSON a kept character may take on average. Two is plenty
// for prose; three leaves a stream of Chinese or Japanese its full number of characters, and
// halves one of control characters, which take six bytes each. A reply has a size limit, and what
// counts there is the text as it is sent.
const encodedPerChar = 3

// maxUnit is the most bytes that one kept character can stand for. A valid character has up to
// four bytes, and an invalid byte is shown as four characters, so n characters never need more
// than n*maxUnit bytes of input.
const maxUnit = utf8.UTFMax

// A Collector captures one stream of a script in bounded memory, whatever the script writes.
//
// It counts every byte and keeps the first and the last ones. [Collector.Stream] turns them into
// text. Writing never fails and costs a copy: what is decoded is only what is kept. It is safe
// for concurrent use, and Stream may be called at any time.
type Collector struct {
	mu    sync.Mutex
	cut   cut
	total int64
	first []byte // the first bytes of the stream
	last  []byte // a ring of the latest bytes after those
	next  int    // where the ring goes on, once it is full
}

// NewCollector returns a collector that keeps chars characters, of which four tenths come from
// the beginning and six from the end, since errors and answers stand at the end. With chars below
// one it keeps nothing and still counts.
func NewCollector(chars int) *Collector {
	return &Collector{cut: newCut(chars)}
}

// Write takes the next bytes of the stream. It never returns an error.
func (c *Collector) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(p)
	c.total += int64(n)
	if free := c.cut.headChars()*maxUnit - len(c.first); free > 0 {
		k := min(free, len(p))
		c.first = append(c.first, p[:k]...)
		p = p[k:]
	}
	c.push(p)
	return n, nil
}

// push puts p into the ring. The ring can hold the largest stream that needs no cut, so a stream
// that is short enough is always complete. In a longer one the ring may begin in the middle of a
// character; those bytes are never shown, as a full ring holds more than is kept of it.
func (c *Collector) push(p []byte) {
	size := c.cut.chars * maxUnit
	if len(p) > size {
		// Older bytes could not be kept anyway.
		p = p[len(p)-size:]
	}
	if free := size - len(c.last); free > 0 {
		k := min(free, len(p))
		c.last = append(c.last, p[:k]...)
		p = p[k:]
	}
	for len(p) > 0 {
		k := copy(c.last[c.next:], p)
		c.next = (c.next + k) % size
		p = p[k:]
	}
}

// Stream returns what was captured up to now. What fits is returned byte for byte.
//
// Bytes that are not part of valid UTF-8 stand as \xNN, one escape a byte, lower case, as
// Python's backslashreplace does it; NUL, ESC and other control characters stay as they are.
func (c *Collector) Stream() Stream {
	c.mu.Lock()
	defer c.mu.Unlock()
	last := append(append(make([]byte, 0, len(c.last)), c.last[c.next:]...), c.last[:c.next]...)
	if int64(len(c.first)+len(last)) == c.total {
		return c.cut.apply(append(append(make([]byte, 0, c.total), c.first...), last...), c.total)
	}
	return c.cut.join(c.first, last, c.total)
}

// A cut says how much of a text is kept.
type cut struct {
	chars   int // characters
	encoded int // bytes of JSON
}

func newCut(chars int) cut {
	chars = max(chars, 0)
	return cut{chars: chars, encoded: chars * encodedPerChar}
}

func (k cut) headChars() int   { return k.chars * 2 / 5 }
func (k cut) headEncoded() int { return k.encoded * 2 / 5 }

// apply renders a stream of which all bytes are at hand.
func (k cut) apply(all []byte, total int64) Stream {
	text, escaped, rest := render(all, k.chars, k.encoded)
	if len(rest) == 0 {
		return Stream{Text: text, Bytes: total, Escaped: escaped}
	}
	return k.join(all, all, total)
}

// join renders a stream that is too long. Head is its beginning, tail its end; they may overlap,
// as neither is used up to the overlap.
func (k cut) join(head, tail []byte, total int64) Stream {
	left, leftEscaped, rest := render(head, k.headChars(), k.headEncoded())
	chars, encoded := measure(head[:len(head)-len(rest)])
	tail = suffix(tail, k.chars-chars, k.encoded-encoded)
	right, rightEscaped, _ := render(tail, k.chars, k.encoded)
	omitted := total - int64(len(head)-len(rest)) - int64(len(tail))
	note := fmt.Sprintf("[output truncated: %d bytes in total, %d left out here; the limit is %d characters]", total, omitted, k.chars)
	return Stream{Text: onOwnLine(left, note, right), Bytes: total, Truncated: true, Escaped: leftEscaped || rightEscaped}
}

// onOwnLine puts the note on a line of its own, so that it cannot be read as part of a line of
// the output.
func onOwnLine(left, note, right string) string {
	var b strings.Builder
	b.WriteString(left)
	if left != "" && !strings.HasSuffix(left, "\n") {
		b.WriteByte('\n')
	}
	b.WriteString(note)
	if !strings.HasPrefix(right, "\n") {
		b.WriteByte('\n')
	}
	b.WriteString(right)
	return b.String()
}

// A unit is what is never split: a character, or the escape of one byte.
type unit struct {
	size    int // bytes of input
	chars   int // characters of text
	encoded int // bytes of JSON
	invalid bool
}

func nextUnit(p []byte) (rune, unit) {
	r, size := utf8.DecodeRune(p)
	if r == utf8.RuneError && size <= 1 {
		return r, unit{size: 1, chars: len(`\xff`), encoded: len(`\\xff`), invalid: true}
	}
	return r, unit{size: size, chars: 1, encoded: encodedSize(r, size)}
}

// encodedSize is how many bytes a character takes in a JSON string, at most: encoders differ in
// whether they escape what is special to HTML and JavaScript.
func encodedSize(r rune, size int) int {
	switch {
	case r == '"', r == '\\', r == '\n', r == '\r', r == '\t':
		return 2
	case r < ' ', r == '<', r == '>', r == '&', r == '\u2028', r == '\u2029':
		return len(`\u0000`)
	}
	return size
}

// render decodes bytes until either limit is reached and returns what it did not use.
func render(p []byte, chars, encoded int) (text string, escaped bool, rest []byte) {
	var b strings.Builder
	b.Grow(min(len(p), chars*maxUnit))
	for len(p) > 0 {
		_, u := nextUnit(p)
		if u.chars > chars || u.encoded > encoded {
			break
		}
		chars -= u.chars
		encoded -= u.encoded
		if u.invalid {
			b.WriteString(`\x`)
			if p[0] < 0x10 {
				b.WriteByte('0')
			}
			b.WriteString(strconv.FormatUint(uint64(p[0]), 16))
			escaped = true
		} else {
			b.Write(p[:u.size])
		}
		p = p[u.size:]
	}
	return b.String(), escaped, p
}

func measure(p []byte) (chars, encoded int) {
	for len(p) > 0 {
		_, u := nextUnit(p)
		chars += u.chars
		encoded += u.encoded
		p = p[u.size:]
	}
	return chars, encoded
}

// suffix returns the longest end of p that fits, beginning at a unit.
func suffix(p []byte, chars, encoded int) []byte {
	haveChars, haveEncoded := measure(p)
	for len(p) > 0 && (haveChars > chars || haveEncoded > encoded) {
		_, u := nextUnit(p)
		haveChars -= u.chars
		haveEncoded -= u.encoded
		p = p[u.size:]
	}
	return p
}

// within returns the stream cut to what fits. Engines cut while they capture; this is the second
// fence, and what makes the shorter copies in the text block.
func (s Stream) within(chars int) Stream {
	k := newCut(chars)
	text := []byte(s.Text)
	if n, encoded := measure(text); utf8.Valid(text) && n <= k.chars+noteChars && encoded <= k.encoded+noteChars {
		return s
	}
	cut := k.apply(text, max(s.Bytes, int64(len(text)))) // escapes can make a text longer than its bytes
	cut.Bytes = s.Bytes
	cut.Escaped = cut.Escaped || s.Escaped
	cut.Truncated = cut.Truncated || s.Truncated
	return cut
}

// noteChars is room for the note that stands in a stream that was cut.
const noteChars = 200
