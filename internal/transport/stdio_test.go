package transport

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sallyport.dev/sallyport/internal/mcp"
)

// peer is the client's end of a stdio server, in raw bytes.
type peer struct {
	t      *testing.T
	server *testServer
	in     io.WriteCloser
	lines  chan string
	output *io.PipeReader
	ended  chan error
	cancel context.CancelFunc
}

func startStdio(t *testing.T, opts StdioOptions) *peer {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p := &peer{t: t, server: newTestServer(), in: inW, lines: make(chan string, 10_000), output: outR, ended: make(chan error, 1), cancel: cancel}
	go func() {
		p.ended <- ServeStdio(ctx, p.server.Server, inR, outW, opts)
		inR.Close()
		outW.Close()
	}()
	t.Cleanup(func() {
		cancel()
		inW.Close()
		outR.Close()
	})
	return p
}

// reading starts to take the server's output.
func (p *peer) reading() *peer {
	go func() {
		defer close(p.lines)
		lines := bufio.NewReader(p.output)
		for {
			line, err := lines.ReadString('\n')
			if line != "" {
				p.lines <- line
			}
			if err != nil {
				return
			}
		}
	}()
	return p
}

func (p *peer) send(messages ...string) {
	p.t.Helper()
	for _, m := range messages {
		if _, err := io.WriteString(p.in, m+"\n"); err != nil {
			p.t.Fatalf("writing to the server: %v", err)
		}
	}
}

func (p *peer) reply() reply {
	p.t.Helper()
	line := await(p.t, "an answer", p.lines)
	if !strings.HasSuffix(line, "\n") || strings.HasSuffix(line, "\r\n") {
		p.t.Errorf("line does not end in a single LF: %q", line)
	}
	return parseReply(p.t, line)
}

func (p *peer) wantReply(id string) reply {
	p.t.Helper()
	r := p.reply()
	if string(r.ID) != id {
		p.t.Fatalf("got an answer to %s, want one to %s: %.300s", r.ID, id, r.raw)
	}
	return r
}

func (p *peer) wantError(id string, code int, text string) {
	p.t.Helper()
	r := p.wantReply(id)
	if r.Error == nil || r.Error.Code != code || !strings.Contains(r.Error.Message, text) {
		p.t.Errorf("got %.300s, want error %d with %q", r.raw, code, text)
	}
}

func (p *peer) handshake(version string) {
	p.t.Helper()
	p.send(initialize("init", version), initialized)
	p.wantReply(`"init"`)
}

// pipe runs a whole conversation that ends with its input, as a shell pipe does.
func pipe(t *testing.T, input string, opts StdioOptions) []reply {
	t.Helper()
	var out bytes.Buffer
	if err := ServeStdio(t.Context(), newTestServer().Server, strings.NewReader(input), &out, opts); err != nil {
		t.Fatalf("serving: %v", err)
	}
	var replies []reply
	for line := range strings.Lines(out.String()) {
		replies = append(replies, parseReply(t, line))
	}
	return replies
}

func TestStdioSpeaksEveryRevision(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
		t.Run(version, func(t *testing.T) {
			p := startStdio(t, StdioOptions{}).reading()
			p.send(initialize(1, version), initialized)
			if r := p.wantReply("1"); !strings.Contains(string(r.Result), `"protocolVersion":"`+version+`"`) {
				t.Errorf("negotiated something else: %s", r.raw)
			}
			p.send(request(2, "tools/list", nil))
			if r := p.wantReply("2"); !strings.Contains(string(r.Result), `"slow"`) {
				t.Errorf("no tools: %s", r.raw)
			}
			p.send(call(3, "echo", map[string]any{"text": "hello"}))
			if got := p.wantReply("3").text(t); got != "hello" {
				t.Errorf("got %q", got)
			}
		})
	}
	t.Run("2026-07-28 and a handshake in one stream", func(t *testing.T) {
		p := startStdio(t, StdioOptions{}).reading()
		p.send(request(1, "server/discover", modern(map[string]any{})))
		if r := p.wantReply("1"); !strings.Contains(string(r.Result), "2026-07-28") {
			t.Errorf("no discovery: %s", r.raw)
		}
		p.send(request(2, "tools/call", modern(map[string]any{"name": "client", "arguments": map[string]any{}})))
		if got := p.wantReply("2").text(t); got != "stdio" {
			t.Errorf("client is %q", got)
		}
		p.send(initialize(3, "2025-11-25"))
		p.wantReply("3")
		p.send(call(4, "echo", map[string]any{"text": "old"}))
		if got := p.wantReply("4").text(t); got != "old" {
			t.Errorf("got %q", got)
		}
	})
}

