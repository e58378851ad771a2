package transport

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sallyport.dev/sallyport/internal/mcp"
)

// HTTPOptions are the guards and limits of a server over HTTP. Fields that are zero take their
// defaults, and the defaults let in loopback names only.
type HTTPOptions struct {
	// Tokens admit their bearers. Without any, requests over loopback alone are answered.
	Tokens []Token
	// AllowedHosts are names, with or without a port, that Host may carry besides loopback
	// names and the address that was connected to.
	AllowedHosts []string
	// AllowedOrigins are origins of web pages that may call, such as https://app.example.org.
	AllowedOrigins []string

	Limits mcp.Limits

	BodyTimeout  time.Duration // for a whole body to arrive (30 s)
	WriteTimeout time.Duration // for a client to take one piece of an answer (30 s)
	Requests     int           // answered at once, streams included (512)
	Sessions     int           // of one token, handshake era (256)
	SessionIdle  time.Duration // without a request, handshake era (30 min)
	Stop         time.Duration // for calls to end after their cancellation (5 s)
}

func (o HTTPOptions) orDefault() HTTPOptions {
	o.Limits = o.Limits.OrDefault()
	o.BodyTimeout = orDefault(o.BodyTimeout, 30*time.Second)
	o.WriteTimeout = orDefault(o.WriteTimeout, 30*time.Second)
	o.Requests = orDefault(o.Requests, 512)
	o.Sessions = orDefault(o.Sessions, 256)
	o.SessionIdle = orDefault(o.SessionIdle, 30*time.Minute)
	o.Stop = orDefault(o.Stop, 5*time.Second)
	return o
}

func orDefault[T int | time.Duration](value, otherwise T) T {
	if value <= 0 {
		return otherwise
	}
	return value
}

// firstStateless is the first revision without sessions.
const firstStateless = "2026-07-28"

const versionHeader = "Mcp-Protocol-Version"

// An HTTPHandler serves MCP at /mcp, and "ok" at /healthz.
type HTTPHandler struct {
	opts     HTTPOptions
	hosts    hostList
	bodies   bodyReader
	sessions *sessionTable
	running  atomic.Int64

	// One handler of the SDK serves one era.
	handshake, stateless http.Handler
}

// NewHTTPHandler makes a handler over a server, to which it adds a middleware that answers methods
// of features that the server does not declare. Close ends its sessions.
func NewHTTPHandler(server *sdk.Server, opts HTTPOptions) (*HTTPHandler, error) {
	opts = opts.orDefault()
	hosts, err := newHostList(opts.AllowedHosts)
	if err != nil {
		return nil, err
	}
	for _, token := range opts.Tokens {
		if token == (Token{}) {
			return nil, errors.New("a token is empty")
		}
	}
	server.AddReceivingMiddleware(onlyOffered(server))
	get := func(*http.Request) *sdk.Server { return server }
	limit := int64(opts.Limits.Bytes)
	return &HTTPHandler{
		opts:     opts,
		hosts:    hosts,
		bodies:   bodyReader{limit: limit, timeout: opts.BodyTimeout, shared: 4 * limit},
		sessions: newSessionTable(opts.Sessions, opts.SessionIdle),
		// The SDK's own Host check knows no list; ours runs before it. Answers are plain JSON:
		// streams that cannot be resumed gain nothing from being events.
		handshake: sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{
			JSONResponse: true, SessionTimeout: opts.SessionIdle, MaxRequestBodyBytes: limit, DisableLocalhostProtection: true,
		}),
		stateless: sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{
			JSONResponse: true, Stateless: true, MaxRequestBodyBytes: limit, DisableLocalhostProtection: true,
			PropagateRequestCancellation: true,
		}),
	}, nil
}

