package python

import "fmt"

// A FailureKind says what kept a script from having an outcome. Each has a text of its own.
type FailureKind string

const (
	NotPrepared   FailureKind = "not_prepared"   // the cache holds no usable engine
	Busy          FailureKind = "busy"           // the queue is full
	Cancelled     FailureKind = "cancelled"      // the client gave up
	Invalid       FailureKind = "invalid_input"  // the request cannot be run as it is
	MemoryLimit   FailureKind = "memory_limit"   // the process outgrew its memory, guest and host side together
	CPULimit      FailureKind = "cpu_limit"      // processor seconds used up
	DiskLimit     FailureKind = "disk_limit"     // scratch outgrew its quota where no file system enforces it
	StackOverflow FailureKind = "stack_overflow" // native stack exhausted
	Crashed       FailureKind = "crashed"        // the interpreter trapped or aborted
	Killed        FailureKind = "killed"         // a signal that nobody here sent
	NoAnswer      FailureKind = "no_answer"      // the interpreter left without its report
	Belt          FailureKind = "belt"           // the host cannot enforce what was asked
	Internal      FailureKind = "internal"       // a fault of the runner
)

// A Failure is a runner that failed. Its message is written for the model; Cause, if any, is for
// the operator's log and never leaves the process.
type Failure struct {
	Kind    FailureKind
	Message string
	Partial *Outcome // what was captured before, when there is any
	Cause   error
}

func (f *Failure) Error() string { return fmt.Sprintf("%s: %s", f.Kind, f.Message) }
func (f *Failure) Unwrap() error { return f.Cause }
