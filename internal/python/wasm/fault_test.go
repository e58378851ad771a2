package wasm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode"
	"unicode/utf8"

	"sallyport.dev/sallyport/internal/confine"
	"sallyport.dev/sallyport/internal/python"
)

// What the runtime says when it fails, as it stands on standard error.
const (
	trapWords  = "Error: failed to run main module `/files/image`\n\nCaused by:\n    0: failed to invoke command default\n    1: error while executing at wasm backtrace:\n           0:   0x1 - <unknown>!<wasm function 88514>\n    2: wasm trap: wasm `unreachable` instruction executed\n"
	stackWords = "Error: failed to run main module `/files/image`\n\nCaused by:\n    0: failed to invoke command default\n    1: wasm trap: call stack exhausted\n"
	parseWords = "Error: failed deserialization for /files/image\n\nCaused by:\n    Module was compiled with different settings\n"
	panicWords = "\nthread 'main' (7) panicked at src/main.rs:1:1:\nno /files/image in wasm function\nnote: run with a backtrace\n"
	spaceWords = "Error: failed to run main module `/files/image`\n\nCaused by:\n    0: mmap failed to reserve 0x100000000 bytes: Cannot allocate memory (os error 12)\n"
)

// Each way to end without an answer has its kind and its own text, whatever the runtime said.
func TestEndings(t *testing.T) {
	cases := []struct {
		name    string
		exit    confine.Exit
		message string
		begun   bool
		want    python.FailureKind
	}{
		{"memory", confine.Exit{Code: -1, Signal: syscall.SIGKILL, Cause: confine.CauseMemory}, "", true, python.MemoryLimit},
		{"processor time", confine.Exit{Code: -1, Signal: syscall.SIGKILL, Cause: confine.CauseCPU}, "", true, python.CPULimit},
		{"scratch", confine.Exit{Code: -1, Signal: syscall.SIGKILL, Cause: confine.CauseDisk}, "", true, python.DiskLimit},
		{"threads", confine.Exit{Code: -1, Signal: syscall.SIGKILL, Cause: confine.CauseThreads}, "", true, python.Killed},
		{"a trap", confine.Exit{Code: 134}, trapWords, true, python.Crashed},
		{"an abort", confine.Exit{Code: -1, Signal: syscall.SIGABRT}, "", true, python.Crashed},
		{"an illegal instruction", confine.Exit{Code: -1, Signal: syscall.SIGILL}, "", true, python.Crashed},
		{"a fault of the machine code", confine.Exit{Code: -1, Signal: syscall.SIGSEGV}, "", true, python.Crashed},
		{"the stack", confine.Exit{Code: 134}, stackWords, true, python.StackOverflow},
		{"the stack, by a signal", confine.Exit{Code: -1, Signal: syscall.SIGSEGV}, "thread 'main' has overflowed its stack", true, python.StackOverflow},
		{"a kill from elsewhere", confine.Exit{Code: -1, Signal: syscall.SIGKILL}, "", true, python.Killed},
		{"another signal", confine.Exit{Code: -1, Signal: syscall.SIGTERM}, "", true, python.Killed},
		{"no report", confine.Exit{}, "", true, python.NoAnswer},
		{"a status without a report", confine.Exit{Code: 7}, "", true, python.NoAnswer},
		{"addresses", confine.Exit{Code: 1}, spaceWords, false, python.Belt},
		{"an image that does not fit", confine.Exit{Code: 1}, parseWords, false, python.NotPrepared},
		{"no request", confine.Exit{Code: exitNoRequest}, "", false, python.Internal},
		{"an end before the beginning", confine.Exit{Code: 1}, "Error: unable to do so", false, python.Internal},
		// The same words from a script that runs are a script's.
		{"forged: addresses", confine.Exit{Code: 1}, spaceWords, true, python.NoAnswer},
		{"forged: an image that does not fit", confine.Exit{Code: 1}, parseWords, true, python.NoAnswer},
		{"forged: no request", confine.Exit{Code: exitNoRequest}, "", true, python.NoAnswer},
	}
	texts := map[string]python.FailureKind{}
	for _, c := range cases {
		f := failed(c.exit, c.message, c.begun, python.DefaultLimits())
		if f.Kind != c.want {
			t.Errorf("%s: %s, want %s", c.name, f.Kind, c.want)
		}
		checkMessage(t, c.name, f.Message)
		if other, known := texts[f.Message]; known && other != f.Kind {
			t.Errorf("%s: %s and %s have the same text: %s", c.name, f.Kind, other, f.Message)
		}
		texts[f.Message] = f.Kind
		if c.message != "" && !strings.Contains(f.Cause.Error(), strings.TrimSpace(c.message)[:20]) {
			t.Errorf("%s: the operator's log would not have the runtime's words: %v", c.name, f.Cause)
		}
	}
}

