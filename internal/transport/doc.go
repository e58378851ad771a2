// Package transport carries MCP messages between a client and a server built with the official
// Go SDK, over stdio ([ServeStdio]) and Streamable HTTP ([NewHTTPHandler], [Serve]).
//
// Both serve the handshake era (2024-11-05 to 2025-11-25) and the stateless one (2026-07-28) at
// the same time. Each message passes the strict envelope of package mcp before the SDK sees it,
// and the SDK sees those same bytes. What does not pass gets an answer; it never ends the stream.
//
// The package refuses to listen beyond loopback without a token, to answer a Host or an Origin
// that nobody named, and to keep a call running for a client that has left. It knows no tools.
package transport
