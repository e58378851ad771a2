package python

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func limits() Limits { return DefaultLimits() }

func TestArgumentsAreRead(t *testing.T) {
	raw := `{"code":"print(1)","stdin":"a\nb","timeout_seconds":2.5,"files":[
		{"name":"data/ü.csv","content":"a,b\n"},{"name":"data/raw","content_base64":"` + base64.StdEncoding.EncodeToString([]byte{0, 255}) + `"},{"name":"empty","content":""}]}`
	req, notes, err := parseArguments([]byte(raw), limits())
	if err != nil {
		t.Fatal(err)
	}
	if req.Code != "print(1)" || string(req.Stdin) != "a\nb" || req.Limits.Timeout != 2500*time.Millisecond || len(notes) != 0 {
		t.Errorf("%+v, notes %q", req, notes)
	}
	if got := fmt.Sprintf("%q", req.Files); got != `[{"data/ü.csv" "a,b\n"} {"data/raw" "\x00\xff"} {"empty" ""}]` {
		t.Errorf("files are %s", got)
	}
	if req.Limits.Memory != limits().Memory {
		t.Errorf("limits are %+v", req.Limits)
	}
}

func TestNullIsAbsent(t *testing.T) {
	req, _, err := parseArguments([]byte(`{"code":"","stdin":null,"timeout_seconds":null,"files":null}`), limits())
	if err != nil || req.Limits != limits() || req.Files != nil {
		t.Errorf("%+v, %v", req, err)
	}
}

func TestTimeoutCanOnlyBeLowered(t *testing.T) {
	for raw, want := range map[string]time.Duration{"31": 30 * time.Second, "1e300": 30 * time.Second, "30": 30 * time.Second, "1e-12": time.Millisecond, "0.5": 500 * time.Millisecond} {
		req, notes, err := parseArguments([]byte(`{"code":"","timeout_seconds":`+raw+`}`), limits())
		if err != nil || req.Limits.Timeout != want {
			t.Errorf("%s: %v, %v", raw, req.Limits.Timeout, err)
		}
		if told := len(notes) == 1 && strings.Contains(notes[0], "30 seconds"); told != (raw == "31" || raw == "1e300") {
			t.Errorf("%s: notes %q", raw, notes)
		}
	}
}

func TestBadArgumentsAreRefusedByName(t *testing.T) {
	many := strings.Repeat(`{"name":"a","content":""},`, 257)
	for raw, want := range map[string]string{
		``:                                    `"code" is missing`,
		`null`:                                `"code" is missing`,
		`{}`:                                  `"code" is missing`,
		`{"code":null}`:                       `"code" is missing`,
		`{"python_code":"1"}`:                 `"code" is missing`,
		`{"CODE":"1"}`:                        `unknown argument "CODE"`,
		`{"code":"1","Code":"2"}`:             `unknown argument "Code"`,
		`{"code":"1","image":"/x"}`:           `unknown argument "image"`,
		`{"code":"1","\n\u0007":1}`:           `unknown argument "\n\a"`,
		`{"code":"1","code":"2"}`:             `unique names`,
		`{"code":"\ud800"}`:                   `valid Unicode`,
		"{\"code\":\"\xff\"}":                 `valid Unicode`,
		`[1]`:                                 `no JSON object`,
		`{"code":1}`:                          `"code" must be a string`,
		`{"code":"","stdin":{}}`:              `"stdin" must be a string`,
		`{"code":"","timeout_seconds":0}`:     `above 0`,
		`{"code":"","timeout_seconds":-1}`:    `above 0`,
		`{"code":"","timeout_seconds":"5"}`:   `above 0`,
		`{"code":"","timeout_seconds":1e999}`: `above 0`,
		`{"code":"","files":{}}`:              `must be a list`,
		`{"code":"","files":[{}]}`:            `files[0]: the argument "name"`,
		`{"code":"","files":[{"name":"a"}]}`:  `either content or content_base64`,
		`{"code":"","files":[{"name":"a","content":"","content_base64":""}]}`:         `either content or content_base64`,
		`{"code":"","files":[{"name":"a","content":null}]}`:                           `"content" must be a string`,
		`{"code":"","files":[{"name":"a","content_base64":"!"}]}`:                     `not standard base64`,
		`{"code":"","files":[{"name":"a","content":"","mode":7}]}`:                    `unknown member "mode"`,
		`{"code":"","files":[{"name":"a","content":""},{"name":"a","content":""}]}`:   `files[1]: the name "a" is already`,
		`{"code":"","files":[{"name":"a","content":""},{"name":"A","content":""}]}`:   `files[1]: the name "A" is already`,
		`{"code":"","files":[{"name":"a","content":""},{"name":"a/b","content":""}]}`: `lies below a file`,
		`{"code":"","files":[{"name":"a/b","content":""},{"name":"a","content":""}]}`: `already a file or a folder`,
		`{"code":"","files":[` + strings.TrimSuffix(many, ",") + `]}`:                 `limit is 256`,
	} {
		_, _, err := parseArguments([]byte(raw), limits())
		var f *Failure
		if !errors.As(err, &f) || f.Kind != Invalid || !strings.Contains(f.Message, want) {
			t.Errorf("%.80s: %v, want %s", raw, err, want)
		}
	}
}