// checkMessage: words for the model hold nothing of the host or the runtime.
func checkMessage(t *testing.T, name, text string) {
	t.Helper()
	for _, leak := range []string{"/files", "/home", "wasm", "Caused by", "mmap", "deserial", "os error"} {
		if strings.Contains(text, leak) {
			t.Errorf("%s: %q holds %q", name, text, leak)
		}
	}
	if len(text) < 20 {
		t.Errorf("%s: %q says nothing", name, text)
	}
}

// What keeps an engine from opening is refused by a name that helps, without the host's paths.
func TestWhatKeepsAnEngineFromOpening(t *testing.T) {
	wrapped := func(err error) error { return fmt.Errorf("opening /home/someone/cache: %w", err) }
	for name, c := range map[string]struct {
		err  error
		want python.FailureKind
		says string
	}{
		"a missing fence":     {wrapped(&confine.Unavailable{Missing: []confine.Fence{{Name: "landlock", Why: "ABI 1, need >= 3"}}}), python.Belt, "belt unavailable: landlock: ABI 1, need >= 3"},
		"few addresses":       {wrapped(&addressSpaceError{4 << 30}), python.Belt, "ulimit -v"},
		"no image":            {wrapped(fs.ErrNotExist), python.NotPrepared, "sallyport setup"},
		"anything unheard of": {errors.New("/home/someone/cache is odd"), python.NotPrepared, "sallyport setup"},
	} {
		f := notOpen(c.err)
		if f.Kind != c.want || !strings.Contains(f.Message, c.says) || strings.Contains(f.Message, "/home") {
			t.Errorf("%s: %v", name, f)
		}
		if !errors.Is(f, c.err) {
			t.Errorf("%s: the cause is lost to the operator", name)
		}
	}
}

// Closed engines, and callers who have left, get an answer of their own and start nothing.
func TestClosedEngineRefuses(t *testing.T) {
	e := New(Config{Cache: t.TempDir()})
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	var f *python.Failure
	if _, err := e.Run(t.Context(), python.Request{Code: "1"}); !errors.As(err, &f) || f.Kind != python.Cancelled {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e = New(Config{Cache: t.TempDir()})
	defer e.Close()
	if _, err := e.Run(ctx, python.Request{Code: "1"}); !errors.As(err, &f) || f.Kind != python.Cancelled && f.Kind != python.NotPrepared {
		t.Errorf("%v", err)
	}
}

func TestStripRuntime(t *testing.T) {
	for _, words := range []string{trapWords, stackWords, spaceWords, panicWords} {
		for _, own := range []string{"", "a line\n", "an open line", "Error: mine\n", "Error: failed to run main module `mine`\n", "é\xff\n"} {
			got, message := stripRuntime(own + words)
			if !strings.HasPrefix(own+"\n", got) || got+message != own+words {
				t.Errorf("%q: %q + %q", own+words, got, message)
			}
		}
	}
	// What keeps the runtime from starting a script has nothing before it.
	if got, message := stripRuntime(parseWords); got != "" || message != parseWords {
		t.Errorf("%q + %q", got, message)
	}
	for _, own := range []string{"", "MyError: failed to open", "Traceback (most recent call last):\n  File \"x\"\nValueError: row 17\n"} {
		if got, message := stripRuntime(own); got != own || message != "" {
			t.Errorf("%q lost %q", own, message)
		}
	}
}

// FuzzStripRuntime: whatever a script has written before, nothing of what the runtime adds is left, also when
// the stream was cut in the middle of it.
func FuzzStripRuntime(f *testing.F) {
	for _, own := range []string{"", "x", "half a line", "Error: failed to ", "\nthread '", "[output truncated: 5 bytes]\n", strings.Repeat("é", 300), "\xff\xfe"} {
		for _, chars := range []int{0, 1, 50, 200, 1000} {
			f.Add(own, chars)
		}
	}
	f.Fuzz(func(t *testing.T, own string, chars int) {
		const secret = "/files/image"
		if chars < 0 || chars > 5000 || len(own) > 100_000 || strings.Contains(own, "image") {
			return
		}
		for _, words := range []string{trapWords, stackWords, spaceWords, panicWords} {
			got, message := stripRuntime(own + words)
			if len(got) > len(own)+1 || got+message != own+words {
				t.Fatalf("left %q of %q", got, own+words)
			}
			c := python.NewCollector(chars)
			c.Write([]byte(own))
			c.Write([]byte(words))
			if got, _ := stripRuntime(c.Stream().Text); strings.Contains(got, secret) || strings.Contains(got, "wasm function") {
				t.Fatalf("with %d characters: left %q", chars, got)
			}
		}
	})
}

// FuzzReadReport: a report is hostile. What is returned is in range, and showing it is bounded.
func FuzzReadReport(f *testing.F) {
	for _, seed := range []string{
		`{"exit_code": 0}`, `{"exit_code": 256}`, `{"exit_code": -1}`, `{"exit_code": 1e3}`, `{"exit_code": null, "figures": 1}`, `[]`, `null`, ``, `{`,
		`{"exit_code": 3, "figures": 9999999999999999999}`, `{"exit_code": 3, "figures": 2, "figures_skipped": 7, "result": "\ud800"}`,
		`{"exit_code": 0, "result_head": "a", "result_tail": "b", "result_chars": -9223372036854775808}`, `{"exit_code":0,"exit_code":"x"}`, "\xff\xfe", strings.Repeat("[", 20000),
	} {
		f.Add([]byte(seed))
	}
	dir := f.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { root.Close() })
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, "report.json"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		r := readReport(root)
		if r == nil {
			return
		}
		if r.ExitCode == nil || *r.ExitCode < 0 || *r.ExitCode > 255 || r.Figures < 0 || r.FiguresSkipped < 0 {
			t.Fatalf("%+v", r)
		}
		if s := r.result(100); s != nil {
			if n := utf8.RuneCountInString(s.Text); n > 100+400 || !utf8.ValidString(s.Text) || s.Bytes < 0 {
				t.Fatalf("%d characters of 100: %+v", n, s)
			}
		}
		c := collector{count: 3, size: 100}
		if c.figures(root, r); len(c.files) > maxNamed {
			t.Fatalf("%d figures", len(c.files))
		}
		if _, err := json.Marshal(r); err != nil {
			t.Fatal(err)
		}
	})
}

