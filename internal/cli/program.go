// Package cli is the command line: it reads flags and the environment, builds the parts, and starts them.
//
// It is the only package that knows all others, and the only one that reads the environment. It holds
// no logic that another front end would need. Data goes to stdout, everything else to stderr; nothing
// is ever coloured. What the commands start goes on in transport, python and doctor.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"sallyport.dev/sallyport/internal/doctor"
	"sallyport.dev/sallyport/internal/fault"
)

// A Program is what all commands share. The zero value cannot seal and has no engines, so it runs nothing.
type Program struct {
	In         io.Reader
	Out        io.Writer
	Err        io.Writer
	Environ    environment
	Args       []string // as the operating system gave them, name of the program first
	Executable string   // path of this program, for the two restarts that seal it
	Engines    []Kit    // the first is the default
	Seal       Sealer

	// Fences proves each fence of this host and sums them up.
	Fences func(context.Context) ([]doctor.Fence, string)
}

// Main is the whole program; it returns the exit code.
func Main() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the program at once, should the clean way hang.
	context.AfterFunc(ctx, stop)

	executable, err := os.Executable()
	if err != nil {
		fmt.Fprintf(os.Stderr, "sallyport: finding its own program file: %v\n", err)
		return fault.ExitCode(err)
	}
	p := &Program{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Environ:    processEnvironment(),
		Args:       os.Args,
		Executable: executable,
		Engines:    kits(),
		Fences:     fences,
	}
	p.Seal = sealer{executable: executable, args: os.Args}
	return p.Run(ctx, os.Args[1:])
}

// Run executes one command line and returns the exit code.
func (p *Program) Run(ctx context.Context, args []string) int {
	root := p.rootCommand()
	root.SetArgs(args)
	root.SetIn(p.In)
	root.SetOut(p.Out)
	root.SetErr(p.Err)
	err := root.ExecuteContext(ctx)
	var code exitCode
	if errors.As(err, &code) {
		return int(code)
	}
	if err != nil {
		p.report(sorted(err))
	}
	return fault.ExitCode(sorted(err))
}

// report prints an error and what to do about it. It never prints the cause chain of a Failure twice.
func (p *Program) report(err error) {
	fmt.Fprintf(p.Err, "sallyport: %v\n", err)
	if hint := fault.HintOf(err); hint != "" {
		fmt.Fprintf(p.Err, "hint: %s\n", hint)
	}
}

// exitCode ends the program with a code that is not an error of ours, such as a script's own.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }
