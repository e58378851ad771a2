package python

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A ticket is a call that was started in the background.
type ticket struct {
	done  chan struct{}
	leave func()
	err   error
}

func enter(ctx context.Context, q *Queue, client string) *ticket {
	t := &ticket{done: make(chan struct{})}
	go func() {
		defer close(t.done)
		t.leave, t.err = q.Enter(ctx, client)
	}()
	synctest.Wait()
	return t
}

func (t *ticket) state() string {
	select {
	case <-t.done:
	default:
		return "waiting"
	}
	if t.err == nil {
		return "running"
	}
	var f *Failure
	errors.As(t.err, &f)
	return string(f.Kind)
}

func states(tickets ...*ticket) string {
	synctest.Wait()
	var all []string
	for _, t := range tickets {
		all = append(all, t.state())
	}
	return strings.Join(all, " ")
}

func expect(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("states are %s, want %s", got, want)
	}
}

func TestQueueBoundsWhatRunsAndWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, ctx := NewQueue(2, 2), t.Context()
		a, b, c, d, e := enter(ctx, q, "x"), enter(ctx, q, "x"), enter(ctx, q, "x"), enter(ctx, q, "x"), enter(ctx, q, "x")
		expect(t, states(a, b, c, d, e), "running running waiting waiting busy")
		if !strings.Contains(e.err.Error(), "2 calls are running and 2 wait; try again in about 2 s") {
			t.Errorf("the hint is %q", e.err)
		}
		a.leave()
		a.leave() // once only
		expect(t, states(c, d), "running waiting")
		b.leave()
		c.leave()
		expect(t, states(d), "running")
		d.leave()
		f := enter(ctx, q, "x")
		expect(t, states(f), "running")
		f.leave()
		if q.running != 0 || q.waiting != 0 || len(q.turns) != 0 {
			t.Errorf("left behind: %+v", q)
		}
	})
}

func TestClientsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, ctx := NewQueue(1, 32), t.Context()
		first := enter(ctx, q, "greedy")
		var order []string
		var mu sync.Mutex
		for i, client := range []string{"greedy", "greedy", "greedy", "b", "b", "c"} {
			go func() {
				leave, err := q.Enter(ctx, client)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				order = append(order, fmt.Sprint(client, i))
				mu.Unlock()
				time.Sleep(time.Second)
				leave()
			}()
			synctest.Wait()
		}
		first.leave()
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := strings.Join(order, " "); got != "greedy0 b3 c5 greedy1 b4 greedy2" {
			t.Errorf("order is %s", got)
		}
	})
}

func TestOneClientCannotFillTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, ctx := NewQueue(1, 4), t.Context()
		running := enter(ctx, q, "greedy")
		var greedy []*ticket
		for range 4 {
			greedy = append(greedy, enter(ctx, q, "greedy"))
		}
		expect(t, states(greedy...), "waiting waiting waiting waiting")
		b1 := enter(ctx, q, "b")
		expect(t, states(greedy...), "waiting waiting waiting busy")
		b2 := enter(ctx, q, "b")
		expect(t, states(greedy...), "waiting waiting busy busy")
		b3 := enter(ctx, q, "b")
		expect(t, states(b1, b2, b3), "waiting waiting busy")
		c := enter(ctx, q, "c")
		expect(t, states(append(greedy, b1, b2, c)...), "waiting busy busy busy waiting waiting waiting")
		running.leave()
		expect(t, states(greedy[0], b1, c), "running waiting waiting")
	})
}

func TestCancelledCallFreesItsPlaceAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(1, 1)
		running := enter(t.Context(), q, "x")
		ctx, cancel := context.WithCancel(t.Context())
		waiting := enter(ctx, q, "x")
		cancel()
		expect(t, states(waiting), "cancelled")
		next := enter(t.Context(), q, "x")
		expect(t, states(next), "waiting")
		running.leave()
		expect(t, states(next), "running")
		next.leave()
		gone := enter(ctx, q, "x")
		expect(t, states(gone), "cancelled")
		if q.running != 0 || q.waiting != 0 {
			t.Errorf("left behind: %+v", q)
		}
	})
}

func TestNoWaitingAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(1, 0)
		a, b := enter(t.Context(), q, "x"), enter(t.Context(), q, "y")
		expect(t, states(a, b), "running busy")
	})
}

// Many callers that come, go and give up at random moments must neither lose nor double a place.
func TestQueueUnderLoad(t *testing.T) {
	q := NewQueue(3, 8)
	var inside, most int
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range 400 {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%7)*100*time.Microsecond)
			defer cancel()
			leave, err := q.Enter(ctx, fmt.Sprint(i%5))
			if err != nil {
				return
			}
			mu.Lock()
			inside++
			most = max(most, inside)
			mu.Unlock()
			time.Sleep(50 * time.Microsecond)
			mu.Lock()
			inside--
			mu.Unlock()
			leave()
		})
	}
	wg.Wait()
	if most > 3 || q.running != 0 || q.waiting != 0 || len(q.turns) != 0 {
		t.Errorf("%d ran at once; left behind: %+v", most, q)
	}
}
