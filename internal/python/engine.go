package python

import (
	"context"
	"time"
)

// An Engine runs one piece of Python in a fresh interpreter that is thrown away afterwards.
//
// Implementations are safe for concurrent use. Nothing of one Run may be visible to another.
type Engine interface {
	// Describe reports what the engine offers now. The tool description is generated from it,
	// so whatever it says must hold for the very next Run.
	Describe() Capabilities

	// Run executes the request and returns when the interpreter, and every process that it
	// caused, has ended. A script that fails, or that ran into the time limit, is an Outcome.
	// An error is always a *Failure: the runner failed, whatever the script did.
	// When ctx ends, the interpreter is killed at once and the error has kind Cancelled.
	Run(ctx context.Context, req Request) (Outcome, error)

	// Close kills what is running and releases what the engine holds. It is idempotent.
	Close() error
}

// Capabilities describe a live engine to the model and to the operator.
type Capabilities struct {
	Engine   string    // "wasm"
	Python   string    // version of the language, such as "3.15.0"
	Ready    bool      // false when a Run would be refused now
	NotReady string    // what to do about it, when Ready is false
	Packages []Package // what plain import finds, sorted by name
	Limits   Limits    // ceilings; a request may only lower them
	Notes    []string  // facts that a script's author must know, a sentence each
	Belt     string    // which fences hold around the interpreter, in one line
}

// A Package is an importable distribution.
type Package struct {
	Name    string   `json:"name"`    // distribution, such as "scikit-learn"
	Version string   `json:"version"` // such as "1.8.0"
	Modules []string `json:"modules"` // top-level modules, such as "sklearn"
}

// Limits bound one call. The zero value of a field means that the engine's own default holds.
type Limits struct {
	Timeout      time.Duration // wall clock
	OutputChars  int           // characters kept of each stream, and of result
	Memory       int64         // bytes that the script can hold
	Scratch      int64         // bytes in /workspace and /tmp together
	ScratchFiles int           // files and folders in /workspace and /tmp together
	Artifacts    int           // files and figures that come back
	ArtifactSize int64         // bytes of those, together
	InputSize    int64         // bytes of code, stdin and files together
}

// DefaultLimits are the ceilings of a server that was started without flags.
func DefaultLimits() Limits {
	return Limits{
		Timeout:      30 * time.Second,
		OutputChars:  50_000,
		Memory:       512 << 20,
		Scratch:      256 << 20,
		ScratchFiles: 10_000,
		Artifacts:    16,
		ArtifactSize: 512 << 10,
		InputSize:    16 << 20,
	}
}

// A Request is one script with all that it gets to see.
type Request struct {
	Code   string
	Stdin  []byte
	Files  []File
	Limits Limits // already narrowed to the engine's ceilings
}

// A File is put under /workspace/input. Name is a relative, slash-separated, cleaned path.
type File struct {
	Name    string
	Content []byte
}

// An Outcome is what a script did. It is built from what the operating system says and from
// hostile bytes; it holds no host path.
type Outcome struct {
	Stdout   Stream
	Stderr   Stream
	Result   *Stream       // repr of a last expression; nil when there is none
	ExitCode *int          // nil unless the interpreter ended by itself
	TimedOut bool          // the wall-clock limit ended it
	Duration time.Duration // from start to the end of the process
	Files    []Artifact    // figures first, then files by path
	Notes    []string      // what was left out and why, a sentence each
}

// A Stream is captured text. Bytes that are not UTF-8 stand as \xNN escapes, and Escaped is set.
// When Truncated is set, Text holds head and tail with a note between them that gives the total.
type Stream struct {
	Text      string
	Bytes     int64 // written by the script, before any cut
	Truncated bool
	Escaped   bool
}

// An Artifact is a file that came back, or one that was left out, when Data is nil.
type Artifact struct {
	Path   string // below /workspace, or "figure-1.png"
	Figure bool
	MIME   string
	Size   int64
	Data   []byte
	Reason string // why Data is nil
}
