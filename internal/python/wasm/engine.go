package wasm

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"sallyport.dev/sallyport/internal/confine"
	"sallyport.dev/sallyport/internal/python"
)

// Name is the engine's name in flags, results and docs.
const Name = "wasm"

// Config says which prepared image to run, and how.
type Config struct {
	Cache       string        // folder that Prepare filled
	Image       string        // name of the image
	Limits      python.Limits // ceilings; zero fields mean the defaults
	AllowWeaker bool          // run although a fence is missing here
	Spare       bool          // keep one interpreter started ahead, for servers; see [spares]
	Log         *slog.Logger  // may be nil
}

// An Engine runs scripts from one image. It implements [python.Engine].
type Engine struct {
	config Config
	limits python.Limits
	ready  chan struct{} // closed when loading has ended
	cancel context.CancelFunc

	opening sync.Mutex // held while an image is opened; before mu

	mu     sync.Mutex
	state  *loaded // nil until loaded
	why    error   // why it is not loaded
	closed bool
	boxes  map[*confine.Box]struct{}
	calls  sync.WaitGroup
	spares spares
}

// New returns at once. The image is opened and its bytes are verified in the background; calls
// wait for that, and [Engine.Describe] says what is known.
func New(config Config) *Engine {
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	if config.Image == "" {
		config.Image = DefaultImage
	}
	ctx, cancel := context.WithCancel(context.Background())
	e := &Engine{
		config: config,
		limits: config.Limits.Filled(),
		ready:  make(chan struct{}),
		cancel: cancel,
		boxes:  map[*confine.Box]struct{}{},
	}
	go e.load(ctx)
	return e
}

// newLoaded is an engine for an image that is open already.
func newLoaded(state *loaded) *Engine {
	e := &Engine{
		config: Config{Log: slog.New(slog.DiscardHandler)},
		limits: state.limits,
		ready:  make(chan struct{}),
		cancel: func() {},
		state:  state,
		boxes:  map[*confine.Box]struct{}{},
	}
	close(e.ready)
	return e
}

// load opens the image. A cache that is prepared later is found by the next call.
func (e *Engine) load(ctx context.Context) {
	defer close(e.ready)
	state, err := open(ctx, e.config, e.limits)
	e.mu.Lock()
	defer e.mu.Unlock()
	if err == nil && e.closed {
		state.close()
		err = errClosed
	}
	if err != nil {
		e.why = err
		e.config.Log.Warn("the engine is not ready", "image", e.config.Image, "reason", err)
		return
	}
	e.state = state
	if e.config.Spare {
		e.spares.refill(e, state)
	}
}

var errClosed = errors.New("the engine is closed")

// loadedNow waits for the image, and looks again when it was missing before.
func (e *Engine) loadedNow(ctx context.Context) (*loaded, error) {
	select {
	case <-e.ready:
	case <-ctx.Done():
		return nil, cancelled(ctx)
	}
	// Opening hashes half a gigabyte. It has a lock of its own, so that nobody who only asks waits.
	e.opening.Lock()
	defer e.opening.Unlock()
	e.mu.Lock()
	state, closed := e.state, e.closed
	e.mu.Unlock()
	if closed {
		return nil, shuttingDown()
	}
	if state != nil {
		err := state.unchanged()
		if err == nil {
			return state, nil
		}
		// Closed on purpose: the next call verifies the files anew, by their content.
		e.set(nil, err)
		return nil, notOpen(errors.Join(err, state.close()))
	}
	state, err := open(ctx, e.config, e.limits)
	if ctx.Err() != nil {
		if err == nil {
			err = state.close()
		}
		e.config.Log.Debug("a caller left while the image was opened", "error", err)
		return nil, cancelled(ctx)
	}
	if err != nil {
		e.set(nil, err)
		return nil, notOpen(err)
	}
	if !e.set(state, nil) {
		if err := state.close(); err != nil {
			e.config.Log.Error("closing the image", "error", err)
		}
		return nil, shuttingDown()
	}
	return state, nil
}

// set records what is open now; false means that the engine was closed meanwhile.
func (e *Engine) set(state *loaded, why error) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.state, e.why = state, why
	return true
}

func shuttingDown() *python.Failure {
	return &python.Failure{Kind: python.Cancelled, Message: "the server is shutting down"}
}

func notOpen(err error) *python.Failure {
	var missing *confine.Unavailable
	if errors.As(err, &missing) {
		return &python.Failure{Kind: python.Belt, Message: fmt.Sprintf("this host cannot enforce the belt: %v; the operator can see `sallyport doctor`, or allow it with --allow-weaker-belt", missing), Cause: err}
	}
	var space *addressSpaceError
	if errors.As(err, &space) {
		return &python.Failure{Kind: python.Belt, Message: space.Error(), Cause: err}
	}
	message := "Python is not prepared on this machine: run `sallyport setup` there once, then call again"
	if !errors.Is(err, fs.ErrNotExist) {
		message = "what was prepared cannot be used: the server's log and `sallyport doctor` on that machine say why; `sallyport setup` makes it anew"
	}
	return &python.Failure{Kind: python.NotPrepared, Message: message, Cause: err}
}