func TestStdioPeersWithTheSDKClient(t *testing.T) {
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		t.Run(version, func(t *testing.T) {
			inR, inW := io.Pipe()
			outR, outW := io.Pipe()
			server := newTestServer()
			ended := make(chan error, 1)
			go func() {
				ended <- ServeStdio(t.Context(), server.Server, inR, outW, StdioOptions{})
				outW.Close()
			}()
			client := sdk.NewClient(&sdk.Implementation{Name: "c", Version: "1"}, nil)
			session, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: outR, Writer: inW}, &sdk.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "hi"}})
			if err != nil || result.Content[0].(*sdk.TextContent).Text != "hi" {
				t.Fatalf("got %v, %v", result, err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			failed := make(chan error, 1)
			go func() {
				_, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "slow"})
				failed <- err
			}()
			await(t, "the slow call", server.started)
			cancel()
			await(t, "its cancellation", server.cancelled)
			if err := await(t, "its error", failed); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			session.Close()
			if err := await(t, "the end", ended); err != nil {
				t.Errorf("serving: %v", err)
			}
		})
	}
}

func TestStdioFraming(t *testing.T) {
	ping := func(id int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, id) }
	for name, test := range map[string]struct {
		in   string
		want []string // ids in any order, with a mark where the answer is an error
	}{
		"BOM, CRLF, blank lines, no last newline": {"\xef\xbb\xbf" + ping(1) + "\r\n\r\n   \n" + ping(2) + "\r\n" + ping(3), []string{"1", "2", "3"}},
		"junk does not end the stream":            {"hello\n" + ping(1) + "\n\x00\xff\n{\n" + ping(2) + "\n", []string{"", "", "", "1", "2"}},
		"BOM on a later line is junk":             {ping(1) + "\n\xef\xbb\xbf" + ping(2) + "\n" + ping(3) + "\n", []string{"1", "2!", "3"}},
		"empty input":                             {"", nil},
		"only blank lines":                        {"\n\r\n \n", nil},
		"a batch is one error":                    {"[" + ping(1) + "," + ping(2) + "]\n[]\n" + ping(3) + "\n", []string{"", "", "3"}},
		"two messages on a line":                  {ping(1) + ping(2) + "\n" + ping(3) + "\n", []string{"1!", "3"}},
		"odd ids": {`{"jsonrpc":"2.0","id":"","method":"ping"}` + "\n" + `{"jsonrpc":"2.0","id":"0","method":"ping"}` + "\n" + ping(-1) + "\n" +
			`{"jsonrpc":"2.0","id":null,"method":"ping"}` + "\n" + `{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, []string{`""`, `"0"`, "-1", "", ""}},
		"stray response and notification": {`{"jsonrpc":"2.0","id":99,"result":{}}` + "\n" + `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}` + "\n" +
			`{"jsonrpc":"2.0","method":"notifications/unknown","params":{"x":1}}` + "\n" + ping(1), []string{"1"}},
	} {
		t.Run(name, func(t *testing.T) {
			left := make(map[string]int)
			for _, id := range test.want {
				left[id]++
			}
			for _, r := range pipe(t, test.in, StdioOptions{}) {
				id := string(r.ID)
				if id == "null" {
					id = ""
					if r.Error == nil || (r.Error.Code != mcp.CodeParse && r.Error.Code != mcp.CodeInvalidRequest) {
						t.Errorf("answer without id is no refusal: %s", r.raw)
					}
				} else if r.Error != nil {
					id += "!"
				}
				if left[id]--; left[id] < 0 {
					t.Errorf("unexpected answer %s", r.raw)
				}
			}
			for id, n := range left {
				if n > 0 {
					t.Errorf("%d answers to %q are missing", n, id)
				}
			}
		})
	}
}

func TestStdioKeepsUnicodeSeparators(t *testing.T) {
	p := startStdio(t, StdioOptions{}).reading()
	p.handshake("2025-11-25")
	want := "a\u2028b\u2029c\u0085d\u000be\u000cf\u001cg"
	p.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"text\":\"a\u2028b\u2029c\u0085d\\u000be\\u000cf\\u001cg\"}}}")
	if got := p.wantReply("1").text(t); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestStdioLargeMessages(t *testing.T) {
	p := startStdio(t, StdioOptions{Limits: mcp.Limits{Bytes: 6 << 20}}).reading()
	p.handshake("2025-11-25")
	for id, size := range []int{300_000, 5 << 20} {
		text := strings.Repeat("A", size)
		p.send(call(id, "echo", map[string]any{"text": text}))
		if got := p.wantReply(fmt.Sprint(id)).text(t); got != text {
			t.Errorf("%d bytes came back as %d", size, len(got))
		}
	}
	// The id stands behind what is too large, as the Python SDK writes it.
	p.send(`{"method":"tools/call","params":{"name":"echo","arguments":{"text":"` + strings.Repeat("B", 7<<20) + `"}},"jsonrpc":"2.0","id":"late"}`)
	p.wantError(`"late"`, mcp.CodeInvalidRequest, "6291456 bytes")
	p.send(strings.Repeat("x", 7<<20))
	p.wantError("null", mcp.CodeInvalidRequest, "6291456 bytes")
	p.send(request("next", "ping", nil))
	p.wantReply(`"next"`)
}

// The reader must not keep what it will refuse.
func TestFrameReaderBoundsMemory(t *testing.T) {
	const size, limit = 64 << 20, 1 << 20
	in := io.MultiReader(io.LimitReader(zeros{}, size), strings.NewReader("\n{}\n"))
	frames := newFrameReader(in, limit)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f, err := frames.next()
	runtime.ReadMemStats(&after)
	if err != nil || f.refusal == nil {
		t.Fatalf("got %v, %v", f.refusal, err)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 16*limit {
		t.Errorf("allocated %d bytes for a line of %d with a limit of %d", grown, size, limit)
	}
	if f, err = frames.next(); err != nil || string(f.data) != "{}" {
		t.Errorf("out of step: %q, %v", f.data, err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

func TestStdioRefusesWhatParsersReadDifferently(t *testing.T) {
	p := startStdio(t, StdioOptions{}).reading()
	p.handshake("2025-11-25")
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","Name":"slow","arguments":{}}}`)
	p.wantError("1", mcp.CodeInvalidRequest, "case")
	p.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","name":"slow","arguments":{}}}`)
	p.wantError("2", mcp.CodeInvalidRequest, "duplicate")
	p.send(`{"jsonrpc":"2.0","id":3,"method":"ping","method":"tools/call","Method":"tools/call","params":{"name":"slow"}}`)
	p.wantError("3", mcp.CodeInvalidRequest, "duplicate")
	p.send(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"slow ","arguments":{}}}`)
	p.wantError("4", mcp.CodeInvalidParams, "unknown tool")
	p.send(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"e\u0063ho","arguments":{"text":"x"}}}`)
	p.wantReply("5")
	p.send(`{"jsonrpc":"2.0","id":6,"method":"TOOLS/CALL","params":{"name":"slow"}}`)
	p.wantError("6", codeMethodNotFound, "")
	p.send(`{"jsonrpc":"2.0","id":"s-\ud800","method":"tools/call","params":{"name":"echo","arguments":{"\udfff":"x"}}}`)
	p.wantError("null", mcp.CodeInvalidRequest, "Unicode")
	p.send(request(7, "ping", nil))
	p.wantReply("7")
	if n := len(p.server.started); n != 0 {
		t.Errorf("the refused tool ran %d times", n)
	}
}

