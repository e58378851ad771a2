package wasm

import (
	"errors"

	"sallyport.dev/sallyport/internal/confine"
	"sallyport.dev/sallyport/internal/python"
	"sallyport.dev/sallyport/internal/python/wasm/patch"
)

// notes are what a script's author must know of this engine, beyond its limits.
var notes = []string{
	"Python runs as WebAssembly: no threads, no subprocess, no multiprocessing, no sockets; joblib runs with one worker. CPU-bound pure Python takes about 3 times as long as usual.",
	"Only the packages listed here can be imported; nothing can be installed.",
	patch.NumpyNote,
	"hash() of str is the same in every call (a fixed hash seed); random, numpy.random, uuid and secrets are fresh.",
	"The time zone is UTC. There is no JPEG or WebP; PNG, SVG and PDF work. numpy does not warn about division by zero or overflow of floats; it gives inf and nan.",
}

// Describe implements [python.Engine]. It never waits for the image.
func (e *Engine) Describe() python.Capabilities {
	c := python.Capabilities{Engine: Name, Packages: bundledPackages(), Limits: e.limits, Notes: notes}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.state == nil {
		c.NotReady = "run `sallyport setup`"
		var missing *confine.Unavailable
		if errors.As(e.why, &missing) {
			c.NotReady = missing.Error()
		}
		// While the image is being verified it counts as ready: the call waits for that.
		m, err := readManifest(e.config.Cache, e.config.Image)
		if e.why == nil && err == nil {
			c.Ready, c.NotReady, c.Python, c.Packages = true, "", m.Python, m.Packages
		}
		return c
	}
	m := e.state.manifest
	c.Ready, c.Python, c.Packages, c.Belt = true, m.Python, m.Packages, e.state.belt.Report().Summary()
	return c
}
