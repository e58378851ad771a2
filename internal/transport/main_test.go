package transport

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// serveVariable turns the test program into a server on stdio, for clients that start one.
const serveVariable = "SALLYPORT_TEST_SERVE_STDIO"

func TestMain(m *testing.M) {
	if os.Getenv(serveVariable) == "" {
		os.Exit(m.Run())
	}
	if err := ServeStdio(context.Background(), newTestServer().Server, os.Stdin, os.Stdout, StdioOptions{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
