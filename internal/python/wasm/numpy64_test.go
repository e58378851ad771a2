package wasm

import (
	"context"
	_ "embed"
	"encoding/json"
	"testing"
	"time"

	"sallyport.dev/sallyport/internal/python"
)

// numpy64 is a list of snippets with what they print on 64-bit Linux.
//
//go:embed testdata/numpy64.json
var numpy64 []byte

// answers runs the snippets of a file, each in a namespace of its own, and prints what they print.
const answers = `
import contextlib, io, json, sys, warnings
printed = []
for snippet in json.load(open("/workspace/input/snippets.json")):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(snippet, "<snippet>", "exec"), {"__name__": "__main__"})
        except Exception as error:
            print(f"{type(error).__name__}: {error}", file=out)
    printed.append(out.getvalue())
json.dump(printed, sys.stdout)
`

// TestNumpyAnswersAsOn64Bits compares with the recorded answers of native CPython.
func TestNumpyAnswersAsOn64Bits(t *testing.T) {
	var cases []struct{ Snippet, Expected string }
	if err := json.Unmarshal(numpy64, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 1000 {
		t.Fatalf("the suite has %d cases, want all thousand", len(cases))
	}
	e := openEngine(t, nil)
	limits := python.DefaultLimits()
	limits.Timeout = 5 * time.Minute
	limits.OutputChars = 1 << 20
	// Many a call: what is compared are answers, and one of the cases may leave nothing for the next.
	const batch = 100
	for from := 0; from < len(cases); from += batch {
		part := cases[from:min(from+batch, len(cases))]
		var snippets []string
		for _, c := range part {
			snippets = append(snippets, c.Snippet)
		}
		input, err := json.Marshal(snippets)
		if err != nil {
			t.Fatal(err)
		}
		outcome, err := e.Run(context.Background(), python.Request{
			Code:   answers,
			Files:  []python.File{{Name: "snippets.json", Content: input}},
			Limits: limits,
		})
		if err != nil {
			t.Fatal(err)
		}
		var printed []string
		if err := json.Unmarshal([]byte(outcome.Stdout.Text), &printed); err != nil || len(printed) != len(part) {
			t.Fatalf("cases from %d did not all answer: %v\n%s\n%s", from, err, outcome.Stdout.Text, outcome.Stderr.Text)
		}
		for i, c := range part {
			if printed[i] != c.Expected {
				t.Errorf("%s\nprinted  %q\nexpected %q", c.Snippet, printed[i], c.Expected)
			}
		}
	}
}
