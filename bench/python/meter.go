package main

import (
	"context"
	"fmt"
	"io"
	"time"
)

// settle lets a server put away what a call left behind, and make ready what it keeps for the next one,
// before the next rival's turn. That work counts as the call's processor time, and is not hidden from
// the calls per second, which have no pauses.
const settle = 100 * time.Millisecond

// A meter makes the measurements and writes them to the report.
type meter struct {
	rivals   []rival
	progress io.Writer
	report   *report
	options  options
}

// once makes a call and refuses a wrong answer.
func once(ctx context.Context, x rival, s script) (time.Duration, error) {
	began := time.Now()
	out, err := x.Call(ctx, s)
	took := time.Since(began)
	if err == nil && out != s.want {
		err = fmt.Errorf("it printed %q, not %q", out, s.want)
	}
	if err != nil {
		return 0, fmt.Errorf("running %s on %s: %w", s.name, x.Name(), err)
	}
	return took, nil
}

// A turn is a rival's share of the rounds of one script.
type turn struct {
	rival rival
	calls int
	times []time.Duration
	spent time.Duration // processor time of its turns, not of the time between them
	known bool          // whether the system tells it
}

// due spreads the calls of a slow rival evenly over all rounds.
func (t *turn) due(round, rounds int) bool {
	return (round+1)*t.calls/rounds > round*t.calls/rounds
}

// take makes one measured call. The kernel counts in steps of 10 ms for servers; the error of a single
// call evens out over many.
func (t *turn) take(ctx context.Context, s script) error {
	before, known := t.rival.Spent()
	took, err := once(ctx, t.rival, s)
	if err != nil {
		return err
	}
	time.Sleep(settle)
	after, still := t.rival.Spent()
	t.times = append(t.times, took)
	t.spent += after - before
	t.known = known && still
	return nil
}

func (m *meter) latencies(ctx context.Context, scripts []script) error {
	for _, s := range scripts {
		turns, err := m.warm(ctx, s)
		if err != nil {
			return err
		}
		for round := range m.options.runs {
			for i := range turns {
				// Another one begins each round, so that nobody always follows the same neighbour.
				t := turns[(i+round)%len(turns)]
				if !t.due(round, m.options.runs) {
					continue
				}
				if err := t.take(ctx, s); err != nil {
					return err
				}
			}
		}
		for _, t := range turns {
			cpu := -1.0
			if t.known {
				cpu = t.spent.Seconds() / float64(t.calls)
			}
			m.report.Latencies = append(m.report.Latencies, summed(s.name, t.rival.Name(), t.times, cpu))
		}
	}
	return nil
}

// warm makes one call that is not counted on each rival, so that files are in memory and caches made.
func (m *meter) warm(ctx context.Context, s script) ([]*turn, error) {
	var turns []*turn
	for _, x := range m.rivals {
		if !x.Can(s) {
			m.report.Without = append(m.report.Without, absent{x.Name(), "it has no packages, so it does not run " + s.name})
			continue
		}
		took, err := once(ctx, x, s)
		if err == nil {
			took, err = once(ctx, x, s)
		}
		if err != nil {
			return nil, err
		}
		t := &turn{rival: x, calls: m.options.runs}
		if took > time.Second {
			t.calls = min(m.options.runs, m.options.slowRuns)
		}
		fmt.Fprintf(m.progress, "%s on %s: %d calls of about %s\n", s.name, x.Name(), t.calls, took.Round(time.Millisecond))
		turns = append(turns, t)
	}
	time.Sleep(settle)
	return turns, nil
}
