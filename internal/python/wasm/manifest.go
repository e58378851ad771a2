package wasm

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"sallyport.dev/sallyport/internal/artifact"
	"sallyport.dev/sallyport/internal/python"
	"sallyport.dev/sallyport/internal/python/wasm/guest"
)

// format changes whenever images of older builds must not be used any more.
const format = 1

// A manifest records an image that was built and tried. It is written last.
type manifest struct {
	Format   int              `json:"format"`
	Key      string           `json:"key"` // what it was built from, see [recipe]
	Python   string           `json:"python"`
	Runtime  string           `json:"runtime"` // version of wasmtime
	Program  artifact.Digest  `json:"program"` // the wasmtime that compiled it
	CPU      string           `json:"cpu"`     // the processor that it was compiled for
	Native   artifact.Digest  `json:"native"`  // machine code and memory image
	Size     int64            `json:"size"`    // of Native, bytes
	Memory   int64            `json:"memory"`  // of the interpreter at the start, bytes
	Packages []python.Package `json:"packages"`
	Preload  []string         `json:"preload"`
	PyPI     []string         `json:"pypi"`
}

// A recipe is all that an image depends on.
type recipe struct {
	Format  int
	Module  artifact.Digest
	Library artifact.Digest
	Program artifact.Digest
	Runtime string
	CPU     string
	Preload []string
	Wheels  []artifact.Digest
	Guest   string // of our own Python, and of the patches
	Options []string
}

func (r recipe) key() (string, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("naming image: %w", err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16]), nil
}

// guestDigest names the Python that goes into an image, and the numpy corrections with it.
func guestDigest(numpy string) (string, error) {
	sources, err := guest.Sources()
	if err != nil {
		return "", fmt.Errorf("reading guest sources: %w", err)
	}
	h := sha256.New()
	var names []string
	for name := range sources {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(h, "%s %d\n", name, len(sources[name]))
		h.Write(sources[name])
	}
	h.Write([]byte(numpy))
	return hex.EncodeToString(h.Sum(nil)), nil
}

const manifestFolder = "images"

// readManifest returns fs.ErrNotExist when setup has not made the image.
func readManifest(cache, name string) (manifest, error) {
	var m manifest
	path := filepath.Join(cache, manifestFolder, name+".json")
	st, err := os.Lstat(path)
	if err != nil {
		return m, err
	}
	if folder, err := os.Lstat(filepath.Dir(path)); err != nil || !folder.IsDir() || openToOthers(folder) || openToOthers(st) {
		return m, fmt.Errorf("reading image %s: others could change what lies in %s; take their right to write away, or remove it and run `sallyport setup`", name, filepath.Dir(path))
	}
	if !st.Mode().IsRegular() || st.Size() > 1<<20 {
		return m, fmt.Errorf("reading image %s: %s is not a manifest; run `sallyport setup`", name, path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return m, fmt.Errorf("reading image %s: %w", name, err)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("reading image %s: the manifest is damaged (%w); run `sallyport setup`", name, err)
	}
	if m.Format != format {
		return m, fmt.Errorf("reading image %s: it was made by another version of sallyport; run `sallyport setup`", name)
	}
	return m, nil
}

// writeManifest publishes an image: it appears whole or not at all.
func writeManifest(cache, name string, m manifest) error {
	data, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return fmt.Errorf("recording image: %w", err)
	}
	if err := writeWhole(filepath.Join(cache, manifestFolder, name+".json"), append(data, '\n')); err != nil {
		return fmt.Errorf("recording image: %w", err)
	}
	return nil
}

// writeWhole replaces a file in one step, after its content is on disk.
func writeWhole(name string, data []byte) error {
	folder := filepath.Dir(name)
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	f, err := os.CreateTemp(folder, ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// openToOthers says whether anybody but the owner may write. A manifest says which native code
// runs, so it is held to the rules of the store.
func openToOthers(st fs.FileInfo) bool {
	return runtime.GOOS != "windows" && st.Mode().Perm()&0o022 != 0
}

// imageNames lists what setup has made.
func imageNames(cache string) []string {
	paths, err := filepath.Glob(filepath.Join(cache, manifestFolder, "*.json"))
	if err != nil {
		return nil
	}
	var names []string
	for _, p := range paths {
		base := filepath.Base(p)
		names = append(names, base[:len(base)-len(".json")])
	}
	return names
}
