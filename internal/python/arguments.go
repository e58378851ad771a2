package python

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of what a request may name. Sizes are the operator's; these only keep names sane on
// every file system that an engine may stage them on.
const (
	maxFiles     = 256
	maxName      = 512 // bytes of a whole name
	maxComponent = 200 // bytes between two slashes
	maxDepth     = 16
)

// parseArguments reads the arguments of a call and narrows them to the limits. It returns what
// the caller should know about how they were read.
//
// Unknown, repeated and differently spelled names are refused: an argument that was silently
// dropped is a script that does not do what its author thinks.
func parseArguments(raw []byte, limits Limits) (req Request, notes []string, err error) {
	req.Limits = limits
	var members map[string]jsontext.Value
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &members); err != nil {
			return req, nil, invalid("the arguments are no JSON object with unique names and valid Unicode")
		}
	}
	var problems []string
	for name := range members {
		switch name {
		case "code", "stdin", "timeout_seconds", "files":
		default:
			problems = append(problems, fmt.Sprintf("unknown argument %s; there are code, stdin, timeout_seconds and files", label(name, 40)))
		}
	}
	read := func(name string, into func(jsontext.Value) error) {
		value, ok := members[name]
		if !ok || value.Kind() == 'n' {
			return
		}
		if err := into(value); err != nil {
			problems = append(problems, err.Error())
		}
	}
	if value, ok := members["code"]; !ok || value.Kind() == 'n' {
		problems = append([]string{`the argument "code" is missing: send the Python source in it`}, problems...)
	}
	read("code", func(v jsontext.Value) (err error) {
		req.Code, err = text("code", v)
		return err
	})
	read("stdin", func(v jsontext.Value) error {
		s, err := text("stdin", v)
		req.Stdin = []byte(s)
		return err
	})
	read("timeout_seconds", func(v jsontext.Value) error {
		timeout, note, err := parseTimeout(v, limits.Timeout)
		if note != "" {
			notes = append(notes, note)
		}
		req.Limits.Timeout = timeout
		return err
	})
	read("files", func(v jsontext.Value) (err error) {
		req.Files, err = parseFiles(v)
		return err
	})
	if len(problems) > 0 {
		return req, nil, invalid(strings.Join(problems, "; "))
	}
	if size := req.size(); size > limits.InputSize {
		return req, nil, invalid(fmt.Sprintf("code, stdin and files have %d bytes together and the limit is %d: send less", size, limits.InputSize))
	}
	return req, notes, nil
}

func invalid(message string) *Failure { return &Failure{Kind: Invalid, Message: message} }

func (r Request) size() int64 {
	size := int64(len(r.Code)) + int64(len(r.Stdin))
	for _, f := range r.Files {
		size += int64(len(f.Content))
	}
	return size
}

func text(name string, v jsontext.Value) (string, error) {
	var s string
	if v.Kind() != '"' || json.Unmarshal(v, &s) != nil {
		return "", fmt.Errorf("the argument %q must be a string", name)
	}
	return s, nil
}

// parseTimeout lowers the time limit. A request for more than the operator allows is not an
// error, since models ask for a minute out of habit: it runs with the limit, and is told so.
func parseTimeout(v jsontext.Value, limit time.Duration) (time.Duration, string, error) {
	var seconds float64
	if v.Kind() != '0' || json.Unmarshal(v, &seconds) != nil || !(seconds > 0) || math.IsInf(seconds, 0) {
		return limit, "", fmt.Errorf(`the argument "timeout_seconds" must be a number above 0`)
	}
	if seconds > limit.Seconds() {
		return limit, fmt.Sprintf("timeout_seconds can only lower the limit: %s was used.", seconds2text(limit)), nil
	}
	// Below a millisecond nothing can start; the caller still gets a time-out, not an error.
	return max(time.Duration(seconds*float64(time.Second)), time.Millisecond), "", nil
}

func seconds2text(d time.Duration) string {
	if d == time.Second {
		return "1 second"
	}
	return fmt.Sprintf("%g seconds", d.Seconds())
}

