package transport

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sallyport.dev/sallyport/internal/mcp"
)

// endpoint is a server that listens, and a client that sends raw requests to it.
type endpoint struct {
	t       *testing.T
	server  *testServer
	handler *HTTPHandler
	address string
	client  *http.Client
	ended   chan error
	cancel  context.CancelFunc
}

func startHTTP(t *testing.T, opts HTTPOptions) *endpoint {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	e := &endpoint{t: t, server: newTestServer(), client: &http.Client{Transport: &http.Transport{}}, ended: make(chan error, 1), cancel: cancel}
	var err error
	if e.handler, err = NewHTTPHandler(e.server.Server, opts); err != nil {
		t.Fatal(err)
	}
	listener, err := Listen(ctx, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e.address = listener.Addr().String()
	go func() { e.ended <- Serve(ctx, listener, e.handler) }()
	t.Cleanup(func() {
		cancel()
		e.client.CloseIdleConnections()
	})
	return e
}

// got is an answer over HTTP.
type got struct {
	status  int
	header  http.Header
	body    string
	session string
}

func (g got) reply(t *testing.T) reply { t.Helper(); return parseReply(t, strings.TrimSpace(g.body)) }

type edit func(*http.Request)

func header(name, value string) edit {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func inSession(id string) edit { return header(sessionHeader, id) }

func host(name string) edit { return func(r *http.Request) { r.Host = name } }

func (e *endpoint) new(method string, body io.Reader, edits ...edit) *http.Request {
	e.t.Helper()
	r, err := http.NewRequestWithContext(e.t.Context(), method, "http://"+e.address+"/mcp", body)
	if err != nil {
		e.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for _, edit := range edits {
		edit(r)
	}
	return r
}

func (e *endpoint) do(r *http.Request) got {
	e.t.Helper()
	response, err := e.client.Do(r)
	if err != nil {
		e.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	return got{response.StatusCode, response.Header, string(body), response.Header.Get(sessionHeader)}
}

func (e *endpoint) post(body string, edits ...edit) got {
	e.t.Helper()
	return e.do(e.new(http.MethodPost, strings.NewReader(body), edits...))
}

func (e *endpoint) begin(version string, edits ...edit) (session string) {
	e.t.Helper()
	g := e.post(initialize(1, version), edits...)
	if g.status != http.StatusOK || g.session == "" || !strings.Contains(g.body, `"protocolVersion":"`+version+`"`) {
		e.t.Fatalf("initialize: %d %s", g.status, g.body)
	}
	if g2 := e.post(initialized, append(edits, inSession(g.session))...); g2.status != http.StatusAccepted {
		e.t.Fatalf("initialized: %d %s", g2.status, g2.body)
	}
	return g.session
}

// stateless makes a request of the later era, with the headers that it needs.
func (e *endpoint) stateless(id any, method string, params map[string]any, edits ...edit) *http.Request {
	edits = append([]edit{header(versionHeader, "2026-07-28"), header("Mcp-Method", method)}, edits...)
	if name, ok := params["name"].(string); ok {
		edits = append(edits, header("Mcp-Name", name))
	}
	return e.new(http.MethodPost, strings.NewReader(request(id, method, modern(params))), edits...)
}

// abandon starts a request and leaves once it runs.
func (e *endpoint) abandon(r *http.Request) {
	e.t.Helper()
	ctx, cancel := context.WithCancel(e.t.Context())
	left := make(chan error, 1)
	go func() {
		response, err := e.client.Do(r.WithContext(ctx))
		if err == nil {
			response.Body.Close()
		}
		left <- err
	}()
	await(e.t, "the call", e.server.started)
	cancel()
	await(e.t, "its cancellation", e.server.cancelled)
	await(e.t, "the client's end", left)
}

func TestHTTPSpeaksEveryRevision(t *testing.T) {
	e := startHTTP(t, HTTPOptions{})
	for _, version := range []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
		session := e.begin(version)
		g := e.post(call(2, "echo", map[string]any{"text": version}), inSession(session), header(versionHeader, version))
		if text := g.reply(t).text(t); text != version {
			t.Errorf("%s: got %q", version, text)
		}
	}
	if g := e.do(e.stateless(1, "server/discover", map[string]any{})); g.status != http.StatusOK || !strings.Contains(g.body, "2026-07-28") {
		t.Errorf("discover: %d %s", g.status, g.body)
	}
	g := e.do(e.stateless(2, "tools/call", map[string]any{"name": "echo", "arguments": map[string]any{"text": "new"}}))
	if text := g.reply(t).text(t); text != "new" || g.session != "" {
		t.Errorf("got %q, session %q", text, g.session)
	}
}

func TestHTTPPeersWithTheSDKClient(t *testing.T) {
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		t.Run(version, func(t *testing.T) {
			e := startHTTP(t, HTTPOptions{})
			client := sdk.NewClient(&sdk.Implementation{Name: "c", Version: "1"}, nil)
			session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: "http://" + e.address + "/mcp", HTTPClient: e.client},
				&sdk.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "hi"}})
			if err != nil || result.Content[0].(*sdk.TextContent).Text != "hi" {
				t.Fatalf("got %v, %v", result, err)
			}
			for range 100 {
				ctx, cancel := context.WithCancel(t.Context())
				failed := make(chan error, 1)
				go func() {
					_, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "slow"})
					failed <- err
				}()
				await(t, "the slow call", e.server.started)
				cancel()
				await(t, "its cancellation", e.server.cancelled)
				if err := await(t, "its error", failed); !errors.Is(err, context.Canceled) {
					t.Fatalf("got %v", err)
				}
			}
			if _, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "alive"}}); err != nil {
				t.Errorf("after 100 cancelled calls: %v", err)
			}
		})
	}
}

