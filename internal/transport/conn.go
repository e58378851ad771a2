package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sallyport.dev/sallyport/internal/mcp"
)

// stdioConn is the SDK's Connection over lines.
//
// The SDK's own one ends the stream at the first line that is no message, reads duplicate members
// and rounds ids. And once its reader has ended the SDK sends no answer any more, so that the end
// of input must be kept from it until the answers are out.
type stdioConn struct {
	opts   StdioOptions
	output io.Writer
	frames chan frame    // from the reading goroutine; closed at the end of input
	queue  chan []byte   // to the writing goroutine, which alone writes to output
	over   chan struct{} // the SDK has been told of the end
	stop   chan struct{} // nothing more is read, nothing new is queued
	wrote  chan struct{} // the writing goroutine has ended

	overOnce, stopOnce sync.Once

	mu       sync.Mutex
	err      error
	shaken   bool                 // an initialize was answered
	inflight map[mcp.ID]*inflight // requests without an answer
	idle     chan struct{}        // closed when inflight becomes empty; nil when nobody waits
	watching bool
}

type inflight struct{ cancelled bool }

// watchEvery is how often a running call's client is looked at.
const watchEvery = 100 * time.Millisecond

func newStdioConn(in io.Reader, out io.Writer, opts StdioOptions) *stdioConn {
	c := &stdioConn{
		opts:     opts,
		output:   out,
		frames:   make(chan frame),
		queue:    make(chan []byte, 16),
		over:     make(chan struct{}),
		stop:     make(chan struct{}),
		wrote:    make(chan struct{}),
		inflight: make(map[mcp.ID]*inflight),
	}
	go c.readLines(newFrameReader(in, opts.Limits.Bytes))
	go c.writeLines()
	return c
}

func (c *stdioConn) SessionID() string { return "" }

func (c *stdioConn) readLines(lines *frameReader) {
	defer close(c.frames)
	for {
		f, err := lines.next()
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) {
				c.fail(fmt.Errorf("reading input: %w", err))
			}
			return
		}
		select {
		case c.frames <- f:
		case <-c.stop:
			return
		}
	}
}

// Read returns the next message for the SDK. Refusals are answered here.
func (c *stdioConn) Read(context.Context) (jsonrpc.Message, error) {
	for {
		// A stop wins over a line that is ready as well: select alone would toss a coin.
		select {
		case <-c.stop:
			return nil, c.end()
		default:
		}
		select {
		case <-c.stop:
			return nil, c.end()
		case f, ok := <-c.frames:
			if !ok {
				c.drain()
				return nil, c.end()
			}
			if msg := c.take(f); msg != nil {
				return msg, nil
			}
		}
	}
}

func (c *stdioConn) end() error {
	c.overOnce.Do(func() { close(c.over) })
	return io.EOF
}

// take checks a line. It returns nil for one that the SDK need not see.
func (c *stdioConn) take(f frame) jsonrpc.Message {
	if f.refusal != nil {
		c.answer(f.refusal.Response())
		return nil
	}
	msg, refusal := mcp.Check(f.data, c.opts.Limits)
	if refusal != nil {
		c.answer(refusal.Response())
		return nil
	}
	if msg.Kind == mcp.Orphan {
		return nil
	}
	decoded, err := jsonrpc.DecodeMessage(msg.Raw)
	if err != nil {
		// The envelope is stricter than the SDK, so this is a gap between the two.
		c.answer(mcp.ErrorResponse(msg.ID, mcp.CodeInvalidRequest, "message was not understood"))
		return nil
	}
	switch {
	case msg.Kind == mcp.Request:
		if refusal := c.begin(msg.ID); refusal != "" {
			// With the id, this would pass for the answer to the request that runs.
			c.answer(mcp.ErrorResponse("", mcp.CodeInvalidRequest, refusal))
			return nil
		}
	case msg.Cancels != "":
		c.cancel(msg.Cancels)
	}
	return decoded
}

// begin notes a request that must be answered.
func (c *stdioConn) begin(id mcp.ID) (refusal string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inflight[id] != nil {
		return fmt.Sprintf("request id %s is already in use", id)
	}
	if len(c.inflight) >= c.opts.InFlight {
		return fmt.Sprintf("request %s was not taken: %d requests are waiting for an answer; retry when some are answered", id, len(c.inflight))
	}
	c.inflight[id] = &inflight{}
	if !c.watching {
		c.watching = true
		go c.watch()
	}
	return ""
}

// cancel notes that the client wants no answer any more. The SDK reads the same notification and
// ends the call.
func (c *stdioConn) cancel(id mcp.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if call := c.inflight[id]; call != nil {
		call.cancelled = true
	}
}

// done forgets a request.
func (c *stdioConn) done(id mcp.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.inflight, id)
	if len(c.inflight) == 0 && c.idle != nil {
		close(c.idle)
		c.idle = nil
	}
}

// wanted reports whether an answer to the request should be sent.
func (c *stdioConn) wanted(id mcp.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	call := c.inflight[id]
	return call != nil && !call.cancelled
}

