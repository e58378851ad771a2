package python

import (
	"errors"
	"strings"
	"testing"
)

func TestEveryFailureKindHasATextOfItsOwn(t *testing.T) {
	whats, nexts := map[string]FailureKind{}, map[string]int{}
	l := DefaultLimits()
	for _, k := range failureKinds() {
		what, next := k.explain(l)
		if what == "" || next == "" {
			t.Errorf("%s has no text", k)
		}
		if other, taken := whats[what]; taken {
			t.Errorf("%s and %s have the same text", k, other)
		}
		whats[what] = k
		nexts[next]++
		kind, message := (&Failure{Kind: k, Cause: errors.New("/home/alice/.cache/x.cwasm: wasm trap")}).public(l)
		if kind != k || strings.Contains(message, "alice") || strings.Contains(message, "trap") {
			t.Errorf("%s leaves as %s: %s", k, kind, message)
		}
	}
	for k, want := range map[FailureKind]string{
		NotPrepared: "`sallyport setup`", Busy: "Try again later", Invalid: "Change the request", MemoryLimit: "512 MiB", DiskLimit: "256 MiB or 10000 files",
		Belt: "`sallyport doctor`", Killed: "One retry can help", CPULimit: "same code will fail again", StackOverflow: "Stack overflow", Crashed: "crash",
		Cancelled: "cancelled", NoAnswer: "exit code is not known", Internal: "look at the log",
	} {
		if _, message := (&Failure{Kind: k}).public(l); !strings.Contains(message, want) {
			t.Errorf("%s: %q is missing in %s", k, want, message)
		}
	}
}

func TestUnknownKindIsAFaultOfTheRunner(t *testing.T) {
	kind, message := (&Failure{Kind: "made_up", Message: "hello."}).public(DefaultLimits())
	if kind != Internal || !strings.Contains(message, "of its own: hello. The script is probably not at fault.") {
		t.Errorf("%s: %s", kind, message)
	}
}

func TestHostPathsDoNotLeave(t *testing.T) {
	for in, want := range map[string]string{
		"opening /home/alice/.cache/sallyport/x.cwasm: denied":    "opening (a path of the host): denied",
		"at /tmp/sallyport-12/ws now":                             "at (a path of the host) now",
		`in "/var/lib/x y" or='/etc/passwd'`:                      `in "(a path of the host) y" or='(a path of the host)'`,
		`at C:\Users\Bob\x.cwasm (os error 2)`:                    "at (a path of the host) (os error 2)",
		"write to /workspace/output, /workspace/input/a or /tmp.": "write to /workspace/output, /workspace/input/a or /tmp.",
		"and/or 3 MiB/s, run `sallyport setup --from DIR|X`":      "and/or 3 MiB/s, run `sallyport setup --from DIR|X`",
	} {
		if got := hideHostPaths(in); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
	f := &Failure{Kind: Crashed, Message: "boom\x1b[31m\n/root/.cache/y " + strings.Repeat("z", 10_000)}
	if _, got := f.public(DefaultLimits()); strings.ContainsAny(got, "\x1b\n") || strings.Contains(got, "/root") || len(got) > 2*maxMessage {
		t.Errorf("%q", got)
	}
}