func TestNamesThatLeadOutAreRefused(t *testing.T) {
	for _, name := range []string{
		"", ".", "..", "../x", "a/../b", "a/..", "./a", "a/./b", "/etc/passwd", "/", "a//b", "a/", "a\x00b", "a\nb", `..\x`, `a\b`, "\x7f",
		strings.Repeat("x", 201), strings.Repeat(strings.Repeat("x", 190)+"/", 2) + strings.Repeat("x", 190), strings.Repeat("a/", 300) + "b", strings.Repeat("a/", 16) + "b", "a/\xff",
	} {
		if err := checkName(name); err == nil {
			t.Errorf("%q was let through", name)
		}
	}
	for _, name := range []string{"a", "a.b", "..a", "a..", ".hidden", "a/b/c.txt", "日本語/ü", "with space", strings.Repeat("x", 200)} {
		if err := checkName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestInputSizeIsBounded(t *testing.T) {
	l := limits()
	l.InputSize = 10
	if _, _, err := parseArguments([]byte(`{"code":"12345","stdin":"67","files":[{"name":"a","content":"890"}]}`), l); err != nil {
		t.Error(err)
	}
	_, _, err := parseArguments([]byte(`{"code":"12345","stdin":"67","files":[{"name":"a","content":"8901"}]}`), l)
	if err == nil || !strings.Contains(err.Error(), "11 bytes together and the limit is 10") {
		t.Error(err)
	}
}

func TestLabelsArePrintableAndBounded(t *testing.T) {
	for raw, want := range map[string]string{
		"plain":            `"plain"`,
		"日本 x":             `"日本 x"`,
		"a\"b\n\x1b\u202e": `"a\"b\n\x1b\u202e"`,
		"caf\xe9":          `"caf\xe9"`,
		"0123456789abc":    `"0123456789…"`,
	} {
		if got := label(raw, 20); got != want && raw != "0123456789abc" {
			t.Errorf("%q is shown as %s", raw, got)
		}
	}
	if got := label("0123456789abc", 10); got != `"0123456789…"` {
		t.Errorf("cut to %s", got)
	}
}

func FuzzArguments(f *testing.F) {
	f.Add([]byte(`{"code":"1","files":[{"name":"a/b","content":"x"},{"name":"../c","content_base64":"AA=="}]}`))
	f.Add([]byte(`{"code":"\ud83d"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		req, _, err := parseArguments(raw, limits())
		var failure *Failure
		if err != nil {
			if !errors.As(err, &failure) || strings.ContainsAny(failure.Message, "\n\x1b\x00") {
				t.Fatalf("refused with %q", err)
			}
			return
		}
		if req.Limits.Timeout <= 0 || req.Limits.Timeout > limits().Timeout || req.size() > limits().InputSize {
			t.Fatalf("widened to %+v", req.Limits)
		}
		seen := names{}
		for _, file := range req.Files {
			if checkName(file.Name) != nil || seen.add(file.Name) != nil {
				t.Fatalf("file %q", file.Name)
			}
		}
	})
}