func TestHTTPHostAndOrigin(t *testing.T) {
	e := startHTTP(t, HTTPOptions{AllowedHosts: []string{"mcp-gateway", "gw.example.com:8443"}, AllowedOrigins: []string{"https://app.example.org"}})
	_, port, _ := net.SplitHostPort(e.address)
	for _, test := range []struct {
		name   string
		edits  []edit
		status int
		text   string
	}{
		{"as connected", nil, 200, ""},
		{"localhost, mapped port", []edit{host("LocalHost:9000")}, 200, ""},
		{"loopback IPv6", []edit{host("[::1]:9000")}, 200, ""},
		{"listed name", []edit{host("mcp-gateway:" + port)}, 200, ""},
		{"listed name, no port", []edit{host("mcp-gateway")}, 200, ""},
		{"listed name in capitals", []edit{host("MCP-Gateway:" + port)}, 200, ""},
		{"listed name with port", []edit{host("gw.example.com:8443")}, 200, ""},
		{"listed name, other port", []edit{host("mcp-gateway:1")}, 403, "allowed hosts"},
		{"port listed, none sent", []edit{host("gw.example.com")}, 403, "allowed hosts"},
		{"other name", []edit{host("other-name:" + port)}, 403, "allowed hosts"},
		{"rebound name", []edit{host("127.0.0.1.evil.example:" + port)}, 403, "allowed hosts"},
		{"name that ends like ours", []edit{host("evil-localhost:" + port)}, 403, "allowed hosts"},
		{"any address", []edit{host("0.0.0.0:" + port)}, 403, "allowed hosts"},
		{"other address", []edit{host("192.0.2.1:" + port)}, 403, "allowed hosts"},
		{"same origin", []edit{header("Origin", "http://"+e.address)}, 200, ""},
		{"listed origin", []edit{header("Origin", "https://app.example.org")}, 200, ""},
		{"foreign origin", []edit{header("Origin", "https://evil.example")}, 403, "allowed origins"},
		{"other port of this machine", []edit{header("Origin", "http://127.0.0.1:1")}, 403, "allowed origins"},
		{"origin with a path", []edit{func(r *http.Request) { r.Header.Set("Origin", "http://"+r.Host+"/page") }}, 403, "allowed origins"},
		{"null origin", []edit{header("Origin", "null")}, 403, "allowed origins"},
		{"two origins", []edit{func(r *http.Request) {
			r.Header["Origin"] = []string{"https://app.example.org", "https://evil.example"}
		}}, 403, "allowed origins"},
		{"both foreign", []edit{host("evil.example"), header("Origin", "http://evil.example")}, 403, "allowed hosts"},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := e.post(initialize(1, "2025-11-25"), test.edits...)
			if g.status != test.status || !strings.Contains(g.body, test.text) {
				t.Errorf("got %d %s", g.status, g.body)
			}
			// The checks come before anything else, /healthz included.
			r := e.new(http.MethodGet, nil, test.edits...)
			r.URL.Path = "/healthz"
			if g := e.do(r); g.status != test.status {
				t.Errorf("/healthz: got %d", g.status)
			}
		})
	}
	for _, bad := range []string{"", "http://x", "*.example.com", "a b", "x:"} {
		if _, err := NewHTTPHandler(e.server.Server, HTTPOptions{AllowedHosts: []string{bad}}); err == nil {
			t.Errorf("allowed host %q was taken", bad)
		}
	}
}

