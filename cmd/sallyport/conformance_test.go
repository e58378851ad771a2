package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"
)

// suite runs a public protocol suite against the real program; see testdata/conformance.
func suite(t *testing.T, args ...string) {
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
	output, err := exec.CommandContext(t.Context(), script, args...).CombinedOutput()
	if err != nil {
		t.Errorf("%v: %v\n%s", args, err, output)
		return
	}
	t.Logf("%s", output)
}

// program builds sallyport as users do.
func program(t *testing.T) string {
	t.Helper()
	if os.Getenv("SALLYPORT_CONFORMANCE") == "" {
		t.Skip("set SALLYPORT_CONFORMANCE=1 to install the public suites from npm and run them")
	}
	path := filepath.Join(t.TempDir(), "sallyport")
	build := exec.Command("go", "build", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, output)
	}
	return path
}

// cacheFlag names the prepared cache, where there is one: the protocol works without it too.
func cacheFlag(t *testing.T) []string {
	if cache := os.Getenv(preparedVariable); cache != "" {
		return []string{"--cache", cache}
	}
	return []string{"--cache", t.TempDir()}
}

func TestConformanceOfTheServer(t *testing.T) {
	server := exec.CommandContext(t.Context(), program(t), append([]string{"python", "--http", "127.0.0.1:0"}, cacheFlag(t)...)...)
	server.Cancel = func() error { return server.Process.Signal(os.Interrupt) }
	words, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = server.Process.Signal(os.Interrupt)
		if err := server.Wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	}()
	lines := bufio.NewReader(words)
	url := ""
	for url == "" {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("the server did not say where it serves: %v", err)
		}
		url = regexp.MustCompile(`http://\S+/mcp`).FindString(line)
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	suite(t, "suite", url)
	suite(t, "inspect-http", url)
}

func TestInspectorOfTheServer(t *testing.T) {
	suite(t, append([]string{"inspect-stdio", "--", program(t), "python"}, cacheFlag(t)...)...)
}

func TestInspectorCallsTheTool(t *testing.T) {
	if os.Getenv(preparedVariable) == "" {
		t.Skip("no prepared cache: make test makes one and sets " + preparedVariable)
	}
	suite(t, append([]string{"call-stdio", "--", program(t), "python"}, cacheFlag(t)...)...)
}
