package python

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"
)

// A Queue lets a bounded number of calls run and a bounded number wait.
//
// It is fair between clients: they take turns, whatever the number of their calls. When the queue
// is full, a client that holds fewer places than others gets one, and the latest call of the
// client with the most places is turned away instead. A call that is turned away has not started.
type Queue struct {
	mu      sync.Mutex
	running int
	places  int // calls that may run
	size    int // calls that may wait
	waiting int
	turns   []*line // clients with waiting calls; the first is next
	mean    time.Duration
}

// A line is what one client has waiting, oldest first.
type line struct {
	client  string
	waiters []*waiter
}

type waiter struct {
	// admitted receives nil when the call may run, or the reason why it will not. It has room
	// for one, so that whoever decides never waits for the caller.
	admitted chan error
}

// NewQueue returns a queue for the given number of running and waiting calls.
func NewQueue(places, size int) *Queue {
	return &Queue{places: max(places, 1), size: max(size, 0), mean: time.Second}
}

// Enter waits for a place. The caller calls leave exactly once when its call has ended. The error
// is a *[Failure] of kind Busy or Cancelled; a call that gives up frees its place at once.
func (q *Queue) Enter(ctx context.Context, client string) (leave func(), err error) {
	if ctx.Err() != nil {
		return nil, &Failure{Kind: Cancelled}
	}
	w, err := q.join(client)
	if err != nil {
		return nil, err
	}
	select {
	case err = <-w.admitted:
	case <-ctx.Done():
		if q.abandon(client, w) {
			return nil, &Failure{Kind: Cancelled}
		}
		// The decision fell at the same moment.
		if err = <-w.admitted; err == nil {
			q.leave(0)
			err = &Failure{Kind: Cancelled}
		}
	}
	if err != nil {
		return nil, err
	}
	started := time.Now()
	return sync.OnceFunc(func() { q.leave(time.Since(started)) }), nil
}

func (q *Queue) join(client string) (*waiter, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	w := &waiter{admitted: make(chan error, 1)}
	if q.running < q.places {
		// Nobody waits while a place is free.
		q.running++
		w.admitted <- nil
		return w, nil
	}
	if q.waiting >= q.size && !q.makeRoom(client) {
		return nil, q.busy()
	}
	l := q.find(client)
	if l == nil {
		l = &line{client: client}
		q.turns = append(q.turns, l)
	}
	l.waiters = append(l.waiters, w)
	q.waiting++
	return w, nil
}

// makeRoom turns away the latest call of the client with the most places, if that client would
// still hold at least as many as the newcomer then has.
func (q *Queue) makeRoom(client string) bool {
	var longest *line
	for _, l := range q.turns {
		if longest == nil || len(l.waiters) > len(longest.waiters) {
			longest = l
		}
	}
	mine := 0
	if l := q.find(client); l != nil {
		mine = len(l.waiters)
	}
	if longest == nil || len(longest.waiters)-1 < mine+1 {
		return false
	}
	last := longest.waiters[len(longest.waiters)-1]
	last.admitted <- q.busy()
	q.remove(longest, last)
	return true
}

func (q *Queue) busy() error {
	after := time.Duration(q.waiting+1) * q.mean / time.Duration(q.places)
	return &Failure{Kind: Busy, Message: fmt.Sprintf("%d calls are running and %d wait; try again in about %d s",
		q.running, q.waiting, max(1, int(math.Ceil(after.Seconds()))))}
}

// abandon takes a call out of the queue. It reports false when it was decided already.
func (q *Queue) abandon(client string, w *waiter) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.find(client)
	return l != nil && q.remove(l, w)
}

// leave gives the place to the client whose turn it is.
func (q *Queue) leave(took time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if took > 0 {
		q.mean += (took - q.mean) / 8
	}
	if len(q.turns) == 0 {
		q.running--
		return
	}
	l := q.turns[0]
	w := l.waiters[0]
	q.remove(l, w)
	if len(l.waiters) > 0 {
		q.turns = append(q.turns[1:], l) // to the end: the others come first
	}
	w.admitted <- nil
}

func (q *Queue) find(client string) *line {
	for _, l := range q.turns {
		if l.client == client {
			return l
		}
	}
	return nil
}

func (q *Queue) remove(l *line, w *waiter) bool {
	for i, other := range l.waiters {
		if other != w {
			continue
		}
		l.waiters = append(l.waiters[:i:i], l.waiters[i+1:]...)
		q.waiting--
		if len(l.waiters) == 0 {
			for j, other := range q.turns {
				if other == l {
					q.turns = append(q.turns[:j:j], q.turns[j+1:]...)
					break
				}
			}
		}
		return true
	}
	return false
}
