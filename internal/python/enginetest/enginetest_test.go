package enginetest

import (
	"errors"
	"strings"
	"testing"

	"sallyport.dev/sallyport/internal/python"
)

func TestCasesParse(t *testing.T) {
	for _, name := range names(t) {
		source, err := cases.ReadFile("testdata/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parse(source); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(names(t)); n < 60 {
		t.Errorf("there are %d cases only", n)
	}
}

func TestBrokenCasesAreRefused(t *testing.T) {
	for source, want := range map[string]string{
		"story\n":         "no call",
		"-- 1.py --\nx\n": "no want section",
		"-- 1.py --\n-- 1.want --\nstduot \"x\"\n":         "unknown word stduot",
		"-- 1.py --\n-- 1.want --\nstdout x\n":             "no quoted text",
		"-- 1.py --\n-- 1.want --\nstdout holds \"x\"\n":   "unknown word holds",
		"-- 1.py --\n-- 1.want --\nstdout matches \"(\"\n": "missing closing",
		"-- 1.py --\n-- 1.want --\nstdout @no\n":           "no such section",
		"-- 1.py --\n-- 1.want --\nexit zero\n":            "invalid syntax",
		"-- 1.py --\n-- 1.want --\nlimit patience 3\n":     "unknown limit",
		"-- 1.py --\n-- 1.want --\n[threads exit 0\n":      "no closing bracket",
		"-- 1.py --\n-- 1.want --\n-- 1.py --\n":           "stands twice",
	} {
		if _, err := parse([]byte(source)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", source, err, want)
		}
	}
}

func one(t *testing.T, want string) call {
	t.Helper()
	s, err := parse([]byte("-- 1.py --\npass\n-- 1.want --\n" + want + "\n-- x --\nfrom a section\n"))
	if err != nil {
		t.Fatal(err)
	}
	return s.calls[0]
}

func code(n int) *int { return &n }

// Each check passes what is right and reports what is wrong: a check that cannot fail proves nothing.
func TestChecksCanFail(t *testing.T) {
	ok := python.Outcome{ExitCode: code(0)}
	with := func(change func(*python.Outcome)) python.Outcome {
		o := ok
		change(&o)
		return o
	}
	said := func(s string) python.Outcome {
		return with(func(o *python.Outcome) { o.Stdout = python.Stream{Text: s, Bytes: int64(len(s))} })
	}
	failed := &python.Failure{Kind: python.MemoryLimit}
	file := func(data []byte) python.Outcome {
		return with(func(o *python.Outcome) { o.Files = []python.Artifact{{Path: "a", Data: data, Reason: "big"}} })
	}
	figure := func(data string) python.Outcome {
		return with(func(o *python.Outcome) { o.Files = []python.Artifact{{Path: "a", Data: []byte(data), Figure: true}} })
	}
	type try struct {
		out python.Outcome
		err error
	}
	for want, c := range map[string]struct{ right, wrong try }{
		"":                             {try{ok, nil}, try{with(func(o *python.Outcome) { o.ExitCode = code(1) }), nil}},
		"# no stderr":                  {try{ok, nil}, try{with(func(o *python.Outcome) { o.Stderr.Text = "x" }), nil}},
		"exit 3":                       {try{with(func(o *python.Outcome) { o.ExitCode = code(3) }), nil}, try{ok, nil}},
		"exit 0":                       {try{ok, nil}, try{ok, failed}},
		"timeout":                      {try{python.Outcome{TimedOut: true}, nil}, try{with(func(o *python.Outcome) { o.TimedOut = true }), nil}},
		"signal":                       {try{python.Outcome{}, nil}, try{ok, nil}},
		"failure memory_limit":         {try{python.Outcome{}, failed}, try{ok, nil}},
		"failure cpu_limit":            {try{python.Outcome{}, &python.Failure{Kind: python.CPULimit}}, try{python.Outcome{}, failed}},
		"exit 1\nfailure memory_limit": {try{python.Outcome{}, failed}, try{ok, nil}},
		`stdout "a\n"`:                 {try{said("a\n"), nil}, try{said("a"), nil}},
		`stdout @x`:                    {try{said("from a section\n"), nil}, try{said("x"), nil}},
		`stdout has "a"`:               {try{said("bab"), nil}, try{said("b"), nil}},
		`stdout lacks "a"`:             {try{said("b"), nil}, try{said("bab"), nil}},
		"stdout matches `^a.b$`":       {try{said("a\nb"), nil}, try{said("ab"), nil}},
		"stdout truncated":             {try{with(func(o *python.Outcome) { o.Stdout.Truncated = true }), nil}, try{ok, nil}},
		"stdout escaped":               {try{with(func(o *python.Outcome) { o.Stdout.Escaped = true }), nil}, try{ok, nil}},
		"result none":                  {try{ok, nil}, try{with(func(o *python.Outcome) { o.Result = &python.Stream{} }), nil}},
		`result "1"`:                   {try{with(func(o *python.Outcome) { o.Result = &python.Stream{Text: "1"} }), nil}, try{ok, nil}},
		`file "a"`:                     {try{file([]byte{}), nil}, try{file(nil), nil}},
		`file "a" "x"`:                 {try{file([]byte("x")), nil}, try{file([]byte("y")), nil}},
		`nofile "a"`:                   {try{file(nil), nil}, try{file([]byte("x")), nil}},
		"figures 1":                    {try{figure("\x89PNG\r\n\x1a\n"), nil}, try{figure("GIF"), nil}},
		`[threads] stdout "a"`:         {try{said("a"), nil}, try{said("b"), nil}},
		`[!module:numpy] stdout "a"`:   {try{said("a"), nil}, try{said("b"), nil}},
	} {
		have := set{"threads": true}
		if got := one(t, want).judge(have, c.right.out, c.right.err); len(got) != 0 {
			t.Errorf("%q refuses what is right: %q", want, got)
		}
		if got := one(t, want).judge(have, c.wrong.out, c.wrong.err); len(got) == 0 {
			t.Errorf("%q lets through what is wrong", want)
		}
	}
	if got := one(t, `[!threads] stdout "a"`).judge(set{"threads": true}, said("b"), nil); len(got) != 0 {
		t.Errorf("a check counts where its condition does not hold: %q", got)
	}
}

func TestRunsAreCompared(t *testing.T) {
	c := one(t, "repeat 3\ndistinct 1\nvaries 2")
	if got := c.compare([]string{"a b\nx", "c d\nx", "e f\ny"}); len(got) != 0 {
		t.Errorf("%q", got)
	}
	if got := c.compare([]string{"a b\nx", "c b\nx", "e f\nx"}); len(got) != 2 {
		t.Errorf("%q", got)
	}
	if got := c.compare([]string{"a b\nx", "\ny", ""}); len(got) == 0 {
		t.Error("a missing line passes")
	}
}

func TestBrokenPromisesAreNoticed(t *testing.T) {
	req := python.Request{Limits: python.DefaultLimits()}
	req.Limits.OutputChars, req.Limits.Artifacts, req.Limits.ArtifactSize = 10, 1, 3
	traits := Traits{Hidden: []string{"/secret"}}
	text := func(s string) python.Stream { return python.Stream{Text: s, Bytes: int64(len(s))} }
	for name, c := range map[string]struct {
		out python.Outcome
		err error
	}{
		"plain error":       {python.Outcome{}, errors.New("x")},
		"path in a failure": {python.Outcome{}, &python.Failure{Message: "at /secret/x"}},
		"path in stderr":    {python.Outcome{Stderr: text("/secret/x")}, nil},
		"path in a partial": {python.Outcome{}, &python.Failure{Partial: &python.Outcome{Stdout: text("/secret")}}},
		"path in a note":    {python.Outcome{Notes: []string{"/secret"}}, nil},
		"two endings":       {python.Outcome{TimedOut: true, ExitCode: code(0)}, nil},
		"time goes back":    {python.Outcome{Duration: -1}, nil},
		"no UTF-8":          {python.Outcome{Stdout: text("\xff")}, nil},
		"too long":          {python.Outcome{Stdout: text(strings.Repeat("x", 500))}, nil},
		"silent cut":        {python.Outcome{Stdout: python.Stream{Truncated: true, Bytes: 5}}, nil},
		"wrong count":       {python.Outcome{Stdout: python.Stream{Text: "a", Bytes: 5}}, nil},
		"unclean path":      {python.Outcome{Files: []python.Artifact{{Path: "a\nb", Data: []byte{}}}}, nil},
		"left out silently": {python.Outcome{Files: []python.Artifact{{Path: "a"}}}, nil},
		"host file":         {python.Outcome{Files: []python.Artifact{{Path: "a", Data: []byte("root:x:0:0:")}}}, nil},
		"too many files":    {python.Outcome{Files: []python.Artifact{{Path: "a", Data: []byte{1}}, {Path: "b", Data: []byte{1}}}}, nil},
		"too large files":   {python.Outcome{Files: []python.Artifact{{Path: "a", Data: []byte{1, 2, 3, 4}}}}, nil},
	} {
		if len(promises(traits, req, c.out, c.err)) == 0 {
			t.Errorf("%s passes", name)
		}
	}
	good := python.Outcome{Stdout: text("ok"), ExitCode: code(0), Files: []python.Artifact{{Path: "a", Data: []byte{1}}}}
	if got := promises(traits, req, good, nil); len(got) != 0 {
		t.Errorf("a good outcome is refused: %q", got)
	}
}