// ServeHTTP judges where a request comes from before it looks at anything else.
func (h *HTTPHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		// A request that is refused leaves its body to net/http, which waits for it without end.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(h.opts.BodyTimeout))
	}
	local := localAddr(r)
	if !h.hosts.allows(r.Host, local) {
		deny(w, http.StatusForbidden, "", mcp.CodeInvalidRequest, "this Host is not allowed; name it in the allowed hosts (--allow-host) if it is yours")
		return
	}
	if !originAllowed(r, h.opts.AllowedOrigins) {
		deny(w, http.StatusForbidden, "", mcp.CodeInvalidRequest, "this Origin is not allowed; name it in the allowed origins (--allow-origin) if the page is yours")
		return
	}
	switch r.URL.Path {
	case "/mcp":
		h.serveMCP(w, r, local)
	case "/healthz":
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, "ok\n")
	default:
		w.Header().Set("Connection", "close") // as deny does for what is refused unread
		deny(w, http.StatusNotFound, "", mcp.CodeInvalidRequest, "nothing is here; the server is at /mcp")
	}
}

func (h *HTTPHandler) serveMCP(w http.ResponseWriter, r *http.Request, local netip.AddrPort) {
	if len(h.opts.Tokens) == 0 && local.IsValid() && !isLoopback(local) {
		// Serve refuses to start like this; a handler used otherwise must not be open either.
		deny(w, http.StatusForbidden, "", mcp.CodeInvalidRequest, "only loopback is served without a token")
		return
	}
	principal, ok := admit(h.opts.Tokens, r)
	if !ok {
		w.Header().Set("WWW-Authenticate", "Bearer")
		deny(w, http.StatusUnauthorized, "", mcp.CodeInvalidRequest, "a bearer token of this server is needed")
		return
	}
	if h.running.Add(1) > int64(h.opts.Requests) {
		h.running.Add(-1)
		busy(w, "too many requests at once; retry in a moment")
		return
	}
	defer h.running.Add(-1)

	var msg mcp.Message
	if r.Method == http.MethodPost {
		var release func()
		if msg, release, ok = h.message(w, r); !ok {
			return
		}
		defer release()
	}
	// The header decides; a body that claims the later era without it is told so by the SDK.
	if r.Header.Get(versionHeader) >= firstStateless || msg.Version != "" {
		h.serveStateless(w, r, msg, principal)
		return
	}
	h.serveHandshake(w, r, msg, principal)
}

// message reads and checks the body, and puts the checked bytes back for the SDK.
func (h *HTTPHandler) message(w http.ResponseWriter, r *http.Request) (msg mcp.Message, release func(), ok bool) {
	body, release, err := h.bodies.read(w, r)
	if err != nil {
		var answer *httpError
		switch {
		case !errors.As(err, &answer):
			deny(w, http.StatusInternalServerError, "", mcp.CodeInternal, "the body could not be read")
		case answer.status == http.StatusServiceUnavailable:
			busy(w, answer.text)
		default:
			deny(w, answer.status, "", mcp.CodeInvalidRequest, answer.text)
		}
		return mcp.Message{}, nil, false
	}
	msg, refusal := mcp.Check(body, h.opts.Limits)
	if refusal != nil {
		release()
		deny(w, http.StatusBadRequest, refusal.ID, refusal.Code, refusal.Reason)
		return mcp.Message{}, nil, false
	}
	if msg.Kind == mcp.Orphan {
		release()
		w.WriteHeader(http.StatusAccepted)
		return mcp.Message{}, nil, false
	}
	r.Body = io.NopCloser(bytes.NewReader(msg.Raw))
	r.ContentLength = int64(len(msg.Raw))
	return msg, release, true
}

func (h *HTTPHandler) serveStateless(w http.ResponseWriter, r *http.Request, msg mcp.Message, principal string) {
	client := principal
	if client == "" {
		client = r.RemoteAddr
		if addr, err := netip.ParseAddrPort(client); err == nil {
			client = addr.Addr().String()
		}
	}
	a := h.answer(w, msg)
	defer a.finish()
	h.stateless.ServeHTTP(a, r.WithContext(withClient(r.Context(), "http "+client)))
}