func TestHostOfANonLoopbackConnection(t *testing.T) {
	list, err := newHostList([]string{"mcp-gateway"})
	if err != nil {
		t.Fatal(err)
	}
	local := netip.MustParseAddrPort("172.17.0.2:8080")
	for host, want := range map[string]bool{
		"172.17.0.2:8080": true, "172.17.0.3:8080": false, "mcp-gateway:8080": true, "mcp-gateway:8081": false, "evil:8080": false, "": false, "localhost.": false,
	} {
		if got := list.allows(host, local); got != want {
			t.Errorf("%q: got %v", host, got)
		}
	}
}

func TestHTTPBodies(t *testing.T) {
	const limit = 1 << 20
	e := startHTTP(t, HTTPOptions{Limits: mcp.Limits{Bytes: limit}})
	ping := request(1, "ping", nil)
	chunked := func(r *http.Request) { r.ContentLength = -1 }
	deep := `{"jsonrpc":"2.0","id":8,"method":"ping","params":{"x":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}}`
	for _, test := range []struct {
		name   string
		body   io.Reader
		edits  []edit
		status int
		code   int
	}{
		{"too large", strings.NewReader(strings.Repeat(" ", limit+1)), nil, 413, mcp.CodeInvalidRequest},
		{"too large in chunks", io.LimitReader(zeros{}, 64<<20), []edit{chunked}, 413, mcp.CodeInvalidRequest},
		{"gzip", strings.NewReader(ping), []edit{header("Content-Encoding", "gzip")}, 415, mcp.CodeInvalidRequest},
		{"two encodings", strings.NewReader(ping), []edit{header("Content-Encoding", "identity, gzip")}, 415, mcp.CodeInvalidRequest},
		{"form", strings.NewReader(ping), []edit{header("Content-Type", "application/x-www-form-urlencoded")}, 415, mcp.CodeInvalidRequest},
		{"text", strings.NewReader(ping), []edit{header("Content-Type", "text/plain")}, 415, mcp.CodeInvalidRequest},
		{"no type", strings.NewReader(ping), []edit{header("Content-Type", "")}, 415, mcp.CodeInvalidRequest},
		{"deep", strings.NewReader(deep), nil, 400, mcp.CodeInvalidRequest},
		{"deep, no object", strings.NewReader(strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)), nil, 400, mcp.CodeInvalidRequest},
		{"garbage", strings.NewReader("hello"), nil, 400, mcp.CodeParse},
		{"empty", strings.NewReader(""), nil, 400, mcp.CodeParse},
		{"batch", strings.NewReader("[" + ping + "]"), nil, 400, mcp.CodeInvalidRequest},
		{"two messages", strings.NewReader(ping + ping), nil, 400, mcp.CodeInvalidRequest},
		{"duplicate member", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","method":"ping"}`), nil, 400, mcp.CodeInvalidRequest},
		{"charset", strings.NewReader(initialize(1, "2025-11-25")), []edit{header("Content-Type", "application/json; charset=utf-8"), header("Content-Encoding", "identity")}, 200, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := e.do(e.new(http.MethodPost, test.body, test.edits...))
			if g.status != test.status {
				t.Fatalf("got %d %s", g.status, g.body)
			}
			if test.code != 0 {
				if r := g.reply(t); r.Error == nil || r.Error.Code != test.code {
					t.Errorf("got %s", g.body)
				}
			}
		})
	}
	if held := e.handler.bodies.held.Load(); held != 0 {
		t.Errorf("%d bytes are still counted as held", held)
	}
}

