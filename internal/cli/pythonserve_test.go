package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"testing"

	"sallyport.dev/sallyport/internal/doctor"
	"sallyport.dev/sallyport/internal/python"
)

// echo is an engine that prints the code that it was given.
type echo struct {
	limits chan python.Limits
	closed bool
}

func (e *echo) Describe() python.Capabilities {
	return python.Capabilities{Engine: "echo", Python: "3", Ready: true, Limits: python.DefaultLimits()}
}

func (e *echo) Run(_ context.Context, r python.Request) (python.Outcome, error) {
	e.limits <- r.Limits
	zero := 0
	return python.Outcome{ExitCode: &zero, Stdout: python.Stream{Text: r.Code, Bytes: int64(len(r.Code))}}, nil
}

func (e *echo) Close() error { e.closed = true; return nil }

// echoKit offers that engine; there is nothing to prepare.
type echoKit struct {
	engine   *echo
	settings Settings
}

func (k *echoKit) Name() string { return "echo" }
func (k *echoKit) Open(_ context.Context, s Settings, _ *slog.Logger) (python.Engine, error) {
	k.settings = s
	return k.engine, nil
}
func (k *echoKit) Prepare(_ context.Context, w Preparation, progress Progress) (Prepared, error) {
	progress("fetching", 5, 10)
	return Prepared{Engine: "echo", Cache: w.Cache, Image: w.Image, Already: true}, nil
}
func (k *echoKit) Check(context.Context, Preparation, Progress) (Prepared, error) {
	return Prepared{Checked: true}, nil
}
func (k *echoKit) Export(_ context.Context, _ Preparation, w io.Writer) error {
	_, err := io.WriteString(w, "parts")
	return err
}
func (k *echoKit) Examine(context.Context, string) doctor.Engine {
	return doctor.Engine{Name: "echo", Ready: true}
}

func echoing() (*Program, *echoKit) {
	p, _, _ := quiet()
	k := &echoKit{engine: &echo{limits: make(chan python.Limits, 8)}}
	p.Engines = []Kit{k}
	return p, k
}

func TestServeStdio(t *testing.T) {
	p, k := echoing()
	in, client := io.Pipe()
	answers, out := io.Pipe()
	p.In, p.Out = in, out
	code := make(chan int, 1)
	go func() {
		code <- p.Run(context.Background(), strings.Fields("python --timeout 3s --output-chars 100 --cache /c"))
		out.Close()
	}()
	lines := bufio.NewScanner(answers)
	ask := func(line string) map[string]any {
		t.Helper()
		if _, err := io.WriteString(client, line+"\n"); err != nil {
			t.Fatal(err)
		}
		if !lines.Scan() {
			t.Fatal("no answer")
		}
		var m map[string]any
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			t.Fatalf("%v: %s", err, lines.Text())
		}
		return m
	}
	hello := ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`)
	if info := hello["result"].(map[string]any)["serverInfo"].(map[string]any); info["name"] != "sallyport" {
		t.Errorf("server info %v", info)
	}
	if _, err := io.WriteString(client, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	called := ask(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run_python","arguments":{"code":"hello"}}}`)
	content := called["result"].(map[string]any)["structuredContent"].(map[string]any)
	if content["stdout"] != "hello" || content["exit_code"] != 0.0 {
		t.Errorf("structured content %v", content)
	}
	if l := <-k.engine.limits; l.Timeout.Seconds() != 3 || l.OutputChars != 100 {
		t.Errorf("the flags did not reach the engine: %+v", l)
	}
	if k.settings.Cache != "/c" || k.settings.Queue != 32 {
		t.Errorf("settings %+v", k.settings)
	}
	client.Close()
	if c := <-code; c != 0 {
		t.Errorf("exit code %d after the end of input, want 0", c)
	}
	if !k.engine.closed {
		t.Error("the engine was not closed")
	}
}

func TestOpenAddressNeedsAToken(t *testing.T) {
	p, _ := echoing()
	if code := p.Run(context.Background(), strings.Fields("python --http 0.0.0.0:0")); code != 2 {
		t.Errorf("exit code %d, want 2: an open address was served without a token", code)
	}
}
