package patch

import "sallyport.dev/sallyport/internal/python/wasm/module"

// Apply changes the module in place. It fails, and the module must not be used, when a function
// is not the one that a patch was written for.
func Apply(m *module.Module) error {
	for _, apply := range []func(*module.Module) error{locks, modes, recursion, openFiles, numpy} {
		if err := apply(m); err != nil {
			return err
		}
	}
	return nil
}
