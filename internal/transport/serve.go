package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"
)

// Listen opens an address for Serve. A port alone, such as ":8080", means loopback: every
// interface must be asked for by name.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("reading the address %q: %w", address, err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("listening: %w", err)
	}
	return listener, nil
}

// Serve answers on a listener until ctx ends. Then it takes no more connections, cancels what
// runs, closes all sessions and connections, and returns nil; it returns within about twice
// HTTPOptions.Stop. It closes the listener in any case.
//
// It refuses a listener beyond loopback when the handler has no token.
func Serve(ctx context.Context, listener net.Listener, h *HTTPHandler) error {
	defer listener.Close()
	if len(h.opts.Tokens) == 0 && !isLoopback(addrPort(listener.Addr())) {
		return fmt.Errorf("serving on %s: an address beyond loopback needs a bearer token; give one with --token-file, or listen on 127.0.0.1", listener.Addr())
	}
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var fresh newcomers
	server := &http.Server{
		ConnState:         fresh.state,
		Handler:           h,
		BaseContext:       func(net.Listener) context.Context { return requests },
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          log.New(io.Discard, "", 0), // it would repeat what clients sent
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	var err error
	select {
	case err = <-failed:
		err = fmt.Errorf("serving: %w", err)
	case <-ctx.Done():
	}
	// To each call in flight this is its client leaving.
	cancel()
	fresh.close()
	bound, stop := context.WithTimeout(context.WithoutCancel(ctx), h.opts.Stop)
	defer stop()
	if down := server.Shutdown(bound); down != nil {
		err = errors.Join(err, server.Close())
	}
	return errors.Join(err, h.Close())
}