func cancelled(ctx context.Context) *python.Failure {
	return &python.Failure{Kind: python.Cancelled, Message: "the call was cancelled", Cause: context.Cause(ctx)}
}

// Close kills what is running. It is idempotent.
func (e *Engine) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	e.cancel()
	boxes := make([]*confine.Box, 0, len(e.boxes))
	for b := range e.boxes {
		boxes = append(boxes, b)
	}
	state := e.state
	e.state = nil
	e.mu.Unlock()
	e.spares.close()
	var errs []error
	for _, b := range boxes {
		errs = append(errs, b.Close())
	}
	e.calls.Wait()
	if state != nil {
		errs = append(errs, state.close())
	}
	return errors.Join(errs...)
}

func (e *Engine) isClosed() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.closed
}

// enter counts a call, so that Close can wait for it.
func (e *Engine) enter() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.calls.Add(1)
	return true
}

// end clears away a process and all that it had.
func (e *Engine) end(c *call) {
	if c.sent.IsZero() {
		c.stdin.Close() // nobody else does, without a request
	}
	c.unread.Close()
	e.drop(c.box)
}

// keep registers a box, so that Close can kill what runs in it.
func (e *Engine) keep(b *confine.Box) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.boxes[b] = struct{}{}
	return true
}

func (e *Engine) drop(b *confine.Box) {
	e.mu.Lock()
	delete(e.boxes, b)
	e.mu.Unlock()
	if err := b.Close(); err != nil {
		e.config.Log.Error("clearing away after a call", "error", err)
	}
}

// Run implements [python.Engine].
func (e *Engine) Run(ctx context.Context, req python.Request) (python.Outcome, error) {
	if !e.enter() {
		return python.Outcome{}, shuttingDown()
	}
	defer e.calls.Done()
	state, err := e.loadedNow(ctx)
	if err != nil {
		return python.Outcome{}, err
	}
	limits := e.limits.Narrow(req.Limits).Filled()
	c, err := e.interpreter(ctx, state, limits)
	if ctx.Err() != nil {
		if err == nil {
			e.end(c)
		}
		return python.Outcome{}, cancelled(ctx)
	}
	if err != nil {
		return python.Outcome{}, err
	}
	defer e.end(c)
	if err := give(c.box, req.Files); err != nil {
		return python.Outcome{}, err
	}
	if err := c.send(req, limits); err != nil {
		return python.Outcome{}, err
	}
	out, err := c.outcome(ctx, limits)
	out.Notes = append(out.Notes, state.degraded()...)
	return out, err
}

// interpreter is a started process that waits for its request: the spare one, if it was started
// with the same limits, or a new one.
func (e *Engine) interpreter(ctx context.Context, state *loaded, l python.Limits) (*call, error) {
	if c := e.spares.take(e, state, l); c != nil {
		return c, nil
	}
	return e.start(ctx, state, l)
}

// start opens a box and starts the runtime in it.
func (e *Engine) start(ctx context.Context, state *loaded, l python.Limits) (*call, error) {
	box, err := state.box(ctx, l)
	if err != nil {
		return nil, internal("preparing the sandbox", err)
	}
	if !e.keep(box) {
		box.Close()
		return nil, shuttingDown()
	}
	c := &call{box: box, stdout: python.NewCollector(l.OutputChars), stderr: python.NewCollector(l.OutputChars), closed: e.isClosed}
	if err := c.start(state, l); err != nil {
		e.drop(box)
		return nil, err
	}
	return c, nil
}

func internal(doing string, err error) *python.Failure {
	return &python.Failure{Kind: python.Internal, Message: doing + " failed; the operator's log says why", Cause: fmt.Errorf("%s: %w", doing, err)}
}

// furnish makes the folders that a script finds.
func furnish(box *confine.Box) error {
	for _, folder := range []string{"workspace/input", "workspace/output", "tmp"} {
		if err := box.Mkdir(scratchName, folder); err != nil {
			return internal("preparing the working folder", err)
		}
	}
	return nil
}

// give puts the caller's files where the script finds them. The interpreter may run already, but
// nothing in it moves before it has its request.
func give(box *confine.Box, files []python.File) error {
	for _, f := range files {
		if err := box.Put(scratchName, "workspace/input/"+f.Name, f.Content); err != nil {
			return &python.Failure{Kind: python.Invalid, Message: fmt.Sprintf("the file %q could not be written to /workspace/input: it conflicts with another one or does not fit the disk limit", f.Name), Cause: err}
		}
	}
	return nil
}

