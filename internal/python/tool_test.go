package python

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A fakeEngine answers with what the test gave it.
type fakeEngine struct {
	mu   sync.Mutex
	caps Capabilities
	run  func(context.Context, Request) (Outcome, error)
	seen []Request
}

func (e *fakeEngine) Describe() Capabilities {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.caps
}

func (e *fakeEngine) Run(ctx context.Context, r Request) (Outcome, error) {
	e.mu.Lock()
	e.seen = append(e.seen, r)
	e.mu.Unlock()
	return e.run(ctx, r)
}

func (e *fakeEngine) Close() error { return nil }

func answering(o Outcome, err error) *fakeEngine {
	return &fakeEngine{caps: scientific(), run: func(context.Context, Request) (Outcome, error) { return o, err }}
}

// A peer speaks the protocol to a server in raw lines, so that tests see what is really sent.
type peer struct {
	t     *testing.T
	w     io.Writer
	lines *bufio.Reader
	id    int
}

func connect(t *testing.T, o Options) *peer {
	t.Helper()
	server := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "0"}, nil)
	if err := Register(server, o); err != nil {
		t.Fatal(err)
	}
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	session, err := server.Connect(t.Context(), &mcp.IOTransport{Reader: fromClient, Writer: toClient}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// Both ends: an answer that nobody reads would hold the server up.
		_ = toServer.Close()
		_ = fromServer.Close()
		_ = session.Wait()
	})
	p := &peer{t: t, w: toServer, lines: bufio.NewReaderSize(fromServer, 4<<20)}
	p.ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}`)
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return p
}

func (p *peer) send(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.w, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

// read returns the reply to an id; what comes in between is passed over.
func (p *peer) read(id string) []byte {
	p.t.Helper()
	for {
		line, err := p.lines.ReadBytes('\n')
		if err != nil {
			p.t.Fatal(err)
		}
		if bytes.Contains(line[:min(len(line), 60)], []byte(`"id":`+id)) {
			return line
		}
	}
}

func (p *peer) ask(method, params string) []byte {
	p.t.Helper()
	p.id++
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, p.id, method, params))
	return p.read(fmt.Sprint(p.id, ","))
}

// A reading is a reply as a client sees it.
type reading struct {
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool            `json:"isError"`
	Content    []struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		MIMEType string `json:"mimeType"`
		Data     []byte `json:"data"`
		Resource struct {
			URI      string `json:"uri"`
			MIMEType string `json:"mimeType"`
			Text     string `json:"text"`
			Blob     []byte `json:"blob"`
		} `json:"resource"`
		Meta map[string]any `json:"_meta"`
	} `json:"content"`
	result result
	line   int
}

func (p *peer) run(arguments string) reading {
	p.t.Helper()
	return readReply(p.t, p.ask("tools/call", `{"name":"run_python","arguments":`+arguments+`}`))
}

func readReply(t *testing.T, line []byte) reading {
	t.Helper()
	var frame struct {
		Result *reading        `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(line, &frame); err != nil || frame.Result == nil {
		t.Fatalf("%.300s: %v", line, err)
	}
	r := *frame.Result
	r.line = len(line)
	if err := validator(t, outputSchema).Validate(decoded(t, r.Structured)); err != nil {
		t.Errorf("structured content does not fit the schema: %v\n%.500s", err, r.Structured)
	}
	if err := json.Unmarshal(r.Structured, &r.result); err != nil {
		t.Fatal(err)
	}
	if len(r.Content) == 0 || r.Content[0].Type != "text" {
		t.Fatalf("no text block first: %.300s", line)
	}
	return r
}

func validator(t *testing.T, schema []byte) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