// Content-Length is a claim. Nothing may be reserved for it, nor waited for.
func TestHTTPLyingContentLength(t *testing.T) {
	e := startHTTP(t, HTTPOptions{BodyTimeout: 50 * time.Millisecond})
	for length, status := range map[string]string{"99999999999": "413", "1000": "408"} {
		conn, err := net.Dial("tcp", e.address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(patience))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %s\r\n\r\n{", e.address, length)
		answer, err := io.ReadAll(bufio.NewReader(conn))
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatalf("length %s: the connection stays open: %v", length, err)
		}
		if !strings.HasPrefix(string(answer), "HTTP/1.1 "+status) {
			t.Errorf("length %s: got %.100s", length, answer)
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 8<<20 {
			t.Errorf("length %s: allocated %d bytes", length, grown)
		}
	}
}

// What is refused for where it comes from is answered before its body has come, and a body that
// never comes does not hold the connection.
func TestHTTPRefusesWithoutTheBody(t *testing.T) {
	token, err := NewToken([]byte("0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	e := startHTTP(t, HTTPOptions{Tokens: []Token{token}, BodyTimeout: 50 * time.Millisecond})
	for path, test := range map[string]struct{ host, status string }{
		"/mcp": {e.address, "401"}, "/mcp?": {"evil.example", "403"}, "/other": {e.address, "404"},
	} {
		conn, err := net.Dial("tcp", e.address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(patience))
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{", path, test.host)
		answer, err := io.ReadAll(bufio.NewReader(conn))
		if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 "+test.status) {
			t.Errorf("%s: got %.60q, %v", path, answer, err)
		}
	}
}

func TestHTTPBodiesShareMemory(t *testing.T) {
	b := bodyReader{limit: 100, timeout: time.Second, shared: 150}
	read := func() (func(), error) {
		r, _ := http.NewRequest(http.MethodPost, "/mcp", strings.NewReader(strings.Repeat("x", 100)))
		r.Header.Set("Content-Type", "application/json")
		_, release, err := b.read(discard{http.Header{}}, r)
		return release, err
	}
	release, err := read()
	if err != nil {
		t.Fatal(err)
	}
	var refused *httpError
	if _, err := read(); !errors.As(err, &refused) || refused.status != http.StatusServiceUnavailable {
		t.Errorf("got %v", err)
	}
	release()
	if release, err = read(); err != nil {
		t.Errorf("after release: %v", err)
	}
	release()
	if b.held.Load() != 0 {
		t.Errorf("%d bytes are still counted", b.held.Load())
	}
}

func TestHTTPClientThatDoesNotRead(t *testing.T) {
	e := startHTTP(t, HTTPOptions{WriteTimeout: 50 * time.Millisecond})
	session := e.begin("2025-11-25")
	conn, err := net.Dial("tcp", e.address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	body := call(1, "echo", map[string]any{"text": "x", "repeat": 12 << 20}) // more than sockets hold
	fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: %s\r\nMcp-Session-Id: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: %d\r\n\r\n%s",
		e.address, session, len(body), body)
	eventually(t, "the request to begin", func() bool { return e.handler.running.Load() == 1 })
	eventually(t, "the end of the request", func() bool { return e.handler.running.Load() == 0 })
	if g := e.post(request(2, "ping", nil), inSession(session)); g.status != 200 {
		t.Errorf("the session afterwards: %d %s", g.status, g.body)
	}
}

// A connection that is used again must not keep the limits of what went before.
func TestHTTPLimitsAreForOneRequest(t *testing.T) {
	e := startHTTP(t, HTTPOptions{WriteTimeout: 20 * time.Millisecond, BodyTimeout: 20 * time.Millisecond})
	session := e.begin("2025-11-25")
	for _, edits := range [][]edit{{inSession(session)}, {inSession("unknown")}, {inSession(session)}} {
		time.Sleep(40 * time.Millisecond)
		e.post(request(1, "ping", nil), edits...) // fails the test when the connection breaks
	}
	answered := make(chan got, 1)
	go func() { answered <- e.post(call(2, "slow", nil), inSession(session)) }()
	await(t, "the slow call", e.server.started)
	time.Sleep(40 * time.Millisecond)
	if e.server.running.Load() != 1 {
		t.Error("a limit of reading or writing has ended a call")
	}
	e.post(fmt.Sprintf(cancelled, "2"), inSession(session))
	if g := await(t, "the answer", answered); g.status != 200 {
		t.Errorf("got %d %s", g.status, g.body)
	}
}

func TestHTTPSessions(t *testing.T) {
	e := startHTTP(t, HTTPOptions{})
	list := request(2, "tools/list", nil)
	if g := e.post(list, inSession("does-not-exist")); g.status != 404 || g.reply(t).Error.Code != codeSession || string(g.reply(t).ID) != "2" {
		t.Errorf("unknown session: %d %s", g.status, g.body)
	}
	if g := e.post(list); g.status != 400 || !strings.Contains(g.body, "Mcp-Session-Id") {
		t.Errorf("no session: %d %s", g.status, g.body)
	}
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		if g := e.do(e.new(method, nil)); g.status != 400 {
			t.Errorf("%s without session: %d %s", method, g.status, g.body)
		}
	}
	session := e.begin("2025-11-25")
	if g := e.post(list, inSession(session)); g.status != 200 || !strings.Contains(g.body, "slow") {
		t.Errorf("list: %d %s", g.status, g.body)
	}
	if g := e.post(request(3, "nobody/offers", nil), inSession(session)); g.status != 200 || g.reply(t).Error.Code != codeMethodNotFound || string(g.reply(t).ID) != "3" {
		t.Errorf("unknown method: %d %s", g.status, g.body)
	}
	if g := e.post(`{"jsonrpc":"2.0","id":99,"result":{}}`, inSession(session)); g.status != 202 {
		t.Errorf("stray response: %d %s", g.status, g.body)
	}
	if g := e.post(initialize(4, "2025-06-18"), inSession(session)); g.status != 200 || g.reply(t).Error == nil {
		t.Errorf("second initialize: %d %s", g.status, g.body)
	}
	if g := e.do(e.new(http.MethodPut, nil, inSession(session))); g.status != 405 {
		t.Errorf("PUT: %d", g.status)
	}

	// A deleted session takes its calls with it.
	ended := make(chan got, 1)
	go func() { ended <- e.post(call(5, "slow", nil), inSession(session)) }()
	await(t, "the slow call", e.server.started)
	if g := e.do(e.new(http.MethodDelete, nil, inSession(session))); g.status != 204 {
		t.Errorf("DELETE: %d %s", g.status, g.body)
	}
	await(t, "its cancellation", e.server.cancelled)
	await(t, "its answer", ended)
	for _, body := range []string{request(6, "ping", nil), initialize(7, "2025-11-25")} {
		if g := e.post(body, inSession(session)); g.status != 404 {
			t.Errorf("after DELETE: %d %s", g.status, g.body)
		}
	}
	if g := e.do(e.new(http.MethodDelete, nil, inSession(session))); g.status != 404 {
		t.Errorf("second DELETE: %d", g.status)
	}
}

func TestHTTPStatelessEraHasNoSessions(t *testing.T) {
	e := startHTTP(t, HTTPOptions{})
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		if g := e.do(e.new(method, nil, header(versionHeader, "2026-07-28"))); g.status != 405 {
			t.Errorf("%s: %d %s", method, g.status, g.body)
		}
	}
	for name, test := range map[string]struct {
		request *http.Request
		status  int
		code    int
	}{
		"unknown method":          {e.stateless(1, "nobody/offers", map[string]any{}), 404, codeMethodNotFound},
		"header and body differ":  {e.stateless(1, "tools/call", map[string]any{"name": "echo", "arguments": map[string]any{"text": "x"}}, header("Mcp-Method", "tools/list")), 400, -32020},
		"body without header":     {e.new(http.MethodPost, strings.NewReader(request(1, "tools/list", modern(map[string]any{})))), 400, -32020},
		"header without body":     {e.new(http.MethodPost, strings.NewReader(request(1, "tools/list", nil)), header(versionHeader, "2026-07-28"), header("Mcp-Method", "tools/list")), 400, mcp.CodeInvalidParams},
		"feature nobody offers":   {e.stateless(1, "prompts/list", map[string]any{}), 404, codeMethodNotFound},
		"unknown tool":            {e.stateless(1, "tools/call", map[string]any{"name": "nobody", "arguments": map[string]any{}}), 400, mcp.CodeInvalidParams},
		"initialize in this era":  {e.stateless(1, "initialize", map[string]any{}), 404, codeMethodNotFound},
		"revision of next decade": {e.stateless(1, "tools/list", map[string]any{}, header(versionHeader, "2036-01-01")), 400, -32020},
	} {
		t.Run(name, func(t *testing.T) {
			g := e.do(test.request)
			if r := g.reply(t); g.status != test.status || r.Error == nil || r.Error.Code != test.code || string(r.ID) != "1" {
				t.Errorf("got %d %s", g.status, g.body)
			}
		})
	}
}

func TestHTTPStreamsCannotBeResumed(t *testing.T) {
	e := startHTTP(t, HTTPOptions{})
	session := e.begin("2025-11-25")
	for _, last := range []string{"", "x_1", strings.Repeat("z", 20_000)} {
		r := e.new(http.MethodGet, nil, inSession(session))
		r.Header["Last-Event-Id"] = []string{last}
		if g := e.do(r); g.status != 400 || !strings.Contains(g.body, "resumed") || len(g.body) > 1000 {
			t.Errorf("Last-Event-ID of %d bytes: %d %.100s", len(last), g.status, g.body)
		}
	}
	// Without one, the stream opens.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	response, err := e.client.Do(e.new(http.MethodGet, nil, inSession(session)).WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != 200 || response.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("GET: %d %s", response.StatusCode, response.Header.Get("Content-Type"))
	}
}

