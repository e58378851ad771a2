package wasm

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"sallyport.dev/sallyport/internal/artifact"
)

var digest = regexp.MustCompile(`\b[0-9a-f]{64}\b`)

// sweep removes files of the store that nothing names any more: images that were replaced, with
// the runtimes and templates that they were made with. It is called with the lock of setup held.
// A server that still runs from such a file keeps it open, and is not disturbed.
//
// Whatever looks like a digest in a record counts as a name, so that a record of a later version
// of this program keeps its files as well.
func (b *build) sweep() {
	have, err := b.store.List()
	if err != nil {
		b.warnings = append(b.warnings, fmt.Sprintf("old images stay in the cache: %v", err))
		return
	}
	named, err := b.named()
	if err != nil {
		b.warnings = append(b.warnings, fmt.Sprintf("old images stay in the cache: %v", err))
		return
	}
	for d := range have {
		if named[d] {
			continue
		}
		if err := b.store.Remove(d); err != nil {
			b.warnings = append(b.warnings, fmt.Sprintf("an old file stays in the cache: %v", err))
		}
	}
}

// named are the digests that records in the cache and the lock of this program name.
func (b *build) named() (map[artifact.Digest]bool, error) {
	named := map[artifact.Digest]bool{}
	records, err := filepath.Glob(filepath.Join(b.Cache, manifestFolder, "*"))
	if err != nil {
		return nil, err
	}
	more, err := filepath.Glob(filepath.Join(b.Cache, "*.json"))
	if err != nil {
		return nil, err
	}
	for _, r := range append(records, more...) {
		data, err := os.ReadFile(r)
		if err != nil {
			return nil, err
		}
		for _, d := range digest.FindAllString(string(data), -1) {
			named[artifact.Digest(d)] = true
		}
	}
	lock, err := artifact.Pinned()
	if err != nil {
		return nil, err
	}
	for _, item := range lock.Items {
		for _, m := range item.Members {
			named[m.SHA256] = true
		}
	}
	named[b.program.Digest] = true
	for _, w := range b.wheels {
		named[w.Archive] = true
	}
	return named, nil
}
