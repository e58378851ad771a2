package enginetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"sallyport.dev/sallyport/internal/python"
)

// promises returns what of the interface a call broke, whatever its script did.
func promises(traits Traits, req python.Request, out python.Outcome, err error) []string {
	var problems []string
	broken := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if err != nil {
		var f *python.Failure
		if !errors.As(err, &f) {
			return []string{fmt.Sprintf("the error is no Failure: %v", err)}
		}
		hidden(traits, "the message of a failure", f.Message, broken)
		if f.Partial != nil {
			out = *f.Partial
		}
	}
	if out.TimedOut && out.ExitCode != nil {
		broken("there are a time-out and an exit code")
	}
	if out.Duration < 0 {
		broken("the duration is %v", out.Duration)
	}
	streams := map[string]python.Stream{"stdout": out.Stdout, "stderr": out.Stderr}
	if out.Result != nil {
		streams["result"] = *out.Result
	}
	for name, s := range streams {
		if !utf8.ValidString(s.Text) {
			broken("%s is not UTF-8", name)
		}
		if n := utf8.RuneCountInString(s.Text); n > req.Limits.OutputChars+400 { // the note
			broken("%s has %d characters of %d", name, n, req.Limits.OutputChars)
		}
		if s.Truncated && !strings.Contains(s.Text, "truncated") {
			broken("%s is cut without a word", name)
		}
		if s.Bytes < 0 || !s.Truncated && !s.Escaped && name != "result" && s.Bytes != int64(len(s.Text)) {
			broken("%s counts %d bytes and has %d", name, s.Bytes, len(s.Text))
		}
		hidden(traits, name, s.Text, broken)
	}
	var size int64
	var count int
	for _, a := range out.Files {
		if !utf8.ValidString(a.Path) || strings.ContainsFunc(a.Path, unicode.IsControl) || a.Path == "" {
			broken("a file is named %q", a.Path)
		}
		if a.Data == nil && a.Reason == "" {
			broken("%s is left out without a reason", a.Path)
		}
		if a.Data != nil {
			count++
			size += int64(len(a.Data))
		}
		// What every Unix host has, and no guest may get.
		if strings.Contains(string(a.Data), "root:x:0:0") {
			broken("%s holds the accounts of the host", a.Path)
		}
		hidden(traits, "the path of a file", a.Path+" "+a.Reason, broken)
	}
	if count > req.Limits.Artifacts || size > req.Limits.ArtifactSize {
		broken("%d files with %d bytes came back", count, size)
	}
	for _, n := range out.Notes {
		hidden(traits, "a note", n, broken)
	}
	return problems
}

func hidden(traits Traits, where, text string, broken func(string, ...any)) {
	for _, h := range traits.Hidden {
		if strings.Contains(text, h) {
			broken("%s holds %q", where, h)
		}
	}
}

// contract tests what needs more than one call at a time.
func contract(t *testing.T, traits Traits, open func(*testing.T) python.Engine) {
	request := func(code string, timeout time.Duration) python.Request {
		l := python.DefaultLimits()
		l.Timeout = timeout
		return python.Request{Code: code, Limits: l}
	}

	t.Run("describe", func(t *testing.T) {
		c := open(t).Describe()
		if !c.Ready || c.Engine == "" || c.Python == "" || c.Belt == "" {
			t.Errorf("%+v", c)
		}
		for i := 1; i < len(c.Packages); i++ {
			if strings.ToLower(c.Packages[i-1].Name) >= strings.ToLower(c.Packages[i].Name) {
				t.Errorf("packages are not sorted: %s, %s", c.Packages[i-1].Name, c.Packages[i].Name)
			}
		}
	})

	t.Run("packages", func(t *testing.T) {
		// Whatever the description promises has to import.
		engine := open(t)
		var code strings.Builder
		for _, p := range engine.Describe().Packages {
			for _, m := range p.Modules {
				fmt.Fprintf(&code, "import %s\n", m)
			}
		}
		code.WriteString("print('all')")
		out, err := within(t, engine, request(code.String(), 30*time.Second))
		if err != nil || out.Stdout.Text != "all\n" {
			t.Error(describe(out, err))
		}
	})

	t.Run("cancel", func(t *testing.T) {
		engine := open(t)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(300*time.Millisecond, cancel)
		out, err := engine.Run(ctx, request("while True: pass", time.Hour))
		var f *python.Failure
		if !errors.As(err, &f) || f.Kind != python.Cancelled {
			t.Error(describe(out, err))
		}
		if out, err := within(t, engine, request("print(1)", 30*time.Second)); err != nil || out.Stdout.Text != "1\n" {
			t.Errorf("the next call: %s", describe(out, err))
		}
		if out, err := engine.Run(ctx, request("print(1)", time.Hour)); !errors.As(err, &f) || f.Kind != python.Cancelled {
			t.Errorf("a call that was over before it began: %s", describe(out, err))
		}
	})

	t.Run("parallel", func(t *testing.T) {
		engine := open(t)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				code := fmt.Sprintf("open('/tmp/mine', 'x').write('%d')\nimport time; time.sleep(0.2)\nprint(open('/tmp/mine').read())", i)
				out, err := within(t, engine, request(code, 30*time.Second))
				if err != nil || out.Stdout.Text != fmt.Sprint(i, "\n") {
					t.Errorf("call %d: %s", i, describe(out, err))
				}
			})
		}
		wg.Wait()
	})

	t.Run("close", func(t *testing.T) {
		engine := open(t)
		var out python.Outcome
		var err error
		started := make(chan struct{})
		done := make(chan struct{})
		go func() {
			defer close(done)
			close(started)
			out, err = engine.Run(t.Context(), request("while True: pass", time.Hour))
		}()
		<-started
		time.Sleep(300 * time.Millisecond) // so that Close meets a running call on most machines; both orders are right
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
		<-done
		var f *python.Failure
		if !errors.As(err, &f) {
			t.Errorf("a call that runs while the engine is closed: %s", describe(out, err))
		}
		if err := engine.Close(); err != nil {
			t.Errorf("closing again: %v", err)
		}
		if out, err := within(t, engine, request("print(1)", time.Second)); !errors.As(err, &f) {
			t.Errorf("a call after Close: %s", describe(out, err))
		}
	})
}