func TestHTTPClientThatLeavesCancelsItsCall(t *testing.T) {
	e := startHTTP(t, HTTPOptions{})
	one, other := e.begin("2025-11-25"), e.begin("2025-06-18")
	kept := make(chan got, 1)
	go func() { kept <- e.post(call(1, "slow", nil), inSession(other)) }()
	await(t, "the other client's call", e.server.started)

	before := runtime.NumGoroutine()
	for i := range 50 {
		e.abandon(e.new(http.MethodPost, strings.NewReader(call(i, "slow", nil)), inSession(one)))
		e.abandon(e.stateless(i, "tools/call", map[string]any{"name": "slow", "arguments": map[string]any{}}))
	}
	// The session outlives its calls, a new client works at once, and nobody else was touched.
	if g := e.post(call(1000, "echo", map[string]any{"text": "alive"}), inSession(one)); g.reply(t).text(t) != "alive" {
		t.Errorf("got %s", g.body)
	}
	e.begin("2024-11-05")
	if n := e.server.running.Load(); n != 1 {
		t.Errorf("%d calls run, want the other client's", n)
	}
	settled(t, before+4) // idle connections of the client come and go
	if g := e.post(fmt.Sprintf(cancelled, "1"), inSession(other)); g.status != 202 {
		t.Errorf("cancelling: %d", g.status)
	}
	await(t, "the answer of the other call", kept)
}

