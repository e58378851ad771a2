package python

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

func collect(chars int, parts ...string) Stream {
	c := NewCollector(chars)
	for _, p := range parts {
		if n, err := c.Write([]byte(p)); n != len(p) || err != nil {
			panic(fmt.Sprint("short write ", n, err))
		}
	}
	return c.Stream()
}

func TestShortOutputIsReturnedByteForByte(t *testing.T) {
	for _, text := range []string{
		"", "a", "a\n", "\n", "\r\n", "no newline", "25°C — naïve 日本語 🙂👩‍👩‍👧 e\u0301\n",
		"nul \x00 esc \x1b[31m bell \a del \x7f", "\u2028\u2029\u0085", "�", "\ufeffbom", strings.Repeat("°", 5000) + "|",
	} {
		got := collect(50_000, text)
		if got.Text != text || got.Bytes != int64(len(text)) || got.Truncated || got.Escaped {
			t.Errorf("%q came back as %+v", text, got)
		}
	}
}

func TestChunkBordersDoNotShow(t *testing.T) {
	raw := "a°日🙂\xff\xf0\x9f\x99z\xc3" + strings.Repeat("°", 10) + "\xed\xa0\x80"
	want := collect(50_000, raw)
	for size := 1; size < 7; size++ {
		var parts []string
		for i := 0; i < len(raw); i += size {
			parts = append(parts, raw[i:min(i+size, len(raw))])
		}
		if got := collect(50_000, parts...); got != want {
			t.Errorf("chunks of %d: %+v, want %+v", size, got, want)
		}
	}
}

func TestInvalidBytesAreEscapedOneByOne(t *testing.T) {
	for raw, want := range map[string]string{
		"\xff\xfe bad utf8\n":  `\xff\xfe bad utf8` + "\n",
		"cut \xe2\x82":         `cut \xe2\x82`,
		"\xe2\x82x":            `\xe2\x82x`,
		"\xed\xa0\xbd":         `\xed\xa0\xbd`, // a surrogate is no character
		"\xc0\x80":             `\xc0\x80`,     // an overlong NUL is none either
		"\xf4\x90\x80\x80":     `\xf4\x90\x80\x80`,
		"\x80\x80\x80\x80\x80": `\x80\x80\x80\x80\x80`,
	} {
		got := collect(50_000, raw)
		if got.Text != want || !got.Escaped || got.Bytes != int64(len(raw)) {
			t.Errorf("%q came back as %+v, want %q", raw, got, want)
		}
	}
	// PY-27: all byte values in a row.
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	got := collect(50_000, "head\n", string(all), "\ntail\n")
	if !strings.HasPrefix(got.Text, "head\n\x00\x01") || !strings.HasSuffix(got.Text, `\xfe\xff`+"\ntail\n") || !got.Escaped {
		t.Errorf("all bytes came back as %q", got.Text)
	}
}

var noteForm = regexp.MustCompile(`(?s)^(.*)\[output truncated: (\d+) bytes in total, (\d+) left out here; the limit is (\d+) characters\]\n?(.*)$`)

func TestCutKeepsHeadAndTailAndSaysSo(t *testing.T) {
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, "\r%.1f%%", float64(i)/200)
	}
	b.WriteString("\n" + strings.Repeat("x", 3_000_000) + "\nEND-MARK\n")
	got := collect(50_000, b.String())
	if !got.Truncated || got.Escaped || got.Bytes != int64(b.Len()) {
		t.Fatalf("flags are %v %v, %d bytes", got.Truncated, got.Escaped, got.Bytes)
	}
	m := noteForm.FindStringSubmatch(got.Text)
	if m == nil {
		t.Fatalf("no note in %q", got.Text[:100])
	}
	if !strings.HasPrefix(m[1], "\r0.0%") || !strings.HasSuffix(m[5], "x\nEND-MARK\n") {
		t.Errorf("head %q, tail %q", m[1][:20], m[5][len(m[5])-20:])
	}
	if n := utf8.RuneCountInString(m[5]); n != 30_000 {
		t.Errorf("tail has %d characters, want 30000", n)
	}
	if n := utf8.RuneCountInString(strings.TrimSuffix(m[1], "\n")); n > 20_000 || n < 19_990 {
		t.Errorf("head has %d characters, want 20000", n)
	}
	if want := fmt.Sprint(b.Len()); m[2] != want {
		t.Errorf("total is %s, want %s", m[2], want)
	}
	if want := fmt.Sprint(b.Len() - 50_000); m[3] != want {
		t.Errorf("left out is %s, want %s", m[3], want)
	}
}

func TestExactlyTheLimitIsNotCut(t *testing.T) {
	if got := collect(10, "0123456789"); got.Truncated || got.Text != "0123456789" {
		t.Errorf("ten of ten: %+v", got)
	}
	if got := collect(10, "0123456789a"); !got.Truncated || !strings.HasPrefix(got.Text, "0123\n[") || !strings.HasSuffix(got.Text, "]\n56789a") {
		t.Errorf("eleven of ten: %+v", got)
	}
	if got := collect(10, "日本語日本語日本語日"); got.Truncated {
		t.Errorf("ten characters of three bytes: %+v", got)
	}
	if got := collect(0, "abc"); !got.Truncated || got.Bytes != 3 || strings.Contains(got.Text, "abc") {
		t.Errorf("nothing kept: %+v", got)
	}
	if got := collect(-1); got != (Stream{}) {
		t.Errorf("nothing written: %+v", got)
	}
}