func TestStdioLifecycle(t *testing.T) {
	p := startStdio(t, StdioOptions{}).reading()
	p.send(request(1, "tools/list", nil))
	p.wantError("1", mcp.CodeInvalidRequest, "initialization")
	p.send(initialize(2, "1999-01-01"))
	if r := p.wantReply("2"); !strings.Contains(string(r.Result), `"protocolVersion":"2025-11-25"`) {
		t.Errorf("negotiated %s", r.raw)
	}
	p.send(initialize(3, "2025-06-18"))
	p.wantError("3", mcp.CodeInternal, "duplicate")
	p.send(initialized, `{"jsonrpc":"2.0","method":"notifications/unknown","params":{"x":1}}`)
	p.send(request(4, "nobody/offers", nil))
	p.wantError("4", codeMethodNotFound, "")
	for _, method := range []string{"resources/list", "prompts/list", "logging/setLevel"} {
		p.send(request(method, method, map[string]any{"level": "info"}))
		p.wantError(`"`+method+`"`, codeMethodNotFound, "not found")
	}
	p.send(request(5, "ping", nil))
	p.wantReply("5")
}

func TestStdioAnswersWhileACallRuns(t *testing.T) {
	p := startStdio(t, StdioOptions{}).reading()
	p.handshake("2025-11-25")
	p.send(call(1, "slow", nil))
	await(t, "the slow call", p.server.started)
	p.send(request(2, "ping", nil))
	p.wantReply("2")
	p.send(request(3, "tools/list", nil))
	p.wantReply("3")
	if p.server.running.Load() != 1 {
		t.Error("the slow call is gone")
	}
}