// request is what the interpreter reads from its standard input before the script's own input.
type request struct {
	Code        string `json:"code"`
	ResultChars int    `json:"result_chars"`
	FigureBytes int64  `json:"figure_bytes"`
}

// A call is one process, from its start to its end.
type call struct {
	box            *confine.Box
	process        *confine.Process
	stdin          *os.File
	unread         *os.File // the other end of stdin, to see what the process has left in it
	stdout, stderr *python.Collector
	size           int64     // bytes that are sent
	sent           time.Time // when it got its request; the limit counts from here
	drained        sync.WaitGroup
	closed         func() bool // whether the engine was closed meanwhile
}

func (c *call) start(state *loaded, l python.Limits) error {
	if err := furnish(c.box); err != nil {
		return err
	}
	pipes, err := newPipes()
	if err != nil {
		return internal("making pipes", err)
	}
	defer pipes.closeChild()
	c.process, err = c.box.Start(confine.Command{
		Args:   runArgs(c.box.Path(imageName), state.memory(l), guestFolders(c.box.Path(scratchName), c.box.Path(controlName))),
		Env:    environment(),
		Stdin:  pipes.child[0],
		Stdout: pipes.child[1],
		Stderr: pipes.child[2],
	})
	if err != nil {
		pipes.closeParent()
		return internal("starting the interpreter", err)
	}
	c.stdin, c.unread = pipes.parent[0], pipes.child[0]
	pipes.child[0] = nil
	for i, to := range []*python.Collector{c.stdout, c.stderr} {
		c.drained.Add(1)
		go func() {
			defer c.drained.Done()
			drain(to, pipes.parent[i+1])
		}()
	}
	return nil
}

// send gives the interpreter its request; from here on the time counts.
func (c *call) send(req python.Request, l python.Limits) error {
	frame, err := json.Marshal(request{req.Code, l.OutputChars, l.ArtifactSize})
	if err != nil {
		return internal("encoding the request", err)
	}
	c.process.Wake()
	c.sent = time.Now()
	c.size = int64(4 + len(frame) + len(req.Stdin))
	go feed(c.stdin, frame, req.Stdin)
	return nil
}

// feed writes the request and the script's own input. What a guest does not read ends in EPIPE
// here, once we have closed our own reading end; that is its affair.
func feed(w *os.File, frame, stdin []byte) {
	defer w.Close()
	head := binary.LittleEndian.AppendUint32(make([]byte, 0, 4+len(frame)), uint32(len(frame)))
	if _, err := w.Write(append(head, frame...)); err != nil {
		return
	}
	_, _ = w.Write(stdin) // a script need not read all of it
}

func drain(to *python.Collector, from *os.File) {
	defer from.Close()
	// Not io.Copy: its buffer is made for each call, and a splice cannot end in memory.
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		to.Write(buf[:n])
		if err != nil {
			return
		}
	}
}

// begun says whether a process that is dead has read of its request. While all of it is still in
// the pipe, no line of the script has run, so what was printed is the runtime's word; afterwards
// anything can be the script's.
func (c *call) begun() bool {
	left, err := io.Copy(io.Discard, c.unread)
	return err != nil || left != c.size
}

// outcome waits for the end and judges it.
func (c *call) outcome(ctx context.Context, l python.Limits) (python.Outcome, error) {
	timer := time.NewTimer(l.Timeout)
	defer timer.Stop()
	var timedOut, gone bool
	select {
	case <-c.process.Done():
	case <-timer.C:
		timedOut = true
	case <-ctx.Done():
		gone = true
	}
	c.process.Kill()
	exit := c.process.Wait()
	took := time.Since(c.sent)
	// The process was the only holder of the pipes' other ends, so both come to their end now.
	c.drained.Wait()
	if gone || c.closed() {
		return python.Outcome{}, cancelled(ctx)
	}
	out := python.Outcome{Stdout: c.stdout.Stream(), Stderr: c.stderr.Stream(), Duration: took}
	// A process that ended by itself while the timer fired has ended by itself.
	out.TimedOut = timedOut && exit.Signal != 0 && exit.Cause == ""
	var r *report
	if exit.Code == 0 && exit.Signal == 0 {
		r = readReport(c.box.Root(controlName))
	}
	out.Files, out.Notes = collect(c.box.Root(controlName), c.box.Root(scratchName), r, l)
	if out.TimedOut {
		return out, nil
	}
	if r == nil {
		var message string
		out.Stderr.Text, message = stripRuntime(out.Stderr.Text)
		out.Stderr.Bytes = max(0, out.Stderr.Bytes-int64(len(message)))
		f := failed(exit, message, c.begun(), l)
		f.Partial = &out
		return python.Outcome{}, f
	}
	out.ExitCode = r.ExitCode
	out.Result = r.result(l.OutputChars)
	return out, nil
}

var _ python.Engine = (*Engine)(nil)

// DefaultImage is the name of the image that setup makes without flags.
const DefaultImage = "default"
