package confine

import (
	"context"
	"errors"
)

// Probe says what this host can enforce around a program. The program is started in a belt and
// ended before its first instruction; what its fences must stop is tried meanwhile. An empty
// path stands for our own executable.
func Probe(ctx context.Context, program string) Report {
	if program == "" {
		program = ownExecutable
	}
	spec := Spec{
		Program:     program,
		Scratch:     []Scratch{{Name: "probe", Bytes: 1 << 20, Files: 16}},
		AllowWeaker: true,
	}
	belt, err := Prepare(ctx, spec)
	var unavailable *Unavailable
	switch {
	case errors.As(err, &unavailable):
		return Report{Fences: unavailable.Missing}
	case err != nil:
		return Report{Fences: []Fence{{Name: "belt", Why: err.Error()}}}
	}
	defer belt.Close()
	return belt.Report()
}