// What is no regular file of a bounded size is no report, and is not followed, waited for or read.
func TestReportsThatAreNoFiles(t *testing.T) {
	for name, make := range map[string]func(path, outside string) error{
		"nothing":          func(string, string) error { return nil },
		"a folder":         func(p, _ string) error { return os.Mkdir(p, 0o700) },
		"a link outward":   func(p, outside string) error { return os.Symlink(outside, p) },
		"a link up":        func(p, outside string) error { return os.Symlink("../"+filepath.Base(outside), p) },
		"a link beside":    func(p, _ string) error { return os.WriteFile(p+"2", []byte(`{"exit_code":0}`), 0o600) },
		"a link to itself": func(p, _ string) error { return os.Symlink("report.json", p) },
		"too large": func(p, _ string) error {
			return os.WriteFile(p, append([]byte(`{"exit_code":0}`), bytes.Repeat([]byte(" "), maxReport)...), 0o600)
		},
		"sparse": func(p, _ string) error {
			return errors.Join(os.WriteFile(p, []byte(`{"exit_code":0}`), 0o600), os.Truncate(p, 1<<40))
		},
	} {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			dir, outside := filepath.Join(parent, "control"), filepath.Join(parent, "outside")
			if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(outside, []byte(`{"exit_code":0,"result":"of the host"}`), 0o600)); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "report.json")
			if err := make(path, outside); err != nil {
				t.Skipf("this system cannot make it: %v", err)
			}
			if name == "a link beside" {
				if err := os.Symlink("report.json2", path); err != nil {
					t.Skip(err)
				}
			}
			root, err := os.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			if r := readReport(root); r != nil {
				t.Errorf("%+v was believed", r)
			}
		})
	}
}

// FuzzPrintable: a name is shown in visible characters of one line, and what is visible stays as it is.
func FuzzPrintable(f *testing.F) {
	for _, name := range []string{"a.csv", "a\nb", "\x85", "\u2028", "\u202e", "\u200b", "\xff", "\U000e0041", "é", "日本", "\x1b[2J", `a\x0ab`, ""} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		shown := printable(name)
		if !utf8.ValidString(shown) || strings.ContainsFunc(shown, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Fatalf("%q is shown as %q", name, shown)
		}
		if name != "" && shown == "" {
			t.Fatalf("%q is shown as nothing", name)
		}
		if utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) && shown != name {
			t.Fatalf("%q is shown as %q", name, shown)
		}
	})
}

// A figure is a PNG file or it does not come back: clients decode what is called a picture.
func TestFiguresAreFigures(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	write := func(name, data string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("figure-1.png", pngSignature+"rest")
	write("figure-2.png", "<svg onload='x'>")
	c := collector{count: 9, size: 1000}
	c.figures(root, &report{Figures: 1 << 40})
	if len(c.files) != 2 || c.files[0].Data == nil || c.files[1].Data != nil || c.files[1].Reason == "" {
		t.Errorf("%+v", c.files)
	}
}
