package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sallyport.dev/sallyport/internal/python"
)

// canned is an engine with one answer.
type canned struct {
	echoKit
	outcome python.Outcome
	err     error
}

func (k *canned) Open(context.Context, Settings, *slog.Logger) (python.Engine, error) { return k, nil }
func (k *canned) Describe() python.Capabilities {
	return python.Capabilities{Ready: true, Limits: python.DefaultLimits()}
}
func (k *canned) Run(context.Context, python.Request) (python.Outcome, error) {
	return k.outcome, k.err
}
func (k *canned) Close() error { return nil }

func executing(k *canned, args ...string) (code int, out, errs string) {
	p, _, _ := quiet()
	var stdout, stderr bytes.Buffer
	p.In, p.Out, p.Err = strings.NewReader("code"), &stdout, &stderr
	p.Engines = []Kit{k}
	code = p.Run(context.Background(), append([]string{"python", "exec", "-"}, args...))
	return code, stdout.String(), stderr.String()
}

func number(n int) *int { return &n }

func TestExecEndsAsTheScriptDid(t *testing.T) {
	tests := []struct {
		name    string
		outcome python.Outcome
		err     error
		code    int
		out     string
		errs    string
	}{
		{"ok", python.Outcome{ExitCode: number(0), Stdout: python.Stream{Text: "no newline"}}, nil, 0, "no newline", ""},
		{"its own code", python.Outcome{ExitCode: number(200), Stderr: python.Stream{Text: "Traceback"}}, nil, 200, "", "Traceback"},
		{"a code of more than eight bits", python.Outcome{ExitCode: number(-1)}, nil, 255, "", ""},
		{"time-out", python.Outcome{TimedOut: true, Stdout: python.Stream{Text: "half"}}, nil, 124, "half", "time limit"},
		{"last expression", python.Outcome{ExitCode: number(0), Result: &python.Stream{Text: "42"}}, nil, 0, "42\n", ""},
		{"not prepared", python.Outcome{}, &python.Failure{Kind: python.NotPrepared, Message: "nothing there"}, 4, "", "hint: run sallyport setup"},
		{"belt", python.Outcome{}, &python.Failure{Kind: python.Belt, Message: "no seccomp"}, 5, "", "hint: see sallyport doctor"},
		{"crash, after some output", python.Outcome{}, &python.Failure{Kind: python.Crashed, Message: "gone", Partial: &python.Outcome{Stdout: python.Stream{Text: "before"}}}, 1, "before", "gone"},
		{"a cause, which is the operator's to see", python.Outcome{}, &python.Failure{Kind: python.Internal, Message: "a fault", Cause: errors.New("no descriptors \x1b[2J left")}, 1, "", "a fault: no descriptors \uFFFD[2J left"},
		{"files without --save", python.Outcome{ExitCode: number(0), Files: []python.Artifact{{Path: "a", Data: []byte{}}, {Path: "b"}, {Path: "c", Data: []byte("x")}}}, nil, 0, "", "note: 2 files and figures came back and were dropped; --save FOLDER keeps them"},
		{"an error of nobody's", python.Outcome{}, errors.New("odd"), 1, "", "odd"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, out, errs := executing(&canned{outcome: tt.outcome, err: tt.err})
			if code != tt.code || out != tt.out || !strings.Contains(errs, tt.errs) {
				t.Errorf("code %d, stdout %q, stderr %q; want %d, %q, %q", code, out, errs, tt.code, tt.out, tt.errs)
			}
		})
	}
}

func TestExecJSON(t *testing.T) {
	code, out, _ := executing(&canned{outcome: python.Outcome{
		ExitCode: number(3), Stdout: python.Stream{Text: "a\x00<b>", Bytes: 5, Truncated: true},
		Files: []python.Artifact{{Path: "out.csv", MIME: "text/csv", Size: 7, Reason: "too large"}},
	}}, "--json")
	if code != 3 {
		t.Errorf("exit code %d, want 3", code)
	}
	var m map[string]any
	if err := json.Unmarshal([]byte(out), &m); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if m["status"] != "error" || m["stdout"] != "a\x00<b>" || m["exit_code"] != 3.0 || m["stdout_truncated"] != true || m["result"] != nil {
		t.Errorf("%v", m)
	}
	if f := m["files"].([]any)[0].(map[string]any); f["path"] != "out.csv" || f["note"] != "too large" {
		t.Errorf("files %v", f)
	}
}

func TestSaveStaysInItsFolder(t *testing.T) {
	outside, folder := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(folder, "link")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	k := &canned{outcome: python.Outcome{ExitCode: number(0), Files: []python.Artifact{{Path: "sub/a.txt", Data: []byte("a")}, {Path: "left-out.txt"}}}}
	if code, _, errs := executing(k, "--save", folder); code != 0 {
		t.Fatalf("code %d: %s", code, errs)
	} else if strings.Contains(errs, "dropped") {
		t.Errorf("saved files are said to be dropped: %s", errs)
	}
	if raw, err := os.ReadFile(filepath.Join(folder, "sub", "a.txt")); err != nil || string(raw) != "a" {
		t.Errorf("%q, %v", raw, err)
	}
	if _, err := os.Stat(filepath.Join(folder, "left-out.txt")); err == nil {
		t.Error("a file without content was written")
	}
	for _, hostile := range []string{"../evil", "/evil", "link/evil", "sub/../../evil"} {
		k.outcome.Files = []python.Artifact{{Path: hostile, Data: []byte("x")}}
		if code, _, _ := executing(k, "--save", folder); code == 0 {
			t.Errorf("%s was saved", hostile)
		}
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) != 0 {
		t.Errorf("%v, %v was written outside", left, err)
	}
}