func decoded(t *testing.T, raw []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func exit(code int) *int { return &code }

func stream(s string) Stream { return collect(50_000, s) }

func TestTheSchemaIsStrict(t *testing.T) {
	good := map[string]any{}
	if err := json.Unmarshal(encode(newResult(Outcome{}, nil, limits(), nil)), &good); err != nil {
		t.Fatal(err)
	}
	v := validator(t, outputSchema)
	if err := v.Validate(good); err != nil {
		t.Fatal(err)
	}
	for key := range good {
		bad := map[string]any{}
		for k, value := range good {
			if k != key {
				bad[k] = value
			}
		}
		if v.Validate(bad) == nil {
			t.Errorf("the schema lets %s be missing", key)
		}
	}
	good["extra"] = 1
	if v.Validate(good) == nil {
		t.Error("the schema lets extra keys through")
	}
}

func TestScriptThatSucceeds(t *testing.T) {
	value := stream("42")
	e := answering(Outcome{Stdout: stream("naïve\n"), Stderr: stream("warning: x"), Result: &value, ExitCode: exit(0), Duration: 12 * time.Millisecond}, nil)
	r := connect(t, Options{Engine: e}).run(`{"code":"print(1)","stdin":"in","timeout_seconds":5,"files":[{"name":"a","content":"b"}]}`)
	got := r.result
	if r.IsError || got.Status != "ok" || got.Stdout != "naïve\n" || got.Stderr != "warning: x" || *got.ExitCode != 0 || *got.Result != "42" || got.DurationMS != 12 || got.StdoutBytes != 7 || got.Error != nil {
		t.Errorf("%+v", got)
	}
	want := "status: ok · exit code 0 · 12 ms\n--- result, 2 bytes ---\n42\n--- stdout, 7 bytes ---\nnaïve\n--- stderr, 10 bytes ---\nwarning: x"
	if r.Content[0].Text != want || len(r.Content) != 1 {
		t.Errorf("text is\n%s\nwant\n%s", r.Content[0].Text, want)
	}
	seen := e.seen[0]
	if seen.Code != "print(1)" || string(seen.Stdin) != "in" || seen.Limits.Timeout != 5*time.Second || len(seen.Files) != 1 {
		t.Errorf("the engine was asked for %+v", seen)
	}
}

func TestOutcomesThatAreNoErrorOfTheTool(t *testing.T) {
	trace := stream("Traceback (most recent call last):\n  File \"<script>\", line 1\nValueError: row 17\n")
	for name, c := range map[string]struct {
		o      Outcome
		status string
		text   []string
	}{
		"raise":        {Outcome{Stderr: trace, ExitCode: exit(1)}, "error", []string{"status: error · exit code 1 · 0 ms · ValueError: row 17\n", "File \"<script>\""}},
		"exit 200":     {Outcome{ExitCode: exit(200)}, "error", []string{"exit code 200", "no output"}},
		"no exit code": {Outcome{Notes: []string{"It was ended by signal 9."}}, "error", []string{"status: error · 0 ms", "note: It was ended by signal 9."}},
		"timeout":      {Outcome{Stdout: stream("step 0\n"), TimedOut: true, ExitCode: exit(0)}, "timeout", []string{"status: timeout", "The time limit of 30 seconds ended the script", "step 0\n"}},
		"silence":      {Outcome{ExitCode: exit(0)}, "ok", []string{"status: ok · exit code 0 · 0 ms\nno output"}},
	} {
		r := connect(t, Options{Engine: answering(c.o, nil)}).run(`{"code":""}`)
		if r.IsError || r.result.Status != c.status || r.result.TimedOut != (c.status == "timeout") || r.result.Error != nil {
			t.Errorf("%s: isError %v, %+v", name, r.IsError, r.result)
		}
		if c.status == "timeout" && r.result.ExitCode != nil {
			t.Errorf("%s: exit code %d", name, *r.result.ExitCode)
		}
		for _, want := range c.text {
			if !strings.Contains(r.Content[0].Text, want) {
				t.Errorf("%s: %q is missing in\n%s", name, want, r.Content[0].Text)
			}
		}
	}
}

func TestFailuresHaveOneShapeToo(t *testing.T) {
	partial := &Outcome{Stdout: stream("before\n"), ExitCode: exit(3), TimedOut: true, Duration: time.Second}
	for _, kind := range failureKinds() {
		r := connect(t, Options{Engine: answering(Outcome{}, &Failure{Kind: kind, Partial: partial, Cause: errors.New("/secret/path")})}).run(`{"code":""}`)
		got := r.result
		if !r.IsError || got.Status != "failed" || got.Error.Kind != kind || got.ExitCode != nil || got.TimedOut || got.Stdout != "before\n" {
			t.Errorf("%s: isError %v, %+v", kind, r.IsError, got)
		}
		if text := r.Content[0].Text; !strings.Contains(text, got.Error.Message) || !strings.Contains(text, "before\n") || strings.Contains(text, "secret") {
			t.Errorf("%s: text is %s", kind, text)
		}
	}
}

func TestErrorsThatTheEngineDidNotClassify(t *testing.T) {
	var log bytes.Buffer
	for name, run := range map[string]func(context.Context, Request) (Outcome, error){
		"plain error": func(context.Context, Request) (Outcome, error) { return Outcome{}, errors.New("opening /home/alice/x") },
		"panic":       func(context.Context, Request) (Outcome, error) { panic("opening /home/alice/x") },
	} {
		log.Reset()
		p := connect(t, Options{Engine: &fakeEngine{caps: scientific(), run: run}, Running: 1, Log: slog.New(slog.NewTextHandler(&log, nil))})
		for range 3 { // the place is given back
			r := p.run(`{"code":"print('TOP SECRET')"}`)
			if !r.IsError || r.result.Error.Kind != Internal || strings.Contains(r.Content[0].Text+string(r.Structured), "alice") {
				t.Errorf("%s: %s", name, r.Structured)
			}
		}
		if !strings.Contains(log.String(), "alice") || strings.Contains(log.String(), "TOP SECRET") || strings.Count(log.String(), "\n") != 3 {
			t.Errorf("%s: the log is %s", name, log.String())
		}
	}
}

func TestTheLogHoldsNoCodeAndNoOutput(t *testing.T) {
	var log bytes.Buffer
	value := stream("VALUE")
	o := Outcome{Stdout: stream("OUT"), Stderr: stream("ERR"), Result: &value, ExitCode: exit(4), Files: []Artifact{{Path: "FILE", Data: []byte("DATA")}}}
	p := connect(t, Options{Engine: answering(o, nil), Log: slog.New(slog.NewTextHandler(&log, nil))})
	p.run(`{"code":"CODE","stdin":"STDIN","files":[{"name":"NAME","content":"CONTENT"}]}`)
	for _, secret := range []string{"CODE", "STDIN", "NAME", "CONTENT", "OUT", "ERR", "VALUE", "FILE", "DATA"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("%s is in the log: %s", secret, log.String())
		}
	}
	for _, want := range []string{"status=error", "exit_code=4", "code_bytes=4", "stdin_bytes=5", "files=1", "stdout_bytes=3", "code_sha256=", "queued_ms="} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("%s is missing in the log: %s", want, log.String())
		}
	}
}

