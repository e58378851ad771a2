package wasm

import (
	"context"
	"fmt"
	"os"

	"sallyport.dev/sallyport/internal/artifact"
	"sallyport.dev/sallyport/internal/confine"
	"sallyport.dev/sallyport/internal/python"
	"sallyport.dev/sallyport/internal/python/wasm/advisory"
)

// A State says what is prepared and whether it can run here.
type State struct {
	Ready    bool
	Why      string // why not, and what to do
	Python   string
	Runtime  string
	Belt     string
	Images   []ImageState
	Findings []advisory.Finding // public advisories about the runtime
}

// An ImageState is one prepared image.
type ImageState struct {
	Name     string
	Bytes    int64
	Packages int
	Why      string // why it cannot be used; "" when it can
}

// Examine opens the default image as a server would, and reads the records of the others. It
// changes nothing.
func Examine(ctx context.Context, cache string) State {
	var s State
	if _, err := os.Lstat(cache); err != nil {
		s.Why = "nothing is prepared: run `sallyport setup`"
		return s
	}
	for _, name := range imageNames(cache) {
		s.Images = append(s.Images, examineImage(cache, name))
	}
	loaded, err := open(ctx, Config{Cache: cache, Image: DefaultImage}, python.DefaultLimits())
	if m, readErr := readManifest(cache, DefaultImage); readErr == nil {
		s.Python, s.Runtime = m.Python, "wasmtime "+m.Runtime
		s.Findings = findings(m.Runtime, confine.Probe(ctx, ""))
	}
	if err != nil {
		s.Why = err.Error()
		return s
	}
	defer loaded.close()
	s.Ready, s.Belt = true, loaded.belt.Report().Summary()
	return s
}

func findings(version string, report confine.Report) []advisory.Finding {
	table, err := advisory.Load()
	if err != nil {
		return nil
	}
	list, err := table.Check(version, advisoryHost(report))
	if err != nil {
		return nil
	}
	return list
}

func examineImage(cache, name string) ImageState {
	i := ImageState{Name: name}
	m, err := readManifest(cache, name)
	if err != nil {
		i.Why = err.Error()
		return i
	}
	i.Bytes, i.Packages = m.Size, len(m.Packages)
	store, err := artifact.Open(cache)
	if err != nil {
		i.Why = err.Error()
		return i
	}
	defer store.Close()
	switch {
	case !store.Has(m.Native, m.Size):
		i.Why = "its file is missing or cut off: run `sallyport setup`"
	case m.CPU != processor():
		i.Why = fmt.Sprintf("it was compiled for processor %s: run `sallyport setup`", m.CPU)
	}
	return i
}
