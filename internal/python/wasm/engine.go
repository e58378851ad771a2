package wasm

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	Log         *slog.Logger  // may be nil
}

// An Engine runs scripts from one image. It implements [python.Engine].
type Engine struct {
	config Config
	limits python.Limits
	ready  chan struct{} // closed when loading has ended
	cancel context.CancelFunc

	mu     sync.Mutex
	state  *loaded // nil until loaded
	why    error   // why it is not loaded
	closed bool
	boxes  map[*confine.Box]struct{}
	calls  sync.WaitGroup
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
		limits: filled(config.Limits),
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

func filled(l python.Limits) python.Limits {
	d := python.DefaultLimits()
	pick := func(v, d int64) int64 {
		if v <= 0 {
			return d
		}
		return v
	}
	return python.Limits{
		Timeout:      time.Duration(pick(int64(l.Timeout), int64(d.Timeout))),
		OutputChars:  int(pick(int64(l.OutputChars), int64(d.OutputChars))),
		Memory:       pick(l.Memory, d.Memory),
		Scratch:      pick(l.Scratch, d.Scratch),
		ScratchFiles: int(pick(int64(l.ScratchFiles), int64(d.ScratchFiles))),
		Artifacts:    int(pick(int64(l.Artifacts), int64(d.Artifacts))),
		ArtifactSize: pick(l.ArtifactSize, d.ArtifactSize),
		InputSize:    pick(l.InputSize, d.InputSize),
	}
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
		return
	}
	e.state = state
}

var errClosed = errors.New("the engine is closed")

// loadedNow waits for the image, and looks again when it was missing before.
func (e *Engine) loadedNow(ctx context.Context) (*loaded, error) {
	select {
	case <-e.ready:
	case <-ctx.Done():
		return nil, cancelled(ctx)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, &python.Failure{Kind: python.Cancelled, Message: "the server is shutting down"}
	}
	if e.state == nil {
		state, err := open(ctx, e.config, e.limits)
		if err != nil {
			e.why = err
			return nil, notOpen(err)
		}
		e.state, e.why = state, nil
	}
	if err := e.state.unchanged(); err != nil {
		// Closed on purpose: the next call verifies the files anew, by their content.
		e.state.close()
		e.state, e.why = nil, err
		return nil, notOpen(err)
	}
	return e.state, nil
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
	return &python.Failure{Kind: python.NotPrepared, Message: "Python is not prepared on this machine: run `sallyport setup` there once, then call again", Cause: err}
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
	e.calls.Add(1)
	defer e.calls.Done()
	state, err := e.loadedNow(ctx)
	if err != nil {
		return python.Outcome{}, err
	}
	limits := filled(e.limits.Narrow(req.Limits))
	box, err := state.box(ctx, limits)
	if ctx.Err() != nil {
		if err == nil {
			box.Close()
		}
		return python.Outcome{}, cancelled(ctx)
	}
	if err != nil {
		return python.Outcome{}, internal("preparing the sandbox", err)
	}
	if !e.keep(box) {
		box.Close()
		return python.Outcome{}, cancelled(ctx)
	}
	defer e.drop(box)
	if err := fill(box, req.Files); err != nil {
		return python.Outcome{}, err
	}
	call, err := e.start(state, box, req, limits)
	if err != nil {
		return python.Outcome{}, err
	}
	return call.outcome(ctx, box, limits)
}

func internal(doing string, err error) *python.Failure {
	return &python.Failure{Kind: python.Internal, Message: doing + " failed; the operator's log says why", Cause: fmt.Errorf("%s: %w", doing, err)}
}

// fill makes the folders that a script finds and puts the caller's files there.
func fill(box *confine.Box, files []python.File) error {
	for _, folder := range []string{"workspace/input", "workspace/output", "tmp"} {
		if err := box.Mkdir(scratchName, folder); err != nil {
			return internal("preparing the working folder", err)
		}
	}
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

// A call is one running process.
type call struct {
	process        *confine.Process
	stdout, stderr *python.Collector
	started        time.Time
	drained        sync.WaitGroup
	limit          time.Duration
	closed         func() bool // whether the engine was closed meanwhile
}

func (e *Engine) start(state *loaded, box *confine.Box, req python.Request, l python.Limits) (*call, error) {
	frame, err := json.Marshal(request{req.Code, l.OutputChars, l.ArtifactSize})
	if err != nil {
		return nil, internal("encoding the request", err)
	}
	c := &call{stdout: python.NewCollector(l.OutputChars), stderr: python.NewCollector(l.OutputChars), limit: l.Timeout, closed: e.isClosed}
	pipes, err := newPipes()
	if err != nil {
		return nil, internal("making pipes", err)
	}
	defer pipes.closeChild()
	c.started = time.Now()
	c.process, err = box.Start(confine.Command{
		Args:   runArgs(box.Path(imageName), state.memory(l), guestFolders(box.Path(scratchName), box.Path(controlName))),
		Env:    environment(),
		Stdin:  pipes.child[0],
		Stdout: pipes.child[1],
		Stderr: pipes.child[2],
	})
	if err != nil {
		pipes.closeParent()
		return nil, internal("starting the interpreter", err)
	}
	go feed(pipes.parent[0], frame, req.Stdin)
	for i, to := range []*python.Collector{c.stdout, c.stderr} {
		c.drained.Add(1)
		go func() {
			defer c.drained.Done()
			drain(to, pipes.parent[i+1])
		}()
	}
	return c, nil
}

// feed writes the request and the script's own input. A guest that does not read gets EPIPE here,
// which is its affair.
func feed(w *os.File, frame, stdin []byte) {
	defer w.Close()
	head := binary.LittleEndian.AppendUint32(make([]byte, 0, 4+len(frame)), uint32(len(frame)))
	if _, err := w.Write(append(head, frame...)); err != nil {
		return
	}
	w.Write(stdin)
}

func drain(to io.Writer, from *os.File) {
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

// outcome waits for the end and judges it.
func (c *call) outcome(ctx context.Context, box *confine.Box, l python.Limits) (python.Outcome, error) {
	timer := time.NewTimer(c.limit)
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
	took := time.Since(c.started)
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
		r = readReport(box.Root(controlName))
	}
	out.Files, out.Notes = collect(box.Root(controlName), box.Root(scratchName), r, l)
	if out.TimedOut {
		return out, nil
	}
	if r == nil {
		var message string
		out.Stderr.Text, message = stripRuntime(out.Stderr.Text)
		f := failed(exit, message, l)
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
