package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sallyport.dev/sallyport/internal/artifact"
	"sallyport.dev/sallyport/internal/confine"
	"sallyport.dev/sallyport/internal/fault"
)

func TestSetupErrorsAreSorted(t *testing.T) {
	for err, want := range map[error]fault.Kind{
		artifact.ErrUnsafe:     fault.Usage,
		artifact.ErrNoPip:      fault.NotPrepared,
		artifact.ErrOffline:    fault.NotPrepared,
		artifact.ErrMismatch:   fault.Corrupt,
		artifact.ErrArchive:    fault.Corrupt,
		artifact.ErrNoSpace:    fault.Unsupported,
		artifact.ErrImpure:     fault.Usage,
		syscall.ENOSPC:         fault.Unsupported,
		context.Canceled:       fault.Cancelled,
		&confine.Unavailable{}: fault.Unsupported,
		fmt.Errorf("odd"):      fault.Internal,
	} {
		if got := fault.KindOf(setupError(fmt.Errorf("fetching: %w", err))); got != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
	if setupError(nil) != nil {
		t.Error("no error became one")
	}
}

func TestSetupErrorsSayWhatToDo(t *testing.T) {
	if hint := fault.HintOf(setupError(fmt.Errorf("storing: %w", syscall.ENOSPC))); !strings.Contains(hint, "free 3 GB") {
		t.Errorf("a full disk has the hint %q", hint)
	}
	stopped := setupError(fmt.Errorf("compiling template.wasm: %w: %s", context.Canceled, ""))
	if text := stopped.Error(); text != "compiling template.wasm: context canceled" {
		t.Errorf("after Ctrl-C: %q", text)
	}
}

func TestWhatCannotBeUsedIsAUsageError(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]Preparation{
		"a file as cache":         {Cache: file},
		"a cache below a file":    {Cache: filepath.Join(file, "cache")},
		"no such wasmtime":        {Cache: filepath.Join(dir, "cache"), Wasmtime: filepath.Join(dir, "none")},
		"wasmtime is no program":  {Cache: filepath.Join(dir, "cache"), Wasmtime: file},
		"wasmtime is a directory": {Cache: filepath.Join(dir, "cache"), Wasmtime: dir},
	} {
		if err := usable(t.Context(), want); fault.KindOf(err) != fault.Usage || fault.HintOf(err) == "" {
			t.Errorf("%s: %v, %s", name, err, fault.KindOf(err))
		}
	}
	if err := usable(t.Context(), Preparation{Cache: filepath.Join(dir, "cache")}); err != nil {
		t.Errorf("a good cache: %v", err)
	}
}
