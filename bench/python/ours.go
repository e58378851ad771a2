package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An ours is Sallyport as a client uses it: the server stays, and each call is a process of its own
// inside the belt.
type ours struct {
	name    string
	server  *exec.Cmd
	session *mcp.ClientSession
	stop    func() error
}

func serverCommand(ctx context.Context, o options, flags ...string) (*exec.Cmd, error) {
	if _, err := os.Stat(o.sallyport); err != nil {
		return nil, &missing{"the program is not there: give -sallyport"}
	}
	args := append([]string{"python"}, flags...)
	if o.cache != "" {
		args = append(args, "--cache", o.cache)
	}
	cmd := exec.CommandContext(ctx, o.sallyport, args...)
	cmd.Env = clean(os.Environ())
	return cmd, nil
}

func openStdio(ctx context.Context, progress io.Writer, o options) (rival, []version, error) {
	cmd, err := serverCommand(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	cmd.Stderr = progress
	client := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("connecting: %w", err)
	}
	return (&ours{name: "stdio", server: cmd, session: session, stop: session.Close}).ready(ctx)
}

func openHTTP(ctx context.Context, progress io.Writer, o options) (rival, []version, error) {
	cmd, err := serverCommand(ctx, o, "--http", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	said := &announcement{pass: progress, address: make(chan string, 1)}
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	end := func() error {
		// The server ends by itself when it is asked; that it does so cleanly is part of the run.
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			return errors.Join(err, cmd.Process.Kill(), cmd.Wait()) // Windows has no such signal
		}
		return cmd.Wait()
	}
	var endpoint string
	select {
	case endpoint = <-said.address:
	case <-ctx.Done():
		return nil, nil, errors.Join(ctx.Err(), end())
	case <-time.After(time.Minute):
		return nil, nil, errors.Join(errors.New("the server named no address"), end())
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: endpoint, DisableStandaloneSSE: true}, nil)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("connecting: %w", err), end())
	}
	u := &ours{name: "http", server: cmd, session: session, stop: func() error { return errors.Join(session.Close(), end()) }}
	return u.ready(ctx)
}

// An announcement passes on what a server says and picks the address out of it.
type announcement struct {
	pass    io.Writer
	line    []byte
	address chan string
}

func (a *announcement) Write(p []byte) (int, error) {
	a.line = append(a.line, p...)
	for {
		line, rest, whole := bytes.Cut(a.line, []byte("\n"))
		if !whole {
			break
		}
		if _, at, ok := strings.Cut(string(line), "serving "); ok {
			select {
			case a.address <- strings.TrimSpace(at):
			default: // it was named before
			}
		}
		a.line = rest
	}
	return a.pass.Write(p)
}

// ready makes the first call, which waits until the server has verified its image, and takes the
// versions from inside.
func (u *ours) ready(ctx context.Context) (rival, []version, error) {
	out, err := u.Call(ctx, script{code: `import sys, numpy, pandas, matplotlib
print("python", sys.version.split()[0])
for m in numpy, pandas, matplotlib: print(m.__name__, m.__version__)
`})
	if err != nil {
		return nil, nil, errors.Join(err, u.Close())
	}
	versions := []version{{u.name, "sallyport", u.session.InitializeResult().ServerInfo.Version}}
	for line := range strings.Lines(out) {
		part, v, _ := strings.Cut(strings.TrimSpace(line), " ")
		versions = append(versions, version{u.name, part, v})
	}
	return u, versions, nil
}

func (u *ours) Name() string    { return u.name }
func (u *ours) Can(script) bool { return true }

// An answer is the part of the structured result that is used.
type answer struct {
	Stdout     string `json:"stdout"`
	Stderr     string `json:"stderr"`
	ExitCode   *int   `json:"exit_code"`
	DurationMS int64  `json:"duration_ms"` // of the process, as the server timed it
	Error      *struct {
		Message string `json:"message"`
	} `json:"error"`
}

func (u *ours) Call(ctx context.Context, s script) (string, error) {
	a, err := u.ask(ctx, s)
	return a.Stdout, err
}

func (u *ours) ask(ctx context.Context, s script) (answer, error) {
	result, err := u.session.CallTool(ctx, &mcp.CallToolParams{Name: "run_python", Arguments: map[string]any{"code": s.code}})
	if err != nil {
		return answer{}, err
	}
	raw, err := json.Marshal(result.StructuredContent)
	if err != nil {
		return answer{}, err
	}
	var a answer
	if err := json.Unmarshal(raw, &a); err != nil {
		return a, err
	}
	switch {
	case a.Error != nil:
		return a, errors.New(a.Error.Message)
	case a.ExitCode == nil || *a.ExitCode != 0:
		return a, fmt.Errorf("the script failed: %s", tail(a.Stderr))
	case s.writes != "" && !brings(result, s.writes):
		return a, fmt.Errorf("%s did not come back", s.writes)
	}
	return a, nil
}

// brings tells whether the file is in the result, as bytes.
func brings(result *mcp.CallToolResult, name string) bool {
	for _, c := range result.Content {
		switch c := c.(type) {
		case *mcp.ImageContent:
			if path.Ext(name) == ".png" && len(c.Data) > 0 {
				return true
			}
		case *mcp.EmbeddedResource:
			if c.Resource != nil && path.Base(c.Resource.URI) == name && len(c.Resource.Blob)+len(c.Resource.Text) > 0 {
				return true
			}
		}
	}
	return false
}

func (u *ours) Spent() (time.Duration, bool) { return treeTime(u.server.Process.Pid) }
func (u *ours) Processes() []int             { return []int{u.server.Process.Pid} }
func (u *ours) Close() error                 { return u.stop() }
