package cli

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sallyport.dev/sallyport/internal/fault"
	"sallyport.dev/sallyport/internal/python"
	"sallyport.dev/sallyport/internal/transport"
)

// drain is how long calls go on after the end of input. A script that pipes its requests in starts
// the server with them, so its first call also waits until the image is verified, which takes seconds on
// a slow disk. Clients that leave stop reading as well, or send a signal; both end calls at once.
const drain = 10 * time.Second

// servePython serves run_python until the client leaves or ctx ends.
func (p *Program) servePython(ctx context.Context, s Settings) error {
	// Without this, a client that stops reading ends the process in the middle of its cleaning up.
	// Caught, not ignored: what is ignored would be inherited by the interpreters.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)

	log := p.logger(s)
	s.Serving = true
	engine, err := p.openPython(ctx, s, log)
	if err != nil {
		return err
	}
	defer engine.Close()

	v := builtVersion()
	server := mcp.NewServer(&mcp.Implementation{Name: "sallyport", Title: "Sallyport", Version: v.Version}, &mcp.ServerOptions{
		// The tool list never changes while we run, and nothing else is offered: say just that.
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	waiting := s.Queue
	if waiting == 0 {
		waiting = -1 // the operator said none; for the tool 0 means its default
	}
	if err := python.Register(server, python.Options{
		Engine: engine, Ceiling: s.Limits, Running: s.MaxCalls, Waiting: waiting, ClientKey: transport.Client, Log: log,
	}); err != nil {
		return fault.New(fault.Usage, "lower --output-chars", "offering the tool: %w", err)
	}
	if s.HTTP == "" {
		if atTerminal(p.In) {
			fmt.Fprintln(p.Err, "sallyport: waiting for an MCP client on standard input; --print-config CLIENT shows how to connect one; Ctrl-C ends")
		}
		return transport.ServeStdio(ctx, server, p.In, p.Out, transport.StdioOptions{Drain: drain})
	}
	return p.serveHTTP(ctx, s, server)
}

// atTerminal says whether a person, not a client, started the server. The null device is a character
// device too, and means that nobody is there.
func atTerminal(in io.Reader) bool {
	f, ok := in.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	if err != nil || st.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(st, null)
}

func (p *Program) serveHTTP(ctx context.Context, s Settings, server *mcp.Server) error {
	o := transport.HTTPOptions{AllowedHosts: s.AllowHosts, AllowedOrigins: s.AllowOrigins}
	if s.Token != "" {
		token, err := transport.NewToken([]byte(s.Token))
		if err != nil {
			return fault.New(fault.Usage, "", "taking the token: %w", err)
		}
		o.Tokens = []transport.Token{token}
	}
	handler, err := transport.NewHTTPHandler(server, o)
	if err != nil {
		return fault.New(fault.Usage, "see sallyport python --help", "reading the HTTP flags: %w", err)
	}
	defer handler.Close()
	listener, err := transport.Listen(ctx, s.HTTP)
	if err != nil {
		return fault.New(fault.Usage, "give --http a free address, such as 127.0.0.1:8080", "%w", err)
	}
	// Serve refuses this as well; here it is a mistake on the command line, with its exit code.
	if at, ok := listener.Addr().(*net.TCPAddr); s.Token == "" && (!ok || !at.IP.IsLoopback()) {
		listener.Close()
		return fault.New(fault.Usage, "add --token-file, or listen on 127.0.0.1", "serving %s: an address beyond loopback needs a bearer token", listener.Addr())
	}
	fmt.Fprintf(p.Err, "sallyport: serving http://%s/mcp\n", listener.Addr())
	return transport.Serve(ctx, listener, handler)
}