func TestStdioRefusesAnIDInFlight(t *testing.T) {
	p := startStdio(t, StdioOptions{}).reading()
	p.handshake("2025-11-25")
	p.send(call(1, "slow", nil))
	await(t, "the slow call", p.server.started)
	// Another spelling of a string is the same id; a string is not the same id as a number.
	p.send(call(1, "echo", map[string]any{"text": "x"}))
	p.wantError("null", mcp.CodeInvalidRequest, "id 1 is already in use")
	p.send(call("1", "echo", map[string]any{"text": "x"}))
	p.wantReply(`"1"`)
	p.send(fmt.Sprintf(cancelled, "1"))
	await(t, "its cancellation", p.server.cancelled)
	eventually(t, "the id to be free", func() bool {
		p.send(call(1, "echo", map[string]any{"text": "again"}))
		return string(p.reply().ID) == "1"
	})
}

func TestStdioBoundsRequestsInFlight(t *testing.T) {
	p := startStdio(t, StdioOptions{InFlight: 2}).reading()
	p.handshake("2025-11-25")
	p.send(call(1, "slow", nil), call(2, "slow", nil))
	await(t, "the first call", p.server.started)
	await(t, "the second call", p.server.started)
	p.send(request(3, "ping", nil))
	p.wantError("null", mcp.CodeInvalidRequest, "request 3 was not taken")
}