func TestBadArgumentsAreAResultThatNamesThem(t *testing.T) {
	e := answering(Outcome{}, nil)
	p := connect(t, Options{Engine: e})
	for arguments, want := range map[string]string{`{}`: "code", `{"code":"1","image":"/tmp/x"}`: "image", `{"code":"1","timeout_seconds":-1}`: "timeout_seconds"} {
		r := p.run(arguments)
		if !r.IsError || r.result.Error.Kind != Invalid || !strings.Contains(r.Content[0].Text, want) {
			t.Errorf("%s: %s", arguments, r.Content[0].Text)
		}
	}
	if r := readReply(t, p.ask("tools/call", `{"name":"run_python"}`)); !strings.Contains(r.Content[0].Text, "code") {
		t.Error(r.Content[0].Text)
	}
	if len(e.seen) != 0 {
		t.Errorf("%d bad calls reached the engine", len(e.seen))
	}
}

func TestInputSchemaSaysWhatTheParserTakes(t *testing.T) {
	v := validator(t, inputSchema)
	for _, raw := range []string{
		`{"code":"1"}`, `{}`, `{"code":1}`, `{"code":"","x":1}`, `{"code":"","timeout_seconds":0}`, `{"code":"","timeout_seconds":1.5}`,
		`{"code":"","files":[{"name":"a","content":""}]}`, `{"code":"","files":[{"content":""}]}`, `{"code":"","files":[{"name":"a","content":"","x":1}]}`, `{"code":"","stdin":1}`,
	} {
		_, _, err := parseArguments([]byte(raw), limits())
		if schemaErr := v.Validate(decoded(t, []byte(raw))); (schemaErr == nil) != (err == nil) {
			t.Errorf("%s: the parser says %v, the schema %v", raw, err, schemaErr)
		}
	}
}

