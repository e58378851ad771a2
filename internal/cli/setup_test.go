package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func settingUp(k Kit, args ...string) (code int, out, errs string) {
	p, _, _ := quiet()
	var stdout, stderr bytes.Buffer
	p.Out, p.Err, p.Engines = &stdout, &stderr, []Kit{k}
	code = p.Run(context.Background(), append([]string{"setup", "--cache", "/c"}, args...))
	return code, stdout.String(), stderr.String()
}

func TestSetupTalksOnStderrAndAnswersOnStdout(t *testing.T) {
	code, out, errs := settingUp(&echoKit{})
	if code != 0 || !strings.Contains(out, "engine echo already prepared") || !strings.Contains(errs, "setup: fetching 50%") {
		t.Errorf("code %d\nstdout %s\nstderr %s", code, out, errs)
	}
	if code, _, errs := settingUp(&echoKit{}, "--quiet"); code != 0 || errs != "" {
		t.Errorf("--quiet: code %d, stderr %q", code, errs)
	}
	code, out, _ = settingUp(&echoKit{}, "--json", "--image", "second")
	var done Prepared
	if err := json.Unmarshal([]byte(out), &done); err != nil || code != 0 || !done.Already || done.Image != "second" || done.Cache != "/c" {
		t.Errorf("code %d, %v: %s", code, err, out)
	}
	if code, out, _ := settingUp(&echoKit{}, "--check"); code != 0 || !strings.Contains(out, "checked") {
		t.Errorf("--check: code %d, stdout %s", code, out)
	}
}

// halfway fails in the middle of an export.
type halfway struct{ echoKit }

func (*halfway) Export(_ context.Context, _ Preparation, w io.Writer) error {
	if _, err := io.WriteString(w, "half"); err != nil {
		return err
	}
	return errors.New("the disk went away")
}

func TestExportIsWholeOrNothing(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "parts.tar")
	if code, out, errs := settingUp(&echoKit{}, "--export", target); code != 0 || !strings.Contains(out, "exported "+target+", 1 MiB") {
		t.Fatalf("code %d: %s%s", code, out, errs)
	}
	code, out, _ := settingUp(&echoKit{}, "--export", target, "--json")
	var done Exported
	if err := json.Unmarshal([]byte(out), &done); err != nil || code != 0 || done.File != target || done.Bytes != int64(len("parts")) {
		t.Errorf("code %d, %v: %s", code, err, out)
	}
	if raw, err := os.ReadFile(target); err != nil || string(raw) != "parts" {
		t.Errorf("%q, %v", raw, err)
	}
	// A second export that breaks leaves the first as it was, and nothing beside it.
	if code, _, errs := settingUp(&halfway{}, "--export", target); code != 1 || !strings.Contains(errs, "the disk went away") {
		t.Errorf("code %d: %s", code, errs)
	}
	if raw, err := os.ReadFile(target); err != nil || string(raw) != "parts" {
		t.Errorf("after a broken export: %q, %v", raw, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v, %v; a broken export left something behind", left, err)
	}
	if code, _, _ := settingUp(&echoKit{}, "--export", filepath.Join(dir, "no", "such", "folder")); code != 2 {
		t.Errorf("code %d, want 2 for a folder that is not there", code)
	}
}
