// Command demo shows run_python to a person: it starts the server that an MCP client would start, calls
// it through the official SDK's client, and prints what came back and how long each call took.
//
// It knows nothing of Sallyport but the command line and the protocol. It ends with exit code 1 when an
// answer is not what it should be, so it is a test as well.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	program := flag.String("sallyport", "bin/sallyport", "path of the program")
	out := flag.String("out", "demo-output", "folder for the figure")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	failed, err := demo(ctx, os.Stdout, *program, *out)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	case failed > 0:
		os.Exit(1)
	}
}

// demo makes all calls and returns how many answers were wrong.
func demo(ctx context.Context, w io.Writer, program, out string) (failed int, err error) {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return 0, fmt.Errorf("making the folder for the figure: %w", err)
	}
	command := exec.Command(program, "python")
	command.Stderr = os.Stderr
	began := time.Now()
	client := mcp.NewClient(&mcp.Implementation{Name: "demo", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: command}, nil)
	if err != nil {
		return 0, fmt.Errorf("connecting to %s: %w", program, err)
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	fmt.Fprintf(w, "connected to %s python in %s\n", program, milliseconds(began))

	// The first call pays for reading the image from disk; it is shown, not hidden.
	for _, s := range scenes() {
		if err := s.play(ctx, w, session, out); err != nil {
			failed++
			fmt.Fprintf(w, "   WRONG: %v\n", err)
		}
	}
	fmt.Fprintf(w, "\n%d passed, %d failed\n", len(scenes())-failed, failed)
	return failed, nil
}

func milliseconds(since time.Time) string {
	return fmt.Sprintf("%.1f ms", float64(time.Since(since).Microseconds())/1000)
}

// An answer is the part of the structured result that is shown.
type answer struct {
	Status   string  `json:"status"`
	Stdout   string  `json:"stdout"`
	Stderr   string  `json:"stderr"`
	ExitCode *int    `json:"exit_code"`
	TimedOut bool    `json:"timed_out"`
	Result   *string `json:"result"`
	Error    *struct {
		Kind    string `json:"kind"`
		Message string `json:"message"`
	} `json:"error"`

	figures [][]byte
}

func (s scene) play(ctx context.Context, w io.Writer, session *mcp.ClientSession, out string) error {
	fmt.Fprintf(w, "\n== %s\n", s.title)
	for line := range strings.Lines(s.code) {
		fmt.Fprintf(w, "   >>> %s", line)
	}
	fmt.Fprintln(w)
	arguments := map[string]any{"code": s.code}
	if s.seconds > 0 {
		arguments["timeout_seconds"] = s.seconds
	}
	began := time.Now()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "run_python", Arguments: arguments})
	took := milliseconds(began)
	if err != nil {
		return fmt.Errorf("calling run_python: %w", err)
	}
	a, err := read(result)
	if err != nil {
		return err
	}
	a.show(w)
	for i, png := range a.figures {
		name, err := filepath.Abs(filepath.Join(out, fmt.Sprintf("figure-%d.png", i+1)))
		if err != nil {
			return err
		}
		if err := os.WriteFile(name, png, 0o644); err != nil {
			return fmt.Errorf("saving the figure: %w", err)
		}
		fmt.Fprintf(w, "   figure saved: %s\n", name)
	}
	fmt.Fprintf(w, "   took %s\n", took)
	return s.check(a)
}

func read(result *mcp.CallToolResult) (answer, error) {
	var a answer
	raw, err := json.Marshal(result.StructuredContent)
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		return a, fmt.Errorf("reading the structured result: %w", err)
	}
	for _, c := range result.Content {
		if image, ok := c.(*mcp.ImageContent); ok && image.MIMEType == "image/png" {
			a.figures = append(a.figures, image.Data)
		}
	}
	return a, nil
}

func (a answer) show(w io.Writer) {
	print := func(name, text string) {
		for line := range strings.Lines(strings.TrimRight(text, "\n")) {
			fmt.Fprintf(w, "   %s| %s\n", name, strings.TrimRight(line, "\n"))
		}
	}
	print("out", a.Stdout)
	print("err", a.Stderr)
	if a.Result != nil {
		print("val", *a.Result)
	}
	if a.Error != nil {
		print("sandbox", a.Error.Kind+": "+a.Error.Message)
	}
	exit := "none"
	if a.ExitCode != nil {
		exit = fmt.Sprint(*a.ExitCode)
	}
	fmt.Fprintf(w, "   status %s, exit code %s, timed out %v\n", a.Status, exit, a.TimedOut)
}