func TestToolIsListedWhateverTheEngineSays(t *testing.T) {
	e := answering(Outcome{ExitCode: exit(0)}, nil)
	e.caps.Ready, e.caps.NotReady = false, "run `sallyport setup --engine fake`"
	p := connect(t, Options{Engine: e})
	if got := string(p.ask("tools/list", `{}`)); !strings.Contains(got, "NOT SET UP") || !strings.Contains(got, "sallyport setup --engine fake") {
		t.Error(got)
	}
	r := p.run(`{"code":"1"}`)
	if !r.IsError || r.result.Error.Kind != NotPrepared || !strings.Contains(r.result.Error.Message, "`sallyport setup --engine fake`") || len(e.seen) != 0 {
		t.Errorf("%s", r.Structured)
	}
	e.mu.Lock()
	e.caps.Ready = true
	e.mu.Unlock()
	if r := p.run(`{"code":"1"}`); r.IsError {
		t.Errorf("%s", r.Structured)
	}
	got := string(p.ask("tools/list", `{}`))
	for _, want := range []string{`"name":"run_python"`, `"readOnlyHint":true`, `"destructiveHint":false`, `"openWorldHint":false`, `"idempotentHint":true`, `"outputSchema"`, "numpy 2.4.1"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in %s", want, got)
		}
	}
	if strings.Contains(got, "NOT SET UP") {
		t.Error("the description is stale")
	}
}

func TestCancelledCallReachesTheEngine(t *testing.T) {
	started, ended := make(chan struct{}, 1), make(chan struct{})
	e := &fakeEngine{caps: scientific(), run: func(ctx context.Context, _ Request) (Outcome, error) {
		started <- struct{}{}
		<-ctx.Done()
		close(ended)
		return Outcome{}, &Failure{Kind: Cancelled}
	}}
	p := connect(t, Options{Engine: e, Running: 1})
	p.send(`{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"run_python","arguments":{"code":"while True: pass"}}}`)
	<-started
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c"}}`)
	<-ended
	if got := p.ask("ping", `{}`); !bytes.Contains(got, []byte(`"result"`)) {
		t.Errorf("%s", got)
	}
}

func TestBusyIsAResult(t *testing.T) {
	release := make(chan struct{})
	started := make(chan struct{}, 2)
	e := &fakeEngine{caps: scientific(), run: func(context.Context, Request) (Outcome, error) {
		started <- struct{}{}
		<-release
		return Outcome{ExitCode: exit(0)}, nil
	}}
	p := connect(t, Options{Engine: e, Running: 1, Waiting: -1})
	p.send(`{"jsonrpc":"2.0","id":"slow","method":"tools/call","params":{"name":"run_python","arguments":{"code":""}}}`)
	<-started
	r := p.run(`{"code":""}`)
	if !r.IsError || r.result.Error.Kind != Busy || !strings.Contains(r.result.Error.Message, "try again in about") {
		t.Errorf("%s", r.Structured)
	}
	close(release)
	if r := readReply(t, p.read(`"slow"`)); r.result.Status != "ok" {
		t.Errorf("%s", r.Structured)
	}
}

func TestCeilingHoldsWhateverTheEngineOffers(t *testing.T) {
	e := answering(Outcome{ExitCode: exit(0)}, nil)
	e.caps.Limits = Limits{Timeout: time.Hour, Memory: 100 << 20}
	p := connect(t, Options{Engine: e, Ceiling: Limits{Timeout: 7 * time.Second, Memory: 1 << 40}})
	p.run(`{"code":"","timeout_seconds":60}`)
	got := e.seen[0].Limits
	if got.Timeout != 7*time.Second || got.Memory != 100<<20 || got.OutputChars != DefaultLimits().OutputChars {
		t.Errorf("%+v", got)
	}
}