func TestControlCharactersCountAsTheyAreSent(t *testing.T) {
	got := collect(50_000, strings.Repeat("\x01", 1<<20), "tail-marker\n")
	encoded, err := json.Marshal(got.Text)
	if err != nil {
		t.Fatal(err)
	}
	if len(encoded) > 50_000*encodedPerChar+2*noteChars {
		t.Errorf("encoded text has %d bytes", len(encoded))
	}
	if !got.Truncated || !strings.HasSuffix(got.Text, "tail-marker\n") {
		t.Errorf("tail is lost: %q", got.Text[len(got.Text)-30:])
	}
}

func TestMemoryStaysBounded(t *testing.T) {
	c := NewCollector(1000)
	chunk := bytes.Repeat([]byte("é\x01A"), 1<<18)
	for range 64 {
		_, _ = c.Write(chunk)
	}
	if kept := cap(c.first) + cap(c.last); kept > 4*1000*maxUnit {
		t.Errorf("%d bytes are held after %d", kept, c.total)
	}
	if got := c.Stream(); got.Bytes != int64(64*len(chunk)) || got.Escaped {
		t.Errorf("%d bytes counted, escaped %v", got.Bytes, got.Escaped)
	}
}

func TestWithinIsIdempotent(t *testing.T) {
	s := collect(1000, strings.Repeat("日", 5000))
	if got := s.within(1000); got != s {
		t.Error("a stream that fits was cut again")
	}
	got := s.within(100)
	if n := utf8.RuneCountInString(got.Text); n > 100+noteChars || !got.Truncated || got.Bytes != s.Bytes {
		t.Errorf("%d characters, %+v", n, got)
	}
	if n := strings.Count(got.Text, "output truncated"); n != 1 {
		t.Errorf("%d notes in %q", n, got.Text)
	}
	if got := (Stream{Text: strings.Repeat("\x01", 1000), Bytes: 1000}).within(1000); !got.Truncated {
		t.Error("control characters were not counted as they are sent")
	}
	forged := Stream{Text: "ok \xff" + strings.Repeat("y", 10_000), Bytes: 1}
	if got := forged.within(100); !utf8.ValidString(got.Text) || !got.Truncated || !got.Escaped {
		t.Errorf("a forged stream came back as %+v", got)
	}
}

func FuzzCollector(f *testing.F) {
	f.Add([]byte("hello"), 3, 2)
	f.Add([]byte("a°日🙂\xff\xf0\x9f\x99z\xc3\x80\x80\x80\x80\x80\x80"), 5, 3)
	f.Add(bytes.Repeat([]byte("\x01\xe2\x82"), 50), 40, 7)
	f.Fuzz(func(t *testing.T, raw []byte, chars, size int) {
		chars, size = chars&0x3ff, max(size&0xff, 1)
		c := NewCollector(chars)
		for i := 0; i < len(raw); i += size {
			_, _ = c.Write(raw[i:min(i+size, len(raw))])
		}
		got := c.Stream()
		if got.Bytes != int64(len(raw)) || !utf8.ValidString(got.Text) {
			t.Fatalf("%d bytes of %d, valid %v", got.Bytes, len(raw), utf8.ValidString(got.Text))
		}
		whole, escaped, _ := render(raw, len(raw)*4+1, len(raw)*6+1)
		n, encoded := measure(raw)
		fits := n <= chars && encoded <= chars*encodedPerChar
		if fits != !got.Truncated {
			t.Fatalf("%d characters (%d encoded) of %d: truncated %v", n, encoded, chars, got.Truncated)
		}
		if fits {
			if got.Text != whole || got.Escaped != escaped {
				t.Fatalf("%q came back as %q", whole, got.Text)
			}
			return
		}
		note := strings.LastIndex(got.Text, "[output truncated: ")
		end := note + strings.Index(got.Text[note:], "]") + 1
		head, tail := strings.TrimSuffix(got.Text[:note], "\n"), got.Text[end:]
		if !strings.HasPrefix(whole, head) {
			t.Fatalf("head %q does not begin %q", head, whole)
		}
		if !strings.HasSuffix(whole, strings.TrimPrefix(tail, "\n")) {
			t.Fatalf("tail %q does not end %q", tail, whole)
		}
		if n := utf8.RuneCountInString(got.Text); n > chars+noteChars {
			t.Fatalf("%d characters kept of %d", n, chars)
		}
	})
}

func TestCollectorTakesAnyReader(t *testing.T) {
	c := NewCollector(100)
	var b bytes.Buffer
	b.WriteString("日本\xff語")
	if _, err := b.WriteTo(struct{ *Collector }{c}); err != nil {
		t.Fatal(err)
	}
	one := NewCollector(100)
	r := iotest.OneByteReader(strings.NewReader("日本\xff語"))
	buf := make([]byte, 8)
	for {
		n, err := r.Read(buf)
		_, _ = one.Write(buf[:n])
		if err != nil {
			break
		}
	}
	if one.Stream() != c.Stream() {
		t.Errorf("%+v differs from %+v", one.Stream(), c.Stream())
	}
}
