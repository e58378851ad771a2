package transport

import (
	"net"
	"net/http"
	"sync"
)

// newcomers are connections that have not sent anything yet, such as a browser opens ahead.
// http.Server.Shutdown would wait five seconds for each.
type newcomers struct {
	mu      sync.Mutex
	closing bool
	conns   map[net.Conn]struct{}
}

// state is an http.Server.ConnState.
func (n *newcomers) state(conn net.Conn, state http.ConnState) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if state != http.StateNew {
		delete(n.conns, conn)
		return
	}
	if n.closing {
		conn.Close()
		return
	}
	if n.conns == nil {
		n.conns = make(map[net.Conn]struct{})
	}
	n.conns[conn] = struct{}{}
}

// close closes them, and those that are still to come.
func (n *newcomers) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closing = true
	for conn := range n.conns {
		conn.Close()
	}
}