func TestOutputLimitCannotGrowLater(t *testing.T) {
	e := answering(Outcome{ExitCode: exit(0)}, nil)
	e.caps.Limits.OutputChars = 1000
	p := connect(t, Options{Engine: e})
	e.mu.Lock()
	e.caps.Limits.OutputChars = 1_000_000
	e.mu.Unlock()
	p.run(`{"code":""}`)
	if got := e.seen[0].Limits.OutputChars; got != 1000 {
		t.Errorf("the limit is %d now", got)
	}
}

func TestLimitsThatNeedLargerRepliesAreRefused(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "0"}, nil)
	e := answering(Outcome{}, nil)
	e.caps.Limits.OutputChars = 200_000
	if err := Register(server, Options{Engine: e}); err == nil || !strings.Contains(err.Error(), "lower the one or raise the other") {
		t.Error(err)
	}
	if err := Register(server, Options{Engine: e, MaxReply: 4_000_000}); err != nil {
		t.Error(err)
	}
	if err := Register(server, Options{}); err == nil {
		t.Error("registered without an engine")
	}
}

// hostile is an outcome at its worst, as an engine that cuts nothing could hand it on.
func hostile(fill string) Outcome {
	big := Stream{Text: strings.Repeat(fill, 250_000/len(fill)), Bytes: 1 << 40}
	o := Outcome{Stdout: big, Stderr: big, Result: &big, ExitCode: exit(1)}
	for i := range 200 {
		o.Notes = append(o.Notes, strings.Repeat(fill, 1000))
		o.Files = append(o.Files, Artifact{
			Path: fmt.Sprint(i) + strings.Repeat(fill, 100), MIME: "text/" + strings.Repeat("x", 70), Size: 1 << 40,
			Data: bytes.Repeat([]byte(fill), 20_000/len(fill)), Reason: strings.Repeat(fill, 1000),
		})
	}
	return o
}

func TestRepliesStayBelowTheirLimit(t *testing.T) {
	for _, fill := range []string{"\x01", "<", "x", "日", "🙂", "\xff"} {
		for _, size := range []int64{10 << 10, 64 << 20} {
			if size < 1<<20 && fill != "x" {
				continue // the other files are left out the same way
			}
			e := answering(hostile(fill), nil)
			e.caps.Limits.ArtifactSize = size
			r := connect(t, Options{Engine: e}).run(`{"code":""}`)
			if r.line > DefaultMaxReply {
				t.Errorf("%q, files of %d: the line has %d bytes", fill, size, r.line)
			}
			if !r.result.StdoutTruncated || !r.result.StderrTruncated || !r.result.ResultTruncated {
				t.Errorf("%q: not marked as cut", fill)
			}
			if len(r.result.Notes) > maxNoted+1 {
				t.Errorf("%q: %d notes", fill, len(r.result.Notes))
			}
			for _, n := range r.result.Notes {
				if utf8.RuneCountInString(n) > noteText+1 || strings.ContainsFunc(n, unicode.IsControl) {
					t.Errorf("%q: the note %q", fill, n)
				}
			}
			if n := strings.Count(r.Content[0].Text, "[output truncated: "); n != 3 {
				t.Errorf("%q: %d notes in the text", fill, n)
			}
		}
	}
}

func TestNothingIsSentTwiceBeyondTheCap(t *testing.T) {
	o := Outcome{Stdout: stream(strings.Repeat("x", 3_000_000) + "\nEND\n"), ExitCode: exit(0)}
	r := connect(t, Options{Engine: answering(o, nil)}).run(`{"code":""}`)
	if !strings.HasSuffix(r.result.Stdout, "x\nEND\n") || !strings.HasSuffix(r.Content[0].Text, "x\nEND\n") || r.result.StdoutBytes != 3_000_005 {
		t.Errorf("the end is lost: %+v", r.result.StdoutBytes)
	}
	if r.line > 110_000 {
		t.Errorf("the line has %d bytes", r.line)
	}
	for _, text := range []string{r.result.Stdout, r.Content[0].Text} {
		if !strings.Contains(text, "[output truncated: 3000005 bytes in total, 2950005 left out here; the limit is 50000 characters]") {
			t.Error("no note about the cut")
		}
	}
}

var png = []byte("\x89PNG\x0d\x0a\x1a\x0a and so on")

