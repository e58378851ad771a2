package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"sallyport.dev/sallyport/internal/cli"
)

// The test binary is the program: the scripts start it under the name sallyport.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"sallyport": func() { os.Exit(cli.Main()) },
	})
}

// preparedVariable names a cache that setup has filled, for the scripts that run Python. Without it
// they are skipped, so that a plain go test needs nothing.
const preparedVariable = "SALLYPORT_TEST_CACHE"

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "../../testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			// Each script has a home of its own; no script may see the cache of whoever runs the tests.
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("SALLYPORT_CACHE", env.WorkDir+"/cache")
			env.Setenv("PREPARED", os.Getenv(preparedVariable))
			return nil
		},
		Condition: func(condition string) (bool, error) {
			if condition != "prepared" {
				return false, fmt.Errorf("unknown condition %q", condition)
			}
			return os.Getenv(preparedVariable) != "", nil
		},
	})
}