func parseFiles(v jsontext.Value) ([]File, error) {
	var entries []map[string]jsontext.Value
	if err := json.Unmarshal(v, &entries); err != nil {
		return nil, fmt.Errorf(`the argument "files" must be a list of objects with name and content or content_base64`)
	}
	if len(entries) > maxFiles {
		return nil, fmt.Errorf("%d files were sent and the limit is %d: send an archive", len(entries), maxFiles)
	}
	files := make([]File, 0, len(entries))
	taken := names{}
	for i, entry := range entries {
		file, err := parseFile(entry)
		if err == nil {
			err = taken.add(file.Name)
		}
		if err != nil {
			return nil, fmt.Errorf("files[%d]: %w", i, err)
		}
		files = append(files, file)
	}
	return files, nil
}

func parseFile(entry map[string]jsontext.Value) (File, error) {
	for name := range entry {
		switch name {
		case "name", "content", "content_base64":
		default:
			return File{}, fmt.Errorf("unknown member %s; there are name, content and content_base64", label(name, 40))
		}
	}
	name, err := text("name", entry["name"])
	if err != nil {
		return File{}, err
	}
	if err := checkName(name); err != nil {
		return File{}, err
	}
	plain, isPlain := entry["content"]
	coded, isCoded := entry["content_base64"]
	if isPlain == isCoded {
		return File{}, fmt.Errorf("%s needs either content or content_base64", label(name, 80))
	}
	if isPlain {
		s, err := text("content", plain)
		return File{Name: name, Content: []byte(s)}, err
	}
	s, err := text("content_base64", coded)
	if err != nil {
		return File{}, err
	}
	content, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return File{}, fmt.Errorf("content_base64 of %s is not standard base64 with padding", label(name, 80))
	}
	return File{Name: name, Content: content}, nil
}

// checkName refuses whatever could lead out of the folder, or mean different things on different
// systems. Engines still open the file below a directory handle; this gives the better message.
func checkName(name string) error {
	shown := label(name, 80)
	switch {
	case name == "":
		return fmt.Errorf("the name is empty")
	case len(name) > maxName:
		return fmt.Errorf("the name %s is longer than %d bytes", shown, maxName)
	case strings.ContainsRune(name, '\\'), strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("the name %s holds a backslash or a control character", shown)
	case name == ".", !fs.ValidPath(name), !filepath.IsLocal(filepath.FromSlash(name)):
		return fmt.Errorf("the name %s must be relative to /workspace/input, without . or .. or empty parts", shown)
	}
	parts := strings.Split(name, "/")
	if len(parts) > maxDepth {
		return fmt.Errorf("the name %s has more than %d parts", shown, maxDepth)
	}
	for _, part := range parts {
		if len(part) > maxComponent {
			return fmt.Errorf("a part of the name %s is longer than %d bytes", shown, maxComponent)
		}
	}
	return nil
}

// names finds two files that cannot both exist. Names that differ in case only are one file on
// some systems, so they are refused on all.
type names map[string]bool // folded name -> it is a file

func (n names) add(name string) error {
	folded := strings.ToLower(name)
	if _, taken := n[folded]; taken {
		return fmt.Errorf("the name %s is already a file or a folder", label(name, 80))
	}
	for i, c := range folded {
		if c != '/' {
			continue
		}
		if n[folded[:i]] {
			return fmt.Errorf("the name %s lies below a file", label(name, 80))
		}
		n[folded[:i]] = false
	}
	n[folded] = true
	return nil
}

// label quotes hostile text for a message: one line, printable, bounded.
func label(s string, chars int) string {
	var b strings.Builder
	b.WriteByte('"')
	b.WriteString(printable(s, chars))
	b.WriteByte('"')
	return b.String()
}

// printable is hostile text on one line: what is not printable is escaped, and a long text is cut.
func printable(s string, chars int) string {
	var b strings.Builder
	n := 0
	for i, r := range s {
		shown := string(r)
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "�"):
			shown = fmt.Sprintf(`\x%02x`, s[i])
		case r == '"':
			shown = `\"`
		case !unicode.IsPrint(r):
			shown = strings.Trim(fmt.Sprintf("%+q", r), "'")
		}
		if n += utf8.RuneCountInString(shown); n > chars {
			b.WriteString("…")
			break
		}
		b.WriteString(shown)
	}
	return b.String()
}