func TestFilesComeBack(t *testing.T) {
	o := Outcome{ExitCode: exit(0), Files: []Artifact{
		{Path: "figure-1.png", Figure: true, MIME: "image/png", Size: int64(len(png)), Data: png},
		{Path: "output/a b/ü.csv", MIME: "text/csv; charset=utf-8", Size: 4, Data: []byte("a,b\n")},
		{Path: "output/raw.bin", MIME: "garbage", Size: 2, Data: []byte{0, 255}},
		{Path: "output/fake.png", MIME: "image/png", Size: 4, Data: []byte("GIF!")},
		{Path: "output/latin.txt", MIME: "text/plain", Size: 4, Data: []byte("caf\xe9")},
		{Path: "output/empty.txt", MIME: "text/plain", Data: []byte{}},
		{Path: "output/big\n\x1b.bin", MIME: "", Size: 1 << 40, Reason: "it has 1 TiB"},
	}}
	r := connect(t, Options{Engine: answering(o, nil)}).run(`{"code":""}`)
	var got []string
	for _, c := range r.Content[1:] {
		got = append(got, fmt.Sprintf("%s %s %s %s %q %q %v", c.Type, c.MIMEType, c.Resource.URI, c.Resource.MIMEType, c.Resource.Text, append(c.Data, c.Resource.Blob...), c.Meta["sallyport.dev/path"]))
	}
	want := []string{
		`image image/png   "" "\x89PNG\r\n\x1a\n and so on" figure-1.png`,
		`resource  sallyport://call/1/workspace/output/a%20b/%C3%BC.csv text/csv "a,b\n" "" output/a b/ü.csv`,
		`resource  sallyport://call/1/workspace/output/raw.bin application/octet-stream "" "\x00\xff" output/raw.bin`,
		`resource  sallyport://call/1/workspace/output/fake.png image/png "" "GIF!" output/fake.png`,
		`resource  sallyport://call/1/workspace/output/latin.txt text/plain "" "caf\xe9" output/latin.txt`,
		`resource  sallyport://call/1/workspace/output/empty.txt text/plain "" "" output/empty.txt`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("content is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	last := r.result.Files[6]
	if last.Path != `output/big\n\x1b.bin` || last.Included || last.Note != "it has 1 TiB" || last.Size != 1<<40 || last.MIME != "application/octet-stream" {
		t.Errorf("%+v", last)
	}
	for _, line := range []string{"file: figure-1.png (image/png, 18 bytes) follows\n", `file: output/big\n\x1b.bin (application/octet-stream, 1099511627776 bytes) is not included: it has 1 TiB` + "\n"} {
		if !strings.Contains(r.Content[0].Text, line) {
			t.Errorf("%q is missing in %s", line, r.Content[0].Text)
		}
	}
}

func TestFilesAreBoundedInNumberAndSize(t *testing.T) {
	var o Outcome
	o.ExitCode = exit(0)
	for i := range 60 {
		o.Files = append(o.Files, Artifact{Path: fmt.Sprint("output/", i), MIME: "text/plain", Size: 100, Data: bytes.Repeat([]byte("x"), 100)})
	}
	included := func(l Limits) int {
		e := answering(o, nil)
		e.caps.Limits = l
		r := connect(t, Options{Engine: e}).run(`{"code":""}`)
		n := 0
		for _, f := range r.result.Files {
			if f.Included {
				n++
			} else if f.Note == "" {
				t.Errorf("%s is left out without a word", f.Path)
			}
		}
		if n != len(r.Content)-1 || len(r.result.Files) != maxListed || !slices.Contains(r.result.Notes, "20 more files are not listed.") {
			t.Errorf("%d included, %d sent, %d listed, notes %q", n, len(r.Content)-1, len(r.result.Files), r.result.Notes)
		}
		return n
	}
	if n := included(Limits{}); n != 16 {
		t.Errorf("%d files by default", n)
	}
	if n := included(Limits{Artifacts: 3}); n != 3 {
		t.Errorf("%d files of 3", n)
	}
	if n := included(Limits{ArtifactSize: 550}); n != 5 {
		t.Errorf("%d files in 550 bytes", n)
	}
}