func TestHTTPAnswersWhileACallRuns(t *testing.T) {
	e := startHTTP(t, HTTPOptions{})
	session := e.begin("2025-11-25")
	slow := make(chan got, 1)
	go func() { slow <- e.post(call(1, "slow", nil), inSession(session)) }()
	await(t, "the slow call", e.server.started)
	if g := e.post(request(2, "ping", nil), inSession(session)); g.status != 200 {
		t.Errorf("ping: %d", g.status)
	}
	if g := e.post(call(1, "echo", map[string]any{"text": "x"}), inSession(session)); g.status != 400 || !strings.Contains(g.body, "in-flight") {
		t.Errorf("an id in flight: %d %s", g.status, g.body)
	}
	e.cancel()
	await(t, "its end", slow)
}

func TestHTTPTokens(t *testing.T) {
	const a, b = "0123456789abcdef-a", "0123456789abcdef-b"
	tokens := make([]Token, 0, 2)
	for _, text := range []string{a, b + "\n"} {
		token, err := NewToken([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, token)
	}
	e := startHTTP(t, HTTPOptions{Tokens: tokens})
	bearer := func(text string) edit { return header("Authorization", "Bearer "+text) }
	for name, edits := range map[string][]edit{
		"none": nil, "wrong": {bearer("0123456789abcdef-c")}, "prefix": {bearer(a[:len(a)-1])}, "longer": {bearer(a + "x")}, "empty": {bearer("")},
		"basic": {header("Authorization", "Basic "+a)},
		"two":   {func(r *http.Request) { r.Header["Authorization"] = []string{"Bearer " + a, "Bearer " + b} }},
	} {
		g := e.post(initialize(1, "2025-11-25"), edits...)
		if g.status != 401 || g.header.Get("WWW-Authenticate") != "Bearer" || strings.Contains(g.body, "0123") {
			t.Errorf("%s: %d %s", name, g.status, g.body)
		}
		r := e.new(http.MethodGet, nil, edits...)
		r.URL.Path = "/healthz"
		if g := e.do(r); g.status != 200 || g.body != "ok\n" {
			t.Errorf("%s: /healthz: %d %s", name, g.status, g.body)
		}
	}

	session := e.begin("2025-11-25", bearer(a))
	if g := e.post(request(2, "ping", nil), inSession(session), header("Authorization", "bearer "+a)); g.status != 200 {
		t.Errorf("its owner: %d %s", g.status, g.body)
	}
	// A session id is no authority: with another token the session does not exist.
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		if g := e.do(e.new(method, strings.NewReader(request(3, "ping", nil)), inSession(session), bearer(b))); g.status != 404 {
			t.Errorf("%s by another: %d %s", method, g.status, g.body)
		}
	}
	if g := e.post(request(4, "ping", nil), inSession(session), bearer(a)); g.status != 200 {
		t.Errorf("its owner afterwards: %d %s", g.status, g.body)
	}
}

