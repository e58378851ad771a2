package wasm

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/txtar"

	"sallyport.dev/sallyport/internal/python"
)

// A snippet is a script with what native CPython prints for it. Where the engine prints something else,
// that stands in here, and why in differs.
type snippet struct {
	area, name               string
	code, out, here, why     string
	hasCode, hasOut, hasHere bool
}

// TestDifferential compares the engine with the recorded answers of native CPython.
func TestDifferential(t *testing.T) {
	snippets := readSnippets(t)
	e := openEngine(t, nil)
	for _, s := range snippets {
		t.Run(s.area+"/"+s.name, func(t *testing.T) {
			t.Parallel()
			limits := python.DefaultLimits()
			limits.Timeout = 2 * time.Minute // what is compared are answers
			outcome, err := e.Run(context.Background(), python.Request{Code: s.code, Limits: limits})
			if err != nil {
				t.Fatal(err)
			}
			want := s.out
			if s.hasHere {
				want = s.here
			}
			if got := printed(outcome); got != want {
				t.Errorf("%s\n%s", s.code, diff.Diff("expected", []byte(want), "printed", []byte(got)))
			}
		})
	}
}

// TestDifferencesAreExplained needs no engine: a difference has a reason, and a reason a difference.
func TestDifferencesAreExplained(t *testing.T) {
	snippets := readSnippets(t)
	if len(snippets) < 300 {
		t.Errorf("the suite has %d snippets, want all few hundred", len(snippets))
	}
	for _, s := range snippets {
		switch {
		case !s.hasCode:
			t.Errorf("%s/%s has an answer and no snippet", s.area, s.name)
		case !s.hasOut:
			t.Errorf("%s/%s has no native answer: run record.py", s.area, s.name)
		case s.hasHere != (strings.TrimSpace(s.why) != ""):
			t.Errorf("%s/%s: .here and .differs belong together", s.area, s.name)
		case s.hasHere && s.here == s.out:
			t.Errorf("%s/%s no longer differs: delete .here and .differs", s.area, s.name)
		}
	}
}

// printed lays an outcome out as record.py does.
func printed(outcome python.Outcome) string {
	text := outcome.Stdout.Text
	if outcome.Stderr.Text != "" {
		text = ended(text) + "[stderr]\n" + outcome.Stderr.Text
	}
	switch {
	case outcome.TimedOut:
		text = ended(text) + "[timed out]\n"
	case outcome.ExitCode == nil:
		text = ended(text) + "[no exit code]\n"
	case *outcome.ExitCode != 0:
		text = ended(text) + fmt.Sprintf("[exit %d]\n", *outcome.ExitCode)
	}
	return ended(text)
}

func ended(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

func readSnippets(t *testing.T) []*snippet {
	t.Helper()
	paths, err := filepath.Glob("testdata/differential/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var snippets []*snippet
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		area := strings.TrimSuffix(filepath.Base(path), ".txtar")
		named := map[string]*snippet{}
		for _, f := range archive.Files {
			name, kind, _ := strings.Cut(f.Name, ".")
			s := named[name]
			if s == nil {
				s = &snippet{area: area, name: name}
				named[name] = s
				snippets = append(snippets, s)
			}
			switch kind {
			case "py":
				s.code, s.hasCode = string(f.Data), true
			case "out":
				s.out, s.hasOut = string(f.Data), true
			case "here":
				s.here, s.hasHere = string(f.Data), true
			case "differs":
				s.why = string(f.Data)
			default:
				t.Errorf("%s: %s is none of .py, .out, .here, .differs", path, f.Name)
			}
		}
	}
	return snippets
}
