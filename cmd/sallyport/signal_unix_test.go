//go:build unix

package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// TestSignalsEndTheServer sends each signal to a server that has answered, and reads its output to the
// end: that comes only when every process that held it is gone, also the second one of an ordinary user.
func TestSignalsEndTheServer(t *testing.T) {
	tests := []struct {
		signal syscall.Signal
		code   int
	}{
		{syscall.SIGTERM, 0},
		{syscall.SIGINT, 0},
		{syscall.SIGKILL, -1}, // the server cannot clean up; what it started dies all the same
	}
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.signal.String(), func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), executable, "python", "--cache", t.TempDir()+"/none")
			cmd.Args[0] = "sallyport" // the name by which TestMain makes this binary the program
			cmd.Stderr = os.Stderr
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`+"\n"); err != nil {
				t.Fatal(err)
			}
			answers := bufio.NewReader(out)
			if _, err := answers.ReadString('\n'); err != nil {
				t.Fatalf("no answer to initialize: %v", err)
			}
			if err := cmd.Process.Signal(tt.signal); err != nil {
				t.Fatal(err)
			}
			if rest, err := io.ReadAll(answers); err != nil || len(rest) > 0 {
				t.Errorf("after the signal came %q, %v", rest, err)
			}
			cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
		})
	}
}
