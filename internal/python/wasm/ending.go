package wasm

import (
	"fmt"
	"strings"
	"syscall"

	"sallyport.dev/sallyport/internal/confine"
	"sallyport.dev/sallyport/internal/python"
)

// exitNoRequest is what the guest's start code leaves with when its request is cut off.
const exitNoRequest = 9

// How the runtime reports that a guest ended badly. The script may have left a line open before it.
const trapReport = "Error: failed to run main module `"

// With what other words of the runtime begin, always on a line of their own. A script can print the
// same; it then loses its own text, and only in a call that failed.
var runtimeWords = []string{"Error: failed to ", "Error: unable to ", "thread '", "Error: "}

// cutNote is how a stream that was too long says so; what follows it may be the middle of the
// runtime's words.
const cutNote = "[output truncated: "

// stripRuntime cuts the runtime's own message, which names files of the host, off the end of what
// the process wrote to standard error. It returns what is left and the message.
func stripRuntime(text string) (own, message string) {
	if at := strings.LastIndex(text, trapReport); at >= 0 {
		return text[:at], text[at:]
	}
	for _, words := range runtimeWords {
		if at := strings.LastIndex("\n"+text, "\n"+words); at >= 0 {
			return text[:at], text[at:]
		}
	}
	if at := strings.LastIndex(text, cutNote); at >= 0 {
		if line := strings.IndexByte(text[at:], '\n'); line >= 0 {
			return text[:at+line+1], text[at+line+1:]
		}
	}
	return text, ""
}

// failed turns the end of a process that left no report into a failure with a kind. The words of
// the runtime choose between texts of ours, and never reach the caller. Once the script has begun
// they may be forged, so then they choose only between ways of a script to fail: none of them
// blames the host or sends the operator anywhere.
func failed(exit confine.Exit, message string, begun bool, l python.Limits) *python.Failure {
	f := func(kind python.FailureKind, format string, args ...any) *python.Failure {
		return &python.Failure{Kind: kind, Message: fmt.Sprintf(format, args...), Cause: fmt.Errorf("exit %d, signal %d, cause %q: %.2000s", exit.Code, exit.Signal, exit.Cause, message)}
	}
	switch exit.Cause {
	case confine.CauseMemory:
		return f(python.MemoryLimit, "the interpreter used more memory than it may (%d MiB for the script and a fixed amount for itself); use less at a time", l.Memory>>20)
	case confine.CauseCPU:
		return f(python.CPULimit, "the processor time of the call is used up; compute less in one call")
	case confine.CauseDisk:
		return f(python.DiskLimit, "the files in /workspace and /tmp outgrew the limit of %d MiB or %d files; write less", l.Scratch>>20, l.ScratchFiles)
	case confine.CauseThreads:
		return f(python.Killed, "the interpreter started more threads than it may")
	}
	switch {
	case strings.Contains(message, "call stack exhausted"), exit.Signal == syscall.SIGSEGV && strings.Contains(message, "overflow"):
		return f(python.StackOverflow, "the interpreter's stack overflowed before Python could raise RecursionError; recurse less deeply")
	case strings.Contains(message, "wasm trap"), strings.Contains(message, "wasm backtrace"), exit.Code == 134, exit.Signal == syscall.SIGABRT, exit.Signal == syscall.SIGILL, exit.Signal == syscall.SIGSEGV, exit.Signal == syscall.SIGBUS:
		return f(python.Crashed, "the interpreter crashed (an abort or a trap in native code); what was printed before is kept, and the next call starts afresh")
	case !begun && (strings.Contains(message, "annot allocate memory") || strings.Contains(message, "os error 12")):
		return f(python.Belt, "the host's address space limit is too low for the engine, which reserves 16 GiB of addresses (not memory): the operator must raise `ulimit -v` or vm.overcommit settings")
	case exit.Signal == syscall.SIGKILL:
		return f(python.Killed, "the interpreter was killed by a signal that did not come from this server; the host may be out of memory")
	case exit.Signal != 0:
		return f(python.Killed, "the interpreter was ended by signal %d", exit.Signal)
	case begun && exit.Code == 0:
		return f(python.NoAnswer, "the interpreter left without its report: the script ended the process from native code, or destroyed the report")
	case begun:
		return f(python.NoAnswer, "the interpreter left without its report, with status %d, which is not the script's exit code", exit.Code)
	case exit.Code == exitNoRequest:
		return f(python.Internal, "the interpreter could not read its request")
	case strings.Contains(message, "failed deserialization"), strings.Contains(message, "failed to parse"), strings.Contains(message, "compiled with"), strings.Contains(message, "compiled without"):
		return f(python.NotPrepared, "the prepared image does not fit this runtime or processor; the operator must run `sallyport setup`")
	}
	return f(python.Internal, "the runtime ended with status %d before the script had an outcome; this is not the script's exit code", exit.Code)
}
