package python

import (
	"fmt"
	"strings"
)

// transcript writes a result as text, for clients that ignore structured content. It is complete
// without them, and what comes from us stands in the first lines, before anything that the script
// could have printed.
//
// A client may hand both forms to its model, and both count towards the size of a reply. So the
// text holds standard output as the structure does, and a shorter cut of the other two streams.
func (r result) transcript(l Limits) string {
	var b strings.Builder
	b.WriteString(r.headline())
	if r.Error != nil {
		fmt.Fprintf(&b, "\nerror: %s (%s)", r.Error.Message, r.Error.Kind)
	}
	for _, n := range r.Notes {
		b.WriteString("\nnote: " + n)
	}
	for _, f := range r.Files {
		fmt.Fprintf(&b, "\nfile: %s (%s, %d bytes)", f.Path, f.MIME, f.Size)
		if f.Included {
			b.WriteString(" follows")
		} else {
			b.WriteString(" is not included: " + f.Note)
		}
	}
	short := shortChars(l)
	if r.Result != nil {
		section(&b, "result", *r.Result, r.resultBytes, short, false)
	}
	section(&b, "stdout", r.Stdout, r.StdoutBytes, l.OutputChars, r.StdoutEscaped)
	section(&b, "stderr", r.Stderr, r.StderrBytes, short, r.StderrEscaped)
	if r.Stdout == "" && r.Stderr == "" && r.Result == nil && r.Error == nil {
		b.WriteString("\nno output")
	}
	return b.String()
}

// shortChars is how much of result and stderr the text block holds.
func shortChars(l Limits) int { return l.OutputChars / 5 }

func (r result) headline() string {
	parts := []string{"status: " + r.Status}
	if r.ExitCode != nil {
		parts = append(parts, fmt.Sprintf("exit code %d", *r.ExitCode))
	}
	parts = append(parts, fmt.Sprintf("%d ms", r.DurationMS))
	if r.Status == statusError {
		if line := lastLine(r.Stderr, 200); line != "" && !strings.HasPrefix(line, "[output truncated: ") {
			parts = append(parts, line)
		}
	}
	return strings.Join(parts, " · ")
}

func section(b *strings.Builder, name, text string, size int64, chars int, escaped bool) {
	if text == "" {
		return
	}
	s := Stream{Text: text, Bytes: size, Escaped: escaped}.within(chars)
	if !strings.HasSuffix(b.String(), "\n") {
		b.WriteByte('\n')
	}
	fmt.Fprintf(b, "--- %s, %d bytes%s ---\n%s", name, size, escapedWord(escaped), s.Text)
}

func escapedWord(escaped bool) string {
	if escaped {
		return `, invalid UTF-8 as \xNN`
	}
	return ""
}