func TestStdioCancelTouchesOneCall(t *testing.T) {
	p := startStdio(t, StdioOptions{}).reading()
	p.handshake("2025-11-25")
	p.send(call("other", "slow", nil))
	await(t, "the other call", p.server.started)
	before := runtime.NumGoroutine()
	for i := range 100 {
		p.send(call(i, "slow", nil))
		await(t, "the call", p.server.started)
		p.send(fmt.Sprintf(cancelled, fmt.Sprint(i)))
		await(t, "its cancellation", p.server.cancelled)
	}
	p.send(call("alive", "echo", map[string]any{"text": "alive"}))
	// No answer to a cancelled call comes before this one.
	if got := p.wantReply(`"alive"`).text(t); got != "alive" {
		t.Errorf("got %q", got)
	}
	if n := p.server.running.Load(); n != 1 {
		t.Errorf("%d calls run, want the other one", n)
	}
	settled(t, before)
}

func TestStdioEndOfInputLetsAnswersOut(t *testing.T) {
	in := initialize(1, "2025-11-25") + "\n" + initialized + "\n" + call(2, "echo", map[string]any{"text": "x", "repeat": 1 << 20}) + "\n" + request(3, "ping", nil)
	if got := pipe(t, in, StdioOptions{}); len(got) != 3 {
		t.Errorf("got %d answers, want 3", len(got))
	}
}

func TestStdioEndOfInputCancelsWhatGoesOn(t *testing.T) {
	in := initialize(1, "2025-11-25") + "\n" + initialized + "\n" + call(2, "slow", nil) + "\n"
	replies := pipe(t, in, StdioOptions{Drain: 50 * time.Millisecond})
	if len(replies) != 2 || string(replies[1].ID) != "2" || replies[1].Error == nil || !strings.Contains(replies[1].Error.Message, "input ended") {
		t.Errorf("got %v", replies)
	}
}

func TestStdioStopsAtOnce(t *testing.T) {
	for name, begin := range map[string]func(*peer){
		"before initialize": func(*peer) {},
		"while a call runs": func(p *peer) {
			p.reading().handshake("2025-11-25")
			p.send(call(1, "slow", nil))
			await(p.t, "the slow call", p.server.started)
		},
		"while the client does not read": func(p *peer) {
			p.send(initialize(1, "2025-11-25"), initialized)
			p.send(call(2, "slow", nil))
			await(p.t, "the slow call", p.server.started)
		},
	} {
		t.Run(name, func(t *testing.T) {
			// A drain that never ends would show if the stop waited for it.
			p := startStdio(t, StdioOptions{Drain: time.Hour})
			begin(p)
			p.cancel()
			if err := await(t, "the end", p.ended); err != nil {
				t.Errorf("serving: %v", err)
			}
			if n := p.server.running.Load(); n != 0 {
				t.Errorf("%d calls still run", n)
			}
		})
	}
}

func TestStdioSlowReaderHoldsUpItselfOnly(t *testing.T) {
	p := startStdio(t, StdioOptions{})
	p.send(initialize("init", "2025-11-25"), initialized)
	big := map[string]any{"text": "x", "repeat": 32 << 10}
	for i := range 100 {
		p.send(call(i, "echo", big))
	}
	p.send(call("slow", "slow", nil))
	await(t, "a call behind a full pipe", p.server.started)
	p.send(fmt.Sprintf(cancelled, `"slow"`))
	await(t, "its cancellation", p.server.cancelled)
	p.send(request("ping", "ping", nil))
	p.reading()
	seen := make(map[string]bool)
	for range 102 { // init, 100 answers, ping
		seen[string(p.reply().ID)] = true
	}
	if len(seen) != 102 || !seen[`"ping"`] || seen[`"slow"`] {
		t.Errorf("got answers to %d requests", len(seen))
	}
}

