package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// A rate is how many calls a second a rival ends, with so many clients that each wait for their answer.
type rate struct {
	Script  string  `json:"script"`
	Rival   string  `json:"rival"`
	Clients int     `json:"clients"`
	Calls   int     `json:"calls"`
	PerSec  float64 `json:"per_second"`
}

func (m *meter) rates(ctx context.Context, scripts []script) error {
	if m.options.window <= 0 {
		return nil
	}
	for _, s := range scripts {
		if s.name != "print" && s.name != "pandas" {
			continue
		}
		for _, clients := range []int{1, 2, 4, 8} {
			for _, x := range m.rivals {
				if !x.Can(s) {
					continue
				}
				fmt.Fprintf(m.progress, "%s on %s with %d clients\n", s.name, x.Name(), clients)
				r, err := m.rate(ctx, x, s, clients)
				if err != nil {
					return err
				}
				m.report.Rates = append(m.report.Rates, r)
			}
		}
	}
	return nil
}

// rate starts calls for the length of the window and counts until the last of them has ended, so that
// calls longer than the window count in full.
func (m *meter) rate(ctx context.Context, x rival, s script, clients int) (rate, error) {
	var (
		group sync.WaitGroup
		calls atomic.Int64
		first = make(chan error, clients)
		began = time.Now()
	)
	for range clients {
		group.Go(func() {
			for again := true; again; again = time.Since(began) < m.options.window {
				if _, err := once(ctx, x, s); err != nil {
					first <- err
					return
				}
				calls.Add(1)
			}
		})
	}
	group.Wait()
	took := time.Since(began)
	select {
	case err := <-first:
		return rate{}, err
	default:
	}
	return rate{s.name, x.Name(), clients, int(calls.Load()), float64(calls.Load()) / took.Seconds()}, nil
}