func (h *HTTPHandler) serveHandshake(w http.ResponseWriter, r *http.Request, msg mcp.Message, principal string) {
	if len(r.Header.Values("Last-Event-Id")) > 0 {
		deny(w, http.StatusBadRequest, msg.ID, mcp.CodeInvalidRequest, "streams of this server cannot be resumed; send the request again")
		return
	}
	id := r.Header.Get(sessionHeader)
	if id == "" {
		h.begin(w, r, msg, principal)
		return
	}
	var call mcp.ID
	if msg.Kind == mcp.Request {
		call = msg.ID
	}
	if !h.sessions.enter(id, principal, call) {
		deny(w, http.StatusNotFound, msg.ID, codeSession, "there is no such session; start one with initialize")
		return
	}
	defer h.sessions.leave(id, call)
	if r.Method == http.MethodDelete {
		// The SDK would let the session's calls run to their end first.
		for _, call := range h.sessions.calls(id) {
			h.cancel(id, call)
		}
	}
	a := h.answer(w, msg)
	defer a.finish()
	h.handshake.ServeHTTP(a, r)
	if a.status == http.StatusNotFound || (r.Method == http.MethodDelete && a.status < 300) {
		h.sessions.remove(id)
	}
	if r.Context().Err() != nil && call != "" && a.status == 0 {
		// The SDK lets a call of this era run on. Its answer could reach nobody.
		h.cancel(id, call)
	}
}

// begin serves a request without a session: initialize, or nothing.
func (h *HTTPHandler) begin(w http.ResponseWriter, r *http.Request, msg mcp.Message, principal string) {
	switch {
	case r.Method != http.MethodPost && r.Method != http.MethodGet && r.Method != http.MethodDelete:
		w.Header().Set("Allow", "GET, POST, DELETE")
		deny(w, http.StatusMethodNotAllowed, "", mcp.CodeInvalidRequest, "use GET, POST or DELETE")
		return
	case msg.Method != "initialize" || msg.Kind != mcp.Request:
		deny(w, http.StatusBadRequest, msg.ID, mcp.CodeInvalidRequest,
			"the Mcp-Session-Id header is missing; start a session with initialize, or name a protocol version from "+firstStateless+" on, which needs none")
		return
	}
	expired, ok := h.sessions.room(principal)
	for _, id := range expired {
		h.end(id)
	}
	if !ok {
		busy(w, fmt.Sprintf("%d sessions are in use; close one with DELETE", h.opts.Sessions))
		return
	}
	a := h.answer(w, msg)
	a.started = func(id string) { h.sessions.add(id, principal) }
	defer a.finish()
	// The whole session keeps this context's values.
	h.handshake.ServeHTTP(a, r.WithContext(withClient(r.Context(), "http session "+rand.Text())))
}

func (h *HTTPHandler) answer(w http.ResponseWriter, msg mcp.Message) *answer {
	return &answer{ResponseWriter: w, id: msg.ID, timeout: h.opts.WriteTimeout}
}

func busy(w http.ResponseWriter, text string) {
	w.Header().Set("Retry-After", "1")
	deny(w, http.StatusServiceUnavailable, "", mcp.CodeInternal, text)
}

// cancel ends a call for the client that left, in the client's own words.
func (h *HTTPHandler) cancel(session string, id mcp.ID) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":"the client has left"}}`, id)
	h.inject(http.MethodPost, session, body)
}

// end closes a session.
func (h *HTTPHandler) end(session string) { h.inject(http.MethodDelete, session, "") }

// inject hands the SDK a request of our own, as there is no other way to reach its sessions.
func (h *HTTPHandler) inject(method, session, body string) {
	r, err := http.NewRequestWithContext(context.Background(), method, "http://localhost/mcp", bytes.NewReader([]byte(body)))
	if err != nil {
		return // neither method nor address varies
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set(sessionHeader, session)
	h.handshake.ServeHTTP(discard{make(http.Header)}, r)
}

type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}

// Close ends all sessions. Calls must have been cancelled by the end of their requests, which
// Serve sees to; Close waits for them for as long as the options say.
func (h *HTTPHandler) Close() error {
	var wait sync.WaitGroup
	for _, id := range h.sessions.drain() {
		wait.Go(func() { h.end(id) })
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		wait.Wait()
	}()
	select {
	case <-ended:
		return nil
	case <-time.After(h.opts.Stop):
		return ErrStuck
	}
}