func TestStdioClosedOutputCancels(t *testing.T) {
	t.Run("a pipe, while nothing is written", func(t *testing.T) {
		inR, inW := io.Pipe()
		outR, outW, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if outR.Close(); !peerGone(outW) {
			t.Skip("this system does not tell that a pipe has no reader before it is written to")
		}
		outR, outW, err = os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { inW.Close(); outW.Close() })
		server := newTestServer()
		ended := make(chan error, 1)
		go func() { ended <- ServeStdio(t.Context(), server.Server, inR, outW, StdioOptions{Drain: time.Hour}) }()
		io.WriteString(inW, initialize(1, "2025-11-25")+"\n"+initialized+"\n"+call(2, "slow", nil)+"\n")
		await(t, "the slow call", server.started)
		outR.Close()
		await(t, "its cancellation", server.cancelled)
		if err := await(t, "the end", ended); err == nil || !strings.Contains(err.Error(), "output") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("at the next write", func(t *testing.T) {
		p := startStdio(t, StdioOptions{Drain: time.Hour})
		p.send(initialize(1, "2025-11-25"), initialized, call(2, "slow", nil))
		await(t, "the slow call", p.server.started)
		p.output.Close()
		await(t, "its cancellation", p.server.cancelled)
		if err := await(t, "the end", p.ended); err == nil || !strings.Contains(err.Error(), "writing output") {
			t.Errorf("got %v", err)
		}
	})
}

func TestStdioReportsACallThatIgnoresItsCancellation(t *testing.T) {
	server := newTestServer()
	release := make(chan struct{})
	sdk.AddTool(server.Server, &sdk.Tool{Name: "deaf"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		<-release
		return &sdk.CallToolResult{}, nil, nil
	})
	defer close(release)
	in := initialize(1, "2025-11-25") + "\n" + initialized + "\n" + call(2, "deaf", nil) + "\n"
	err := ServeStdio(t.Context(), server.Server, strings.NewReader(in), io.Discard, StdioOptions{Drain: time.Millisecond, Stop: time.Millisecond})
	if !errors.Is(err, ErrStuck) {
		t.Errorf("got %v", err)
	}
}

// gate is an output that takes nothing until it is opened.
type gate struct {
	open  chan struct{}
	began chan struct{}
	once  sync.Once
	bytes.Buffer
}

func (g *gate) Write(p []byte) (int, error) {
	g.once.Do(func() { close(g.began) })
	<-g.open
	return g.Buffer.Write(p)
}

// What was queued before the end goes out, though nothing is queued after it.
func TestStdioWritesWhatWasQueued(t *testing.T) {
	inR, inW := io.Pipe()
	defer inW.Close()
	out := &gate{open: make(chan struct{}), began: make(chan struct{})}
	c := newStdioConn(inR, out, StdioOptions{}.orDefault())
	for i := range 6 {
		c.answer(fmt.Appendf(nil, "%d", i))
	}
	await(t, "the first write", watchClosed(out.began))
	c.stopReading()
	close(out.open)
	await(t, "the writer's end", watchClosed(c.wrote))
	if got := out.String(); got != "0\n1\n2\n3\n4\n5\n" {
		t.Errorf("got %q", got)
	}
}

// watchClosed turns a close into an event.
func watchClosed(c <-chan struct{}) <-chan bool {
	closed := make(chan bool, 1)
	go func() {
		<-c
		closed <- true
	}()
	return closed
}

func FuzzFrames(f *testing.F) {
	f.Add([]byte("\xef\xbb\xbf{}\r\n\n  \n{}"), uint16(10))
	f.Add([]byte(`{"a":"`+strings.Repeat("x", 300)+`","id":1}`+"\n{}\n"), uint16(64))
	f.Fuzz(func(t *testing.T, data []byte, limit uint16) {
		frames := newFrameReader(bytes.NewReader(data), int(limit))
		count := 0
		for {
			fr, err := frames.next()
			if err != nil {
				if err != io.EOF {
					t.Fatal(err)
				}
				break
			}
			count++
			if bytes.IndexByte(fr.data, '\n') >= 0 || len(fr.data) > int(limit) || (fr.refusal == nil) != (len(fr.data) > 0) {
				t.Fatalf("bad frame %q, refusal %v", fr.data, fr.refusal)
			}
		}
		if most := bytes.Count(data, []byte("\n")) + 1; count > most {
			t.Fatalf("%d frames from %d lines", count, most)
		}
	})
}
