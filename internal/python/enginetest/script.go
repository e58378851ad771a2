package enginetest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"sallyport.dev/sallyport/internal/python"
)

// A script is one case: calls that run one after the other on one engine. Its file is
//
//	a story in prose
//	requires module:numpy threads
//	-- 1.py --
//	print("hi")
//	-- 1.want --
//	stdout "hi\n"
//
// with any number of calls. A line of a want section is a check, or a setting of the request:
//
//	exit 3 | timeout | signal | failure memory_limit    how it ends; several lines are alternatives; none is "exit 0"
//	stdout "exact"          also stderr and result; the text is a Go string, in either kind of quotes
//	stdout @NAME            exact, from the section NAME
//	stdout has "part"
//	stdout lacks "part"
//	stdout matches "regexp"
//	stdout truncated
//	stdout escaped
//	stderr any              without a word about stderr, it has to be empty when the exit code is 0
//	result none
//	file "output/x.csv" "content"     a file that comes back; without content, whatever it holds
//	nofile "big.bin"                  a file that does not come back, although it may be named
//	figures 2
//	limit timeout 2s | limit output 1000 | limit memory 64 | limit scratch 32 | limit files 100    MiB where it is bytes
//	stdin "text"
//	input "data/a.csv" "content"
//	repeat 5                run it so often
//	distinct 1 2            over all runs, no word of these lines of stdout is the same as in another run
//	varies 3                over all runs, these lines are not all the same
//
// A line that begins with [threads] or [!module:numpy] counts only where that holds.
type script struct {
	requires []string
	calls    []call
}

type call struct {
	name     string
	request  python.Request
	checks   []check
	repeat   int
	distinct []int
	varies   []int
}

// A check is a line that judges an outcome.
type check struct {
	line  string
	when  []string // abilities, "!" before one that must be missing
	verb  string
	about string // has, lacks, matches, truncated … or empty for exact
	text  string
	more  string
	form  *regexp.Regexp
}

func parse(source []byte) (script, error) {
	archive := txtar.Parse(source)
	var s script
	for line := range strings.Lines(string(archive.Comment)) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "requires" {
			s.requires = append(s.requires, words[1:]...)
		}
	}
	sections := map[string]string{}
	for _, f := range archive.Files {
		if _, twice := sections[f.Name]; twice {
			return s, fmt.Errorf("section %s stands twice", f.Name)
		}
		sections[f.Name] = string(f.Data)
	}
	for _, f := range archive.Files {
		name, isCode := strings.CutSuffix(f.Name, ".py")
		if !isCode {
			continue
		}
		want, ok := sections[name+".want"]
		if !ok {
			return s, fmt.Errorf("call %s has no want section", name)
		}
		c := call{name: name, repeat: 1, request: python.Request{Code: string(f.Data)}}
		for line := range strings.Lines(want) {
			if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
				continue
			}
			if err := c.take(line, sections); err != nil {
				return s, fmt.Errorf("call %s, %q: %w", name, line, err)
			}
		}
		s.calls = append(s.calls, c)
	}
	if len(s.calls) == 0 {
		return s, fmt.Errorf("there is no call")
	}
	return s, nil
}

func (c *call) take(line string, sections map[string]string) error {
	k := check{line: line}
	for strings.HasPrefix(line, "[") {
		cond, rest, ok := strings.Cut(line[1:], "]")
		if !ok {
			return fmt.Errorf("no closing bracket")
		}
		k.when = append(k.when, cond)
		line = strings.TrimSpace(rest)
	}
	var rest string
	k.verb, rest, _ = strings.Cut(line, " ")
	var err error
	switch k.verb {
	case "limit":
		return c.limit(rest)
	case "stdin":
		text, _, err := unquote(rest)
		c.request.Stdin = []byte(text)
		return err
	case "input":
		name, rest, err := unquote(rest)
		if err != nil {
			return err
		}
		content, _, err := unquote(rest)
		c.request.Files = append(c.request.Files, python.File{Name: name, Content: []byte(content)})
		return err
	case "repeat":
		c.repeat, err = strconv.Atoi(rest)
		return err
	case "distinct":
		c.distinct, err = integers(rest)
		return err
	case "varies":
		c.varies, err = integers(rest)
		return err
	case "exit", "figures":
		_, err = strconv.Atoi(rest)
		k.text = rest
	case "failure":
		k.text = rest
	case "timeout", "signal":
	case "file", "nofile":
		if k.text, rest, err = unquote(rest); err == nil && rest != "" {
			k.about = "exact"
			k.more, _, err = unquote(rest)
		}
	case "stdout", "stderr", "result":
		err = k.stream(rest, sections)
	default:
		err = fmt.Errorf("unknown word %s", k.verb)
	}
	c.checks = append(c.checks, k)
	return err
}

func (k *check) stream(rest string, sections map[string]string) (err error) {
	switch {
	case rest == "any", rest == "none", rest == "truncated", rest == "escaped":
		k.about = rest
	case strings.HasPrefix(rest, "@"):
		text, ok := sections[rest[1:]]
		if !ok {
			return fmt.Errorf("there is no such section")
		}
		k.about, k.text = "exact", text
	case strings.HasPrefix(rest, `"`), strings.HasPrefix(rest, "`"):
		k.about = "exact"
		k.text, _, err = unquote(rest)
	default:
		k.about, rest, _ = strings.Cut(rest, " ")
		if k.text, _, err = unquote(rest); err != nil {
			return err
		}
		switch k.about {
		case "has", "lacks":
		case "matches":
			k.form, err = regexp.Compile("(?s)" + k.text)
		default:
			err = fmt.Errorf("unknown word %s", k.about)
		}
	}
	return err
}

func (c *call) limit(rest string) error {
	what, value, _ := strings.Cut(rest, " ")
	if what == "timeout" {
		d, err := time.ParseDuration(value)
		c.request.Limits.Timeout = d
		return err
	}
	n, err := strconv.Atoi(value)
	switch what {
	case "output":
		c.request.Limits.OutputChars = n
	case "memory":
		c.request.Limits.Memory = int64(n) << 20
	case "scratch":
		c.request.Limits.Scratch = int64(n) << 20
	case "files":
		c.request.Limits.ScratchFiles = n
	default:
		return fmt.Errorf("unknown limit %s", what)
	}
	return err
}

func unquote(s string) (text, rest string, err error) {
	quoted, err := strconv.QuotedPrefix(s)
	if err != nil {
		return "", "", fmt.Errorf("no quoted text in %q", s)
	}
	text, err = strconv.Unquote(quoted)
	return text, strings.TrimSpace(s[len(quoted):]), err
}

func integers(s string) ([]int, error) {
	var all []int
	for word := range strings.FieldsSeq(s) {
		n, err := strconv.Atoi(word)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}
