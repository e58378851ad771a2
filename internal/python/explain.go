package python

import (
	"fmt"
	"regexp"
	"strings"
)

// failureKinds lists every kind, so that a test can hold each to a text of its own.
func failureKinds() []FailureKind {
	return []FailureKind{
		NotPrepared, Busy, Cancelled, Invalid, MemoryLimit, CPULimit, DiskLimit, StackOverflow,
		Crashed, Killed, NoAnswer, Belt, Internal,
	}
}

// explain says what a kind means and whether a retry can help. It knows the limits, never the
// cause: that goes to the operator's log.
func (k FailureKind) explain(l Limits) (what, next string) {
	switch k {
	case NotPrepared:
		return "Python is not set up on this machine", "Ask the operator to run `sallyport setup`. Until then every call fails, so do not retry."
	case Busy:
		return "All places are taken and the queue is full", "Nothing was run. Try again later."
	case Cancelled:
		return "The call was cancelled", "The script was killed. Nothing of it remains."
	case Invalid:
		return "The request cannot be run as it is", "Nothing was run. Change the request; the same one will be refused again."
	case MemoryLimit:
		return fmt.Sprintf("Memory limit exceeded: the script outgrew %s and was killed", mebibytes(l.Memory)), "The same code will fail again: work on less data at a time."
	case CPULimit:
		return "Processor limit exceeded: the script used up its processor seconds and was killed", "The same code will fail again: do less work in one call."
	case DiskLimit:
		return fmt.Sprintf("Disk limit exceeded: the script wrote more than %s or %d files and was killed", mebibytes(l.Scratch), l.ScratchFiles), "The same code will fail again: write less."
	case StackOverflow:
		return "Stack overflow: the script recursed, or nested data, too deeply and the interpreter was lost", "The same code will fail again: use a loop or flatter data."
	case Crashed:
		return "The interpreter crashed while it ran the script", "The same code will probably crash again: try another way to do it. The next call gets a fresh interpreter."
	case Killed:
		return "The interpreter was killed from outside, and neither by the time limit nor by the memory limit of this call", "The host may be short of memory. One retry can help."
	case NoAnswer:
		return "The interpreter ended without its report, so its exit code is not known", "The script may have ended the process in an unusual way. The output is what was captured until then."
	case Belt:
		return "This host cannot enforce the isolation that was asked for, so nothing was run", "Retrying is useless. Ask the operator to run `sallyport doctor`."
	}
	return "The sandbox failed for a reason of its own", "The script is probably not at fault. One retry can help; after that, ask the operator to look at the log."
}

// public is what leaves this process about a failure: kind and message. A kind that is not known
// is reported as a fault of the runner.
func (f *Failure) public(l Limits) (FailureKind, string) {
	kind := Internal
	for _, k := range failureKinds() {
		if f.Kind == k {
			kind = k
		}
	}
	what, next := kind.explain(l)
	if detail := strings.TrimRight(hideHostPaths(oneLine(f.Message, maxMessage)), ". "); detail != "" {
		what += ": " + detail
	}
	return kind, what + ". " + next
}

const maxMessage = 600

// hideHostPaths replaces absolute paths that are not the guest's own. Engines do not put them
// into messages; this is for the day that one does, as a path names users and tells where a
// sandbox keeps its files.
func hideHostPaths(s string) string {
	return absolutePath.ReplaceAllStringFunc(s, func(found string) string {
		at := strings.IndexAny(found, `/\`)
		path := found[at:]
		if path == "/tmp" || path == "/tmp." || path == "/workspace" || strings.HasPrefix(path, "/workspace/") || strings.HasPrefix(path, "/workspace.") {
			return found
		}
		if path[0] == '\\' {
			at -= len("C:")
		}
		return found[:at] + "(a path of the host)"
	})
}

// absolutePath matches a path of either kind of system, with the one character before it that
// tells it from a fraction such as MiB/s.
var absolutePath = regexp.MustCompile("(?:^|[^A-Za-z0-9_./])(?:/[^\\s\"'`,;:()\\[\\]{}]*|[A-Za-z]:\\\\[^\\s\"'`,;()]*)")

func mebibytes(n int64) string { return fmt.Sprintf("%d MiB", n>>20) }
