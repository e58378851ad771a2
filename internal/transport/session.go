package transport

import (
	"maps"
	"slices"
	"sync"
	"time"

	"sallyport.dev/sallyport/internal/mcp"
)

// A sessionTable knows which sessions of the handshake era live and whose they are. The SDK keeps
// the sessions themselves; it bounds neither their number nor, without its own sign-in, who may
// use them. A session id alone is no authority.
type sessionTable struct {
	max  int // sessions of one principal
	idle time.Duration
	now  func() time.Time

	mu   sync.Mutex
	byID map[string]*session
}

type session struct {
	principal string
	busy      int
	used      time.Time
	calls     map[mcp.ID]int // requests that wait for an answer
}

func newSessionTable(max int, idle time.Duration) *sessionTable {
	return &sessionTable{max: max, idle: idle, now: time.Now, byID: make(map[string]*session)}
}

// enter finds a session for a request of its owner; leave ends the request. call is empty for
// what needs no answer.
func (t *sessionTable) enter(id, principal string, call mcp.ID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.byID[id]
	if s == nil || s.principal != principal {
		return false
	}
	s.busy++
	s.used = t.now()
	if call != "" {
		s.calls[call]++
	}
	return true
}

func (t *sessionTable) leave(id string, call mcp.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.byID[id]
	if s == nil {
		return
	}
	s.busy--
	s.used = t.now()
	// A second request with the id of a running one is refused by the SDK, and must not hide it.
	if s.calls[call]--; s.calls[call] <= 0 {
		delete(s.calls, call)
	}
}

// calls lists the requests of a session that wait for an answer.
func (t *sessionTable) calls(id string) []mcp.ID {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.byID[id]; s != nil {
		return slices.Collect(maps.Keys(s.calls))
	}
	return nil
}

func (t *sessionTable) add(id, principal string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byID[id] = &session{principal: principal, used: t.now(), calls: make(map[mcp.ID]int)}
}

func (t *sessionTable) remove(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byID, id)
}

// room makes place for one more session of a principal. It returns the sessions that must be
// closed for that: those idle for too long, and when that is not enough the one that was unused
// for longest. Its client starts anew on the 404 that it gets. ok is false when all are in use.
func (t *sessionTable) room(principal string) (close []string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	count, oldest := 0, ""
	for id, s := range t.byID {
		if s.busy == 0 && t.now().Sub(s.used) > t.idle {
			close = append(close, id)
			continue
		}
		if s.principal != principal {
			continue
		}
		count++
		if s.busy == 0 && (oldest == "" || s.used.Before(t.byID[oldest].used)) {
			oldest = id
		}
	}
	ok = count < t.max
	if !ok && oldest != "" {
		close, ok = append(close, oldest), true
	}
	for _, id := range close {
		delete(t.byID, id)
	}
	return close, ok
}

// drain empties the table and returns what was in it.
func (t *sessionTable) drain() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var ids []string
	for id := range t.byID {
		ids = append(ids, id)
	}
	clear(t.byID)
	return ids
}