// watch looks for a client that died while its calls run. It ends with the last of them.
func (c *stdioConn) watch() {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-c.stop:
			return
		}
		c.mu.Lock()
		if len(c.inflight) == 0 {
			c.watching = false
			c.mu.Unlock()
			return
		}
		c.mu.Unlock()
		if peerGone(c.output) {
			c.fail(errors.New("writing output: the client has closed it"))
			return
		}
	}
}

// drain lets calls finish after the end of input, and answers those that do not.
func (c *stdioConn) drain() {
	c.mu.Lock()
	idle := make(chan struct{})
	if len(c.inflight) == 0 {
		close(idle)
	} else {
		c.idle = idle
	}
	c.mu.Unlock()
	timer := time.NewTimer(c.opts.Drain)
	defer timer.Stop()
	select {
	case <-idle:
		return
	case <-c.stop:
		return
	case <-timer.C:
	}
	c.mu.Lock()
	var late []mcp.ID
	for id, call := range c.inflight {
		if !call.cancelled {
			late = append(late, id)
		}
		call.cancelled = true // the call's own answer would be a second one
	}
	c.mu.Unlock()
	for _, id := range late {
		c.answer(mcp.ErrorResponse(id, mcp.CodeInternal,
			fmt.Sprintf("cancelled: input ended %v ago; keep it open until the answer has come", c.opts.Drain)))
	}
}

// Write sends a message of the SDK.
func (c *stdioConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	response, ok := msg.(*jsonrpc.Response)
	if !ok {
		data, err := jsonrpc.EncodeMessage(msg)
		if err != nil {
			return fmt.Errorf("encoding a message: %w", err)
		}
		return c.send(ctx, data)
	}
	id := idOf(response.ID)
	if id == "" {
		// Only for a request that never got past take. The SDK would leave the id out.
		return c.send(ctx, mcp.ErrorResponse("", mcp.CodeInvalidRequest, "invalid request"))
	}
	defer c.done(id)
	if !c.wanted(id) {
		return nil
	}
	data, err := c.encode(id, response)
	if err != nil {
		return err
	}
	return c.send(ctx, data)
}

func (c *stdioConn) encode(id mcp.ID, response *jsonrpc.Response) ([]byte, error) {
	if response.Error != nil {
		if code := errorCode(response.Error); code == 0 || len(response.Error.Error()) > maxErrorText {
			return mcp.ErrorResponse(id, c.codeFor(code), errorText(response.Error)), nil
		}
	}
	data, err := jsonrpc.EncodeMessage(response)
	if err != nil {
		return mcp.ErrorResponse(id, mcp.CodeInternal, "the result cannot be written as JSON"), nil
	}
	if response.Error == nil {
		c.mu.Lock()
		c.shaken = true
		c.mu.Unlock()
	}
	return data, nil
}

// codeFor finds a code for errors that the SDK sends without one. Before the first good answer
// that is a request that came too early.
func (c *stdioConn) codeFor(code int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case code != 0:
		return code
	case !c.shaken:
		return mcp.CodeInvalidRequest
	}
	return mcp.CodeInternal
}

// answer sends a refusal. A failure is recorded by the writing goroutine.
func (c *stdioConn) answer(data []byte) { _ = c.send(context.Background(), data) }

// send waits for room, so that a client that does not read holds up its own calls and no more.
func (c *stdioConn) send(ctx context.Context, data []byte) error {
	select {
	case c.queue <- append(data, '\n'):
		return nil
	case <-c.stop: // a writer that failed stops everything
		return sdk.ErrConnectionClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// writeLines writes whole lines until the connection is stopped, and then what was queued before.
func (c *stdioConn) writeLines() {
	defer close(c.wrote)
	for {
		select {
		case data := <-c.queue:
			if !c.writeLine(data) {
				return
			}
			continue
		case <-c.stop:
		}
		select {
		case data := <-c.queue:
			if !c.writeLine(data) {
				return
			}
		default:
			return
		}
	}
}

func (c *stdioConn) writeLine(data []byte) bool {
	if _, err := c.output.Write(data); err != nil {
		c.fail(fmt.Errorf("writing output: %w", err))
		return false
	}
	return true
}

// fail records why the connection ended and ends it.
func (c *stdioConn) fail(err error) {
	c.mu.Lock()
	if c.err == nil {
		c.err = err
	}
	c.mu.Unlock()
	c.stopReading()
}

func (c *stdioConn) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close is called by the SDK, with a lock of its own held, when nothing runs any more.
func (c *stdioConn) Close() error {
	c.stopReading()
	return nil
}

func (c *stdioConn) stopReading() { c.stopOnce.Do(func() { close(c.stop) }) }

// finish lets the last answers out. When ctx has ended, only if that needs no patience.
func (c *stdioConn) finish(ctx context.Context) {
	patience := time.Second
	if ctx.Err() != nil {
		patience = 50 * time.Millisecond
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-c.wrote:
	case <-timer.C:
	}
}
