package wasm

import (
	"context"
	"sync"
	"time"

	"sallyport.dev/sallyport/internal/python"
)

// spareIdle is how long a spare interpreter waits for a call before it is let go, and with it the
// memory that it holds.
const spareIdle = 2 * time.Minute

// spares keeps one interpreter that was started ahead and waits for its request.
//
// Most of a short call is the start of the runtime, which is the same for each call and depends
// on nothing that a call brings. A spare is as fresh as any: it has run nothing, it serves one
// call, it has the belt and the limits of the engine, and it seeds its generators when the
// request comes. A new one is started when one is taken, so a server that was called lately
// answers the next call without that wait.
type spares struct {
	mu     sync.Mutex
	idle   *call
	state  *loaded // what idle was started from
	timer  *time.Timer
	busy   bool // a new one is being started
	closed bool
}

// take returns the spare, if it fits and lives, and starts the next.
func (s *spares) take(e *Engine, state *loaded, l python.Limits) *call {
	if !e.config.Spare || l.Scratch != e.limits.Scratch || l.ScratchFiles != e.limits.ScratchFiles || l.Memory != e.limits.Memory || l.OutputChars != e.limits.OutputChars {
		return nil
	}
	s.mu.Lock()
	c, from := s.idle, s.state
	s.idle = nil
	if s.timer != nil {
		s.timer.Stop()
	}
	s.mu.Unlock()
	s.refill(e, state)
	if c == nil {
		return nil
	}
	select {
	case <-c.process.Done():
		// It died waiting; a fresh one will say why, if there is a reason.
		e.end(c)
		return nil
	default:
	}
	if from != state {
		e.end(c)
		return nil
	}
	return c
}

// refill starts a spare in the background, unless there is one.
func (s *spares) refill(e *Engine, state *loaded) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.idle != nil || s.busy || s.closed {
		return
	}
	s.busy = true
	e.calls.Add(1)
	go func() {
		defer e.calls.Done()
		c, err := e.start(context.Background(), state, e.limits)
		s.mu.Lock()
		s.busy = false
		keep := err == nil && !s.closed
		if keep {
			s.idle, s.state = c, state
			c.process.Rest()
			s.timer = time.AfterFunc(spareIdle, func() { s.letGo(e, c) })
		}
		s.mu.Unlock()
		if err == nil && !keep {
			e.end(c)
		}
	}()
}

// letGo ends a spare that nobody has taken.
func (s *spares) letGo(e *Engine, c *call) {
	s.mu.Lock()
	mine := s.idle == c
	if mine {
		s.idle = nil
	}
	s.mu.Unlock()
	if mine {
		e.end(c)
	}
}

// close stops new spares. The engine closes the box of the one that waits.
func (s *spares) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.timer != nil {
		s.timer.Stop()
	}
	if s.idle != nil {
		s.idle.stdin.Close()
		s.idle = nil
	}
}