func TestHTTPNamesTheClient(t *testing.T) {
	token, err := NewToken([]byte("0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	client := func(e *endpoint, edits ...edit) string {
		return e.do(e.stateless(1, "tools/call", map[string]any{"name": "client", "arguments": map[string]any{}}, edits...)).reply(t).text(t)
	}
	if got := client(startHTTP(t, HTTPOptions{})); got != "http 127.0.0.1" {
		t.Errorf("stateless: %q", got)
	}
	if got := client(startHTTP(t, HTTPOptions{Tokens: []Token{token}}), header("Authorization", "Bearer 0123456789abcdef")); got != "http "+token.String() {
		t.Errorf("stateless with token: %q", got)
	}
	e := startHTTP(t, HTTPOptions{})
	names := make(map[string]bool)
	for range 2 {
		session := e.begin("2025-11-25")
		for id := range 2 {
			names[e.post(call(id, "client", nil), inSession(session)).reply(t).text(t)] = true
		}
	}
	if len(names) != 2 {
		t.Errorf("two sessions with two calls each have the names %v", names)
	}
}

func TestHTTPBoundsSessions(t *testing.T) {
	e := startHTTP(t, HTTPOptions{Sessions: 2})
	one, two := e.begin("2025-11-25"), e.begin("2025-11-25")
	busyCall := make(chan got, 1)
	go func() { busyCall <- e.post(call(1, "slow", nil), inSession(one)) }()
	await(t, "the slow call", e.server.started)
	three := e.begin("2025-11-25") // takes the place of the one that is not in use
	if g := e.post(request(2, "ping", nil), inSession(two)); g.status != 404 {
		t.Errorf("the session that gave way: %d", g.status)
	}
	other := make(chan got, 1)
	go func() { other <- e.post(call(1, "slow", nil), inSession(three)) }()
	await(t, "the second slow call", e.server.started)
	if g := e.post(initialize(1, "2025-11-25")); g.status != 503 || g.header.Get("Retry-After") == "" {
		t.Errorf("all in use: %d %s", g.status, g.body)
	}
	e.cancel()
	await(t, "the end of the first call", busyCall)
	await(t, "the end of the second call", other)
}

func TestSessionTableForgetsIdleSessions(t *testing.T) {
	now := time.Unix(0, 0)
	table := newSessionTable(10, time.Minute)
	table.now = func() time.Time { return now }
	table.add("idle", "a")
	table.add("busy", "a")
	table.enter("busy", "a", "1")
	now = now.Add(2 * time.Minute)
	if closed, ok := table.room("b"); !ok || len(closed) != 1 || closed[0] != "idle" {
		t.Errorf("closed %v, %v", closed, ok)
	}
	if table.enter("busy", "b", "") || !table.enter("busy", "a", "") {
		t.Error("a session is not bound to its owner")
	}
}

func TestHTTPBoundsRequests(t *testing.T) {
	e := startHTTP(t, HTTPOptions{Requests: 1})
	session := e.begin("2025-11-25")
	slow := make(chan got, 1)
	go func() { slow <- e.post(call(1, "slow", nil), inSession(session)) }()
	await(t, "the slow call", e.server.started)
	if g := e.post(request(2, "ping", nil), inSession(session)); g.status != 503 || g.header.Get("Retry-After") == "" {
		t.Errorf("got %d %s", g.status, g.body)
	}
	e.cancel()
	await(t, "the end of the call", slow)
}

func TestServeStopsCleanly(t *testing.T) {
	before := runtime.NumGoroutine()
	e := startHTTP(t, HTTPOptions{})
	session := e.begin("2025-11-25")
	ended := make(chan error, 3)
	for _, r := range []*http.Request{
		e.new(http.MethodPost, strings.NewReader(call(1, "slow", nil)), inSession(session)),
		e.stateless(1, "tools/call", map[string]any{"name": "slow", "arguments": map[string]any{}}),
		e.new(http.MethodGet, nil, inSession(session)),
	} {
		go func() {
			response, err := e.client.Do(r)
			if err == nil {
				_, err = io.Copy(io.Discard, response.Body)
				response.Body.Close()
			}
			ended <- err
		}()
	}
	await(t, "a call", e.server.started)
	await(t, "another call", e.server.started)
	e.cancel()
	if err := await(t, "the end", e.ended); err != nil {
		t.Errorf("serving: %v", err)
	}
	if n := e.server.running.Load(); n != 0 {
		t.Errorf("%d calls still run", n)
	}
	for range 3 {
		await(t, "the end of a request", ended)
	}
	if open := e.handler.sessions.drain(); len(open) != 0 {
		t.Errorf("%d sessions are still open", len(open))
	}
	e.client.CloseIdleConnections()
	settled(t, before)
	if _, err := net.Dial("tcp", e.address); err == nil {
		t.Error("the address still answers")
	}
}

func TestServeRefusesToBeOpen(t *testing.T) {
	server := newTestServer()
	open, err := NewHTTPHandler(server.Server, HTTPOptions{})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := Listen(t.Context(), "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := Serve(t.Context(), listener, open); err == nil || !strings.Contains(err.Error(), "token") {
		t.Errorf("got %v", err)
	}
	if _, err := listener.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the listener stays open: %v", err)
	}
	// The handler itself does not answer such a connection either.
	r, _ := http.NewRequest(http.MethodPost, "/mcp", strings.NewReader("{}"))
	r.Host = "192.0.2.1:80"
	r = r.WithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80}))
	w := &recorder{header: http.Header{}}
	open.ServeHTTP(w, r)
	if w.status != 403 || !strings.Contains(w.body.String(), "token") {
		t.Errorf("got %d %s", w.status, w.body.String())
	}
	if _, err := NewHTTPHandler(server.Server, HTTPOptions{Tokens: []Token{{}}}); err == nil {
		t.Error("an empty token was taken")
	}
	if loopback, err := Listen(t.Context(), ":0"); err != nil || !isLoopback(addrPort(loopback.Addr())) {
		t.Errorf("a port alone is not loopback: %v", err)
	} else {
		loopback.Close()
	}
}

type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(status int)      { r.status = status }
func (r *recorder) Write(p []byte) (int, error) { return r.body.Write(p) }

func TestHTTPAnswersAreJSON(t *testing.T) {
	e := startHTTP(t, HTTPOptions{})
	session := e.begin("2025-11-25")
	for name, g := range map[string]got{
		"SDK refuses the Accept":  e.post(request(1, "ping", nil), inSession(session), header("Accept", "text/html")),
		"SDK refuses the version": e.post(request(1, "ping", nil), inSession(session), header(versionHeader, "1999-01-01")),
		"SDK misses the params":   e.post(request(1, "prompts/get", nil), inSession(session)),
	} {
		if r := g.reply(t); g.status != 400 || !json.Valid([]byte(g.body)) || string(r.ID) != "1" || r.Error == nil {
			t.Errorf("%s: %d %s", name, g.status, g.body)
		}
	}
}
