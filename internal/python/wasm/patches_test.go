package wasm

import (
	"io"
	"testing"

	"sallyport.dev/sallyport/internal/artifact"
	"sallyport.dev/sallyport/internal/python/wasm/image"
	"sallyport.dev/sallyport/internal/python/wasm/module"
	"sallyport.dev/sallyport/internal/python/wasm/patch"
)

// The patches were written for the pinned module. A new pin that they do not fit fails here, and
// in setup, never in a call.
func TestPatchesFitThePinnedModule(t *testing.T) {
	store, err := artifact.Open(preparedCache(t))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	lock, err := artifact.Pinned()
	if err != nil {
		t.Fatal(err)
	}
	item, err := lock.Find(artifact.Interpreter, artifact.ThisHost())
	if err != nil {
		t.Fatal(err)
	}
	member, ok := item.Member("python-snapshot.wasm")
	if !ok {
		t.Fatal("the lock names no interpreter")
	}
	f, err := store.OpenVerified(member.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	m, err := module.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	initial, err := m.Data()
	if err != nil {
		t.Fatal(err)
	}
	pages, _, err := m.Memory()
	if err != nil {
		t.Fatal(err)
	}
	if err := patch.Apply(m); err != nil {
		t.Error(err)
	}
	if _, err := image.Initial(initial, pages, imageSize); err != nil {
		t.Error(err)
	}
	// A second time they must all refuse: nothing is as it was any more.
	if err := patch.Apply(m); err == nil {
		t.Error("patches were applied twice")
	}
}
