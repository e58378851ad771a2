package cli

import (
	"os"
	"path/filepath"

	"sallyport.dev/sallyport/internal/fault"
)

// An environment is what the program was started with. It is read here, and only here, so that one
// file answers what the program takes from its surroundings.
type environment struct {
	lookup func(string) (string, bool)
	cache  func() (string, error) // the user's cache folder
}

func processEnvironment() environment {
	return environment{lookup: os.LookupEnv, cache: os.UserCacheDir}
}

// cacheVariable names the folder that setup fills and runs read from.
const cacheVariable = "SALLYPORT_CACHE"

// cacheDir is the folder given by flag, or by the environment, or the usual one of this system.
func (e environment) cacheDir(flag string) (string, error) {
	dir := flag
	if dir == "" {
		dir, _ = e.lookup(cacheVariable)
	}
	if dir == "" {
		usual, err := e.cache()
		if err != nil {
			return "", fault.New(fault.Usage, "name a folder with --cache or "+cacheVariable, "finding the cache folder: %w", err)
		}
		dir = filepath.Join(usual, "sallyport")
	}
	// Absolute, since the program changes its surroundings before it opens the cache.
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fault.New(fault.Usage, "name an absolute folder with --cache", "resolving the cache folder: %w", err)
	}
	return abs, nil
}
