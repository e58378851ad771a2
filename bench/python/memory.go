package main

import (
	"context"
	"fmt"
	"time"
)

// A footprint is memory in bytes, summed over processes.
type footprint struct {
	RSS     int64 `json:"rss"`     // resident pages, each counted in every process that maps it
	PSS     int64 `json:"pss"`     // resident pages, each divided by the number of processes that map it
	Private int64 `json:"private"` // pages that nobody else maps
}

func (f footprint) minus(g footprint) footprint {
	return footprint{f.RSS - g.RSS, f.PSS - g.PSS, f.Private - g.Private}
}

// A memory is what a running call takes. Two calls run at once, so that what they share shows as shared.
type memory struct {
	Script string    `json:"script"`
	Rival  string    `json:"rival"`
	Idle   footprint `json:"idle"` // what stays between calls
	Call   footprint `json:"call"` // what each of the two adds
}

const (
	asleep = 2 // calls at once
	nap    = 1.5
)

// memories looks at calls that sleep at the end of their script, and keeps the fullest moment.
func (m *meter) memories(ctx context.Context, scripts []script) error {
	for _, s := range scripts {
		if s.name != "print" && s.name != "pandas" && s.name != "figure" {
			continue
		}
		for _, x := range m.rivals {
			if !x.Can(s) {
				continue
			}
			fmt.Fprintf(m.progress, "memory of %s on %s\n", s.name, x.Name())
			idle, ok := sumTrees(x.Processes())
			if !ok {
				fmt.Fprintln(m.progress, "memory: this system does not tell, or not to this user")
				return nil
			}
			most, err := fullest(ctx, x, s.sleepy(nap))
			if err != nil {
				return err
			}
			added := most.minus(idle)
			m.report.Memories = append(m.report.Memories, memory{
				Script: s.name, Rival: x.Name(), Idle: idle,
				Call: footprint{added.RSS / asleep, added.PSS / asleep, added.Private / asleep},
			})
		}
	}
	return nil
}

func fullest(ctx context.Context, x rival, s script) (footprint, error) {
	ended := make(chan error, asleep)
	for range asleep {
		go func() {
			_, err := once(ctx, x, s)
			ended <- err
		}()
	}
	var most footprint
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for left := asleep; left > 0; {
		select {
		case err := <-ended:
			left--
			if err != nil {
				return most, err
			}
		case <-look.C:
			// Only while all of them run, or a share would be counted as one call's own.
			if now, ok := sumTrees(x.Processes()); ok && left == asleep && now.PSS > most.PSS {
				most = now
			}
		}
	}
	return most, nil
}
