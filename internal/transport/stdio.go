package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sallyport.dev/sallyport/internal/mcp"
)

// StdioOptions are the limits of a stdio server. Fields that are zero take their defaults.
type StdioOptions struct {
	Limits mcp.Limits

	// InFlight bounds the requests that wait for an answer (256).
	InFlight int

	// Drain is how long calls may go on after the end of input (2 s). A script that pipes its
	// requests in must get its answers; a client that is told to leave closes our input and,
	// as the common SDKs do, sends SIGTERM about two seconds later. Whoever stops reading as
	// well, as a dead client does, has its calls cancelled at once.
	Drain time.Duration

	// Stop bounds the wait for cancelled calls (5 s). One that ignores its cancellation is
	// left to the end of the process.
	Stop time.Duration
}

func (o StdioOptions) orDefault() StdioOptions {
	o.Limits = o.Limits.OrDefault()
	if o.InFlight <= 0 {
		o.InFlight = 256
	}
	if o.Drain <= 0 {
		o.Drain = 2 * time.Second
	}
	if o.Stop <= 0 {
		o.Stop = 5 * time.Second
	}
	return o
}

// ErrStuck means that a call went on after it was cancelled.
var ErrStuck = errors.New("a call did not end after it was cancelled")

// ServeStdio serves one client on in and out until the end of input, until out breaks, or until
// ctx ends; then it cancels what still runs. It returns nil at the end of input and when ctx ends.
//
// It adds a middleware to the server, which answers methods of features that the server does not
// declare. It closes neither in nor out. A read or write that blocks in the kernel keeps its goroutine
// until the descriptor is closed; everything else has ended when ServeStdio returns.
func ServeStdio(ctx context.Context, server *sdk.Server, in io.Reader, out io.Writer, opts StdioOptions) error {
	opts = opts.orDefault()
	server.AddReceivingMiddleware(onlyOffered(server))
	conn := newStdioConn(in, out, opts)
	session, err := server.Connect(withClient(ctx, "stdio"), connector{conn}, nil)
	if err != nil {
		return fmt.Errorf("starting the stdio session: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = session.Wait() // it repeats what conn recorded
	}()

	select {
	case <-ended:
	case <-conn.over:
	case <-ctx.Done():
	}
	conn.stopReading()
	err = nil
	select {
	case <-ended:
	case <-time.After(opts.Stop):
		err = ErrStuck
	}
	conn.finish(ctx)
	return errors.Join(conn.failure(), err)
}

// connector hands the SDK the connection that is already there.
type connector struct{ conn *stdioConn }

func (c connector) Connect(context.Context) (sdk.Connection, error) { return c.conn, nil }
