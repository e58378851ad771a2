package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

// quiet is a program without engines that never restarts itself.
func quiet() (*Program, *bytes.Buffer, *bytes.Buffer) {
	var out, err bytes.Buffer
	return &Program{
		In: strings.NewReader(""), Out: &out, Err: &err,
		Environ: environment{
			lookup: func(string) (string, bool) { return "", false },
			cache:  func() (string, error) { return "/nowhere", nil },
		},
		Args: []string{"sallyport"},
		Seal: unsealed{},
	}, &out, &err
}

type unsealed struct{}

func (unsealed) Replace(Settings) error      { return nil }
func (unsealed) Confine(Settings, int) error { return nil }
func (unsealed) Enter(string)                {}

func TestUsageErrorsExitTwoWithAHint(t *testing.T) {
	tests := []struct{ line, text, hint string }{
		{"pyton", `"pyton"`, "did you mean sallyport python?"},
		{"python --timout 3s", "unknown flag: --timout", "did you mean --timeout?"},
		{"python --zzzzzzzz", "unknown flag: --zzzzzzzz", "see sallyport python --help"},
		{"python extra", `"extra"`, "see sallyport python --help"},
		{"python --memory 3x", "--memory", "see sallyport python --help"},
		{"python --memory 3x", "one of the units B, KB", "see sallyport python --help"},
		{"python --memory 0", "not above zero", "see sallyport python --help"},
		{"python --memory 15MiB", "--memory is out of range: it takes a value from 16MiB to 3GiB", "give a value"},
		{"python --memory 4GiB", "--memory is out of range", "give a value from 16MiB to 3GiB"},
		{"python exec --scratch 1000 x.py", "--scratch is out of range", "give a value of 1MiB or more"},
		{"python --timeout 0s", "--timeout is out of range", "give a value of 100ms or more"},
		{"python --timeout 99ms", "--timeout is out of range", "give a value of 100ms or more"},
		{"python --timeout 3", "missing unit", "write a unit, such as 3s"},
		{"python --queue -1", "--queue is out of range", "give a value of 0 or more"},
		{"python --output-chars 0", "--output-chars is out of range", "give a value of 1 or more"},
		{"python --allow-host gateway", "--allow-host has no meaning on stdio", "add --http"},
		{"python --allow-origin https://a.example", "--allow-origin has no meaning on stdio", "add --http"},
		{"python --http 127.0.0.1:0 --allow-origin a.example", `"a.example" is no web origin`, "write scheme://host"},
		{"python --print-config vscode --timeout 0s", "--timeout is out of range", "give a value"},
		{"python --print-config=", "no client", "use a name of that list"},
		{"python exce x.py", `"exce"`, "did you mean sallyport python exec?"},
		{"help pyton", `"pyton"`, "did you mean sallyport python?"},
		{"help nosuch", `"nosuch"`, "see sallyport --help"},
		{"help python nosuch", `"nosuch"`, "see sallyport python --help"},
		{"python exec .", "is a folder", "name a file"},
		{"python --engine deno2", `--engine "deno2"`, "use one of auto"},
		{"python --image ../x", `--image "../x"`, "use letters"},
		{"python --log-level loud", `--log-level "loud"`, "use debug"},
		{"python --token-env X", "no meaning on stdio", "add --http"},
		{"python --token-env X --token-file Y", "exclude each other", "use one of them"},
		{"python --http 127.0.0.1:0 --token-env X", "fewer than 16", "use a long random word"},
		{"python --sealed=9999", "reading the settings", "the flag --sealed"},
		{"python --sealed=0", "reading the settings", "the flag --sealed"},
		{"python --print-config nothing", "claude-code", "use a name of that list"},
		{"python --print-config vscode --http :1", "stdio", "leave --http out"},
		{"python exec", "exec takes one script", "name a file"},
		{"python exec /no/such/file", "opening the script", "name a file"},
		{"setup --check --export x.tar", "exclude each other", "run them one"},
		{"setup --preload numpy;os", `--preload "numpy;os"`, "write names as import takes them"},
		{"setup --pypi humanize", `"humanize"`, "write --pypi name==version"},
		{"setup --pypi humanize>=4", "want name==version", "write --pypi name==version"},
		{"setup --from /no/such/file", "opening --from", "name the tar file"},
		{"setup --engine nothing", `no engine "nothing"`, "see sallyport doctor"},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			p, out, errs := quiet()
			code := p.Run(context.Background(), strings.Fields(tt.line))
			if code != 2 {
				t.Errorf("exit code %d, want 2", code)
			}
			if out.Len() != 0 {
				t.Errorf("stdout has %q; an error belongs to stderr", out)
			}
			for _, want := range []string{tt.text, "hint: " + tt.hint} {
				if !strings.Contains(errs.String(), want) {
					t.Errorf("stderr lacks %q:\n%s", want, errs)
				}
			}
		})
	}
}

func TestSlips(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"timout", "timeout", 1}, {"kitten", "sitting", 3}} {
		if got := slips(tt.a, tt.b); got != tt.want {
			t.Errorf("slips(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
