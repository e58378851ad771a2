package wasm

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sallyport.dev/sallyport/internal/artifact"
	"sallyport.dev/sallyport/internal/python"
)

// An image is native code for one processor, one runtime and one build of ours. Whatever does not fit
// is refused with the command that helps, and never started.

// someDigest is well formed, and nothing has it.
const someDigest = artifact.Digest("0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a")

func record(t *testing.T, cache, name, text string) {
	t.Helper()
	folder := filepath.Join(cache, manifestFolder)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func privateFolder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "cache")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestRecordsThatAreNotOurs(t *testing.T) {
	cache := privateFolder(t)
	for name, text := range map[string]string{
		"half":   `{"format":1,"key":"ab`,
		"empty":  "",
		"future": `{"format":999}`,
		"past":   `{"format":0}`,
		"huge":   strings.Repeat(" ", 2<<20),
	} {
		record(t, cache, name, text)
		if _, err := readManifest(cache, name); err == nil || !strings.Contains(err.Error(), "sallyport setup") {
			t.Errorf("%s: %v, want a refusal that names the command", name, err)
		}
	}
	if err := os.Symlink(filepath.Join(cache, manifestFolder, "future.json"), filepath.Join(cache, manifestFolder, "link.json")); err == nil {
		if _, err := readManifest(cache, "link"); err == nil {
			t.Error("a link was read as a record")
		}
	}
	if _, err := readManifest(cache, "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a record that is not there: %v", err)
	}
}

func TestImageOfAnotherProcessorIsRefused(t *testing.T) {
	cache := privateFolder(t)
	m := manifest{Format: format, CPU: "a processor with more features", Runtime: "49.0.4", Program: someDigest, Native: someDigest}
	if err := writeManifest(cache, DefaultImage, m); err != nil {
		t.Fatal(err)
	}
	_, err := open(t.Context(), Config{Cache: cache, Image: DefaultImage}, python.DefaultLimits())
	if err == nil || !strings.Contains(err.Error(), "processor") || !strings.Contains(err.Error(), "sallyport setup") {
		t.Errorf("%v, want a refusal that names processor and command", err)
	}
	if i := examineImage(cache, DefaultImage); i.Why == "" {
		t.Error("doctor calls the image usable")
	}
}

func TestImageWhoseFileIsGoneIsRefused(t *testing.T) {
	cache := privateFolder(t)
	m := manifest{Format: format, CPU: processor(), Runtime: "49.0.4", Size: 7, Program: someDigest, Native: someDigest}
	if err := writeManifest(cache, DefaultImage, m); err != nil {
		t.Fatal(err)
	}
	e := New(Config{Cache: cache})
	defer e.Close()
	_, err := e.Run(t.Context(), python.Request{Code: "print(1)"})
	var f *python.Failure
	if !errors.As(err, &f) || f.Kind != python.NotPrepared || strings.Contains(f.Message, cache) {
		t.Errorf("%v, want not prepared, without a path of the host", err)
	}
}

// Everything that an image depends on must change its key, or an old image would be taken for a new one.
func TestKeyDependsOnEveryPart(t *testing.T) {
	key := func(change func(*recipe)) string {
		r := recipe{Format: 1, Runtime: "49.0.4", CPU: "x", Preload: []string{"numpy"}, Guest: "g", Options: []string{"o"}}
		change(&r)
		k, err := r.key()
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	base := key(func(*recipe) {})
	for name, change := range map[string]func(*recipe){
		"format":  func(r *recipe) { r.Format++ },
		"module":  func(r *recipe) { r.Module = "m" },
		"library": func(r *recipe) { r.Library = "l" },
		"program": func(r *recipe) { r.Program = "p" },
		"runtime": func(r *recipe) { r.Runtime = "48.0.0" },
		"cpu":     func(r *recipe) { r.CPU = "y" },
		"preload": func(r *recipe) { r.Preload = append(r.Preload, "pandas") },
		"guest":   func(r *recipe) { r.Guest = "h" },
		"options": func(r *recipe) { r.Options = nil },
	} {
		if key(change) == base {
			t.Errorf("%s does not change the key", name)
		}
	}
}
