package python

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ToolName is the name under which clients call the tool.
const ToolName = "run_python"

// Options configure the tool. Engine is required; the rest has defaults.
type Options struct {
	Engine  Engine
	Ceiling Limits // the operator's; the engine's own and these hold, whichever is stricter

	Running  int // calls at once; 0 is one more than the processors, so that a script that waits costs nobody a processor
	Waiting  int // calls in the queue; 0 is 32, below 0 is none
	MaxReply int // bytes of a reply; 0 is DefaultMaxReply

	// ClientKey names whoever calls, so that clients take turns. Without it a session is a client.
	ClientKey func(context.Context) string

	// Log gets a line for each call, with sizes and a digest, never code or output.
	Log *slog.Logger
}

// DefaultWaiting is how many calls may wait when nothing else is said.
const DefaultWaiting = 32

// A tool is run_python on one server.
type tool struct {
	Options
	server *mcp.Server
	queue  *Queue
	calls  atomic.Uint64

	mu        sync.Mutex
	described string // the description that clients see now
}

// Register adds run_python to the server. The tool is listed whatever state the engine is in; its
// description follows the live engine, and is brought up to date whenever tools are listed.
//
// It fails when the limits allow replies that are larger than a reply may be.
func Register(server *mcp.Server, o Options) error {
	if o.Engine == nil {
		return errors.New("registering run_python without an engine")
	}
	if o.Running <= 0 {
		o.Running = runtime.NumCPU() + 1
	}
	if o.Waiting == 0 {
		o.Waiting = DefaultWaiting
	}
	if o.MaxReply <= 0 {
		o.MaxReply = DefaultMaxReply
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	t := &tool{Options: o, server: server, queue: NewQueue(o.Running, o.Waiting)}
	l := t.limits(o.Engine.Describe())
	if err := checkReply(l, o.MaxReply); err != nil {
		return fmt.Errorf("registering run_python: %w", err)
	}
	// Whatever the engine reports later, replies stay as small as was just checked.
	t.Ceiling.OutputChars = l.OutputChars
	t.refresh()
	server.AddReceivingMiddleware(t.refreshBeforeListing)
	return nil
}

// limits are what holds for a call now.
func (t *tool) limits(c Capabilities) Limits { return c.Limits.Narrow(t.Ceiling).Filled() }

func (t *tool) refreshBeforeListing(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if method == "tools/list" {
			t.refresh()
		}
		return next(ctx, method, req)
	}
}

// refresh replaces the listed tool when the engine has something new to say, such as that it has
// been set up by now.
func (t *tool) refresh() {
	c := t.Engine.Describe()
	description := Describe(c, t.limits(c))
	t.mu.Lock()
	defer t.mu.Unlock()
	if description == t.described {
		return
	}
	t.described = description
	no := false
	t.server.AddTool(&mcp.Tool{
		Name:         ToolName,
		Title:        "Run Python",
		Description:  description,
		InputSchema:  json.RawMessage(inputSchema),
		OutputSchema: json.RawMessage(outputSchema),
		// A call changes nothing that anybody else can see: what it writes is thrown away, and it
		// has no network. So it only reads, may be repeated, and its world is closed.
		Annotations: &mcp.ToolAnnotations{
			Title: "Run Python", ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &no,
		},
	}, t.call)
}

// call handles one tools/call. Every way through it ends in a result that fits the output schema.
func (t *tool) call(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	n := t.calls.Add(1)
	l := t.limits(t.Engine.Describe())
	r, notes, err := parseArguments(req.Params.Arguments, l)
	if err == nil {
		l = r.Limits
	}
	began := time.Now()
	var o Outcome
	var queued time.Duration
	if err == nil {
		o, queued, err = t.run(ctx, t.client(ctx, req), r)
	}
	f := asFailure(err)
	t.log(ctx, n, r, o, f, queued, time.Since(began))
	return reply(o, f, l, notes, n, t.MaxReply), nil
}

// run waits for a place and runs the request. The time limit is the engine's to keep, and begins
// with the run, not in the queue.
func (t *tool) run(ctx context.Context, client string, r Request) (o Outcome, queued time.Duration, err error) {
	// Asked before queueing, so that a machine that is not set up says so at once.
	if c := t.Engine.Describe(); !c.Ready {
		return o, 0, &Failure{Kind: NotPrepared, Message: c.NotReady}
	}
	began := time.Now()
	leave, err := t.queue.Enter(ctx, client)
	queued = time.Since(began)
	if err != nil {
		return o, queued, err
	}
	defer leave()
	// A fault of an engine must not take the server, and the calls of others, with it.
	defer func() {
		if p := recover(); p != nil {
			err = &Failure{Kind: Internal, Cause: fmt.Errorf("panic: %v\n%s", p, debug.Stack())}
		}
	}()
	o, err = t.Engine.Run(ctx, r)
	return o, queued, err
}

func (t *tool) client(ctx context.Context, req *mcp.CallToolRequest) string {
	if t.ClientKey != nil {
		return t.ClientKey(ctx)
	}
	if req.Session != nil {
		return req.Session.ID()
	}
	return ""
}

// asFailure makes a failure of any error. One that an engine did not classify is a fault of the
// runner, and its text stays in the log.
func asFailure(err error) *Failure {
	if err == nil {
		return nil
	}
	var f *Failure
	if errors.As(err, &f) {
		return f
	}
	return &Failure{Kind: Internal, Cause: err}
}

func (t *tool) log(ctx context.Context, n uint64, r Request, o Outcome, f *Failure, queued, took time.Duration) {
	digest := sha256.Sum256([]byte(r.Code))
	attrs := []slog.Attr{
		slog.Uint64("call", n),
		slog.String("status", status(o, f)),
		slog.String("code_sha256", hex.EncodeToString(digest[:8])),
		slog.Int("code_bytes", len(r.Code)),
		slog.Int("stdin_bytes", len(r.Stdin)),
		slog.Int("files", len(r.Files)),
		slog.Int64("queued_ms", queued.Milliseconds()),
		slog.Int64("ms", took.Milliseconds()),
	}
	level := slog.LevelInfo
	if f != nil {
		if f.Partial != nil {
			o = *f.Partial
		}
		level = slog.LevelWarn
		attrs = append(attrs, slog.String("kind", string(f.Kind)))
		if f.Cause != nil {
			attrs = append(attrs, slog.String("cause", f.Cause.Error()))
		}
	}
	if o.ExitCode != nil {
		attrs = append(attrs, slog.Int("exit_code", *o.ExitCode))
	}
	attrs = append(attrs, slog.Int64("stdout_bytes", o.Stdout.Bytes), slog.Int64("stderr_bytes", o.Stderr.Bytes), slog.Int("artifacts", len(o.Files)))
	t.Log.LogAttrs(ctx, level, ToolName, attrs...)
}
