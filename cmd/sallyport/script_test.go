package main

import (
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

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "../../testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			// Each script has a home of its own; no script may see the cache of whoever runs the tests.
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("SALLYPORT_CACHE", env.WorkDir+"/cache")
			return nil
		},
	})
}
