package wasm

import (
	"testing"

	"sallyport.dev/sallyport/internal/python"
	"sallyport.dev/sallyport/internal/python/enginetest"
)

func openEngine(t testing.TB, change func(*Config)) *Engine {
	t.Helper()
	c := Config{Cache: preparedCache(t)}
	if change != nil {
		change(&c)
	}
	e := New(c)
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Errorf("closing engine: %v", err)
		}
	})
	return e
}

func TestEngine(t *testing.T) {
	// One for all cases: to open an engine is to hash half a gigabyte.
	e := openEngine(t, nil)
	enginetest.Run(t, enginetest.Traits{
		Hidden: []string{preparedCache(t), "wasmtime", "wasm backtrace"},
	}, func(*testing.T) python.Engine { return e })
}
