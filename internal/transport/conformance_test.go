package transport

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// runSuite calls testdata/conformance/run.sh, which installs programs of others.
func runSuite(t *testing.T, args ...string) {
	t.Helper()
	switch {
	case os.Getenv("SALLYPORT_CONFORMANCE") == "":
		t.Skip("set SALLYPORT_CONFORMANCE=1 to install the public suites from npm and run them")
	case runtime.GOOS != "linux" || runtime.GOARCH != "amd64":
		t.Skip("the suites' Node is packaged for Linux on amd64 only")
	}
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm is not installed")
	}
	script, err := filepath.Abs("../../testdata/conformance/run.sh")
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), script, args...)
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v: %v\n%s", args, err, output)
	} else {
		t.Logf("%s", output)
	}
}

func TestConformanceSuite(t *testing.T) {
	e := startHTTP(t, HTTPOptions{})
	runSuite(t, "suite", "http://"+e.address+"/mcp")
}

func TestInspectorOverHTTP(t *testing.T) {
	e := startHTTP(t, HTTPOptions{})
	runSuite(t, "inspect-http", "http://"+e.address+"/mcp")
}

func TestInspectorOverStdio(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	runSuite(t, "inspect-stdio", "--", "env", serveVariable+"=1", self)
}
