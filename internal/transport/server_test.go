package transport

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// patience bounds every wait of these tests. It decides nothing: only a test that fails waits so
// long.
const patience = 30 * time.Second

// testServer offers a few tools and tells what became of the slow ones.
type testServer struct {
	*sdk.Server
	started   chan string // client name of each slow call that began
	cancelled chan string // and of each that saw its context end
	running   atomic.Int64
}

type echoArgs struct {
	Text   string `json:"text"`
	Repeat int    `json:"repeat,omitempty"`
}

func newTestServer() *testServer {
	s := &testServer{
		Server:    sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ServerOptions{Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}}),
		started:   make(chan string, 1000),
		cancelled: make(chan string, 1000),
	}
	sdk.AddTool(s.Server, &sdk.Tool{Name: "echo", Description: "Repeats a text."}, func(_ context.Context, _ *sdk.CallToolRequest, args echoArgs) (*sdk.CallToolResult, any, error) {
		text := strings.Repeat(args.Text, max(1, args.Repeat))
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil, nil
	})
	sdk.AddTool(s.Server, &sdk.Tool{Name: "client", Description: "Names the client."}, func(ctx context.Context, _ *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: Client(ctx)}}}, nil, nil
	})
	sdk.AddTool(s.Server, &sdk.Tool{Name: "slow", Description: "Runs until it is cancelled."}, func(ctx context.Context, _ *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		s.running.Add(1)
		defer s.running.Add(-1)
		s.started <- Client(ctx)
		<-ctx.Done()
		s.cancelled <- Client(ctx)
		return nil, nil, ctx.Err()
	})
	return s
}

func await[T any](t *testing.T, what string, from <-chan T) T {
	t.Helper()
	select {
	case v, ok := <-from:
		if !ok {
			t.Fatalf("%s: channel closed", what)
		}
		return v
	case <-time.After(patience):
		t.Fatalf("%s did not happen", what)
		panic("unreachable")
	}
}

// eventually waits for a state that has no event of its own.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%s did not happen\n%s", what, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// settled returns the number of goroutines once it stays at or below the given one.
func settled(t *testing.T, atMost int) {
	t.Helper()
	eventually(t, fmt.Sprintf("at most %d goroutines", atMost), func() bool { return runtime.NumGoroutine() <= atMost })
}

// The requests below are raw, so that nothing of the SDK's client tidies them up.

func initialize(id any, version string) string {
	return request(id, "initialize", map[string]any{
		"protocolVersion": version, "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "t", "version": "0"},
	})
}

func call(id any, tool string, args map[string]any) string {
	if args == nil {
		args = map[string]any{}
	}
	return request(id, "tools/call", map[string]any{"name": tool, "arguments": args})
}

// modern marks params as the stateless era does.
func modern(params map[string]any) map[string]any {
	params["_meta"] = map[string]any{
		"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
		"io.modelcontextprotocol/clientCapabilities": map[string]any{},
		"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "t", "version": "0"},
	}
	return params
}

func request(id any, method string, params map[string]any) string {
	msg := map[string]any{"jsonrpc": "2.0", "method": method}
	if id != nil {
		msg["id"] = id
	}
	if params != nil {
		msg["params"] = params
	}
	data, err := json.Marshal(msg)
	if err != nil {
		panic(err)
	}
	return string(data)
}

const (
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	cancelled   = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`
)

// reply is a response as a client sees it.
type reply struct {
	ID     json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
	raw string
}

func parseReply(t *testing.T, line string) reply {
	t.Helper()
	var r reply
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		t.Fatalf("answer is no JSON: %v: %.200q", err, line)
	}
	r.raw = line
	return r
}

// text is the text that a tool answered.
func (r reply) text(t *testing.T) string {
	t.Helper()
	var result struct {
		Content []struct{ Text string }
	}
	if r.Error != nil || json.Unmarshal(r.Result, &result) != nil || len(result.Content) != 1 {
		t.Fatalf("no text in %.300s", r.raw)
	}
	return result.Content[0].Text
}
