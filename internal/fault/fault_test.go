package fault_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"sallyport.dev/sallyport/internal/fault"
)

func TestKinds(t *testing.T) {
	// The numbers are an interface: scripts and clients branch on them, so they are spelled out here.
	want := []struct {
		kind                fault.Kind
		name                string
		exit, http, jsonrpc int
	}{
		{fault.Internal, "internal", 1, 500, -32603},
		{fault.Usage, "usage", 2, 400, -32602},
		{fault.Denied, "denied", 3, 403, -31003},
		{fault.NotPrepared, "not_prepared", 4, 503, -31004},
		{fault.Unsupported, "unsupported", 5, 501, -31005},
		{fault.Busy, "busy", 6, 429, -31006},
		{fault.Corrupt, "corrupt", 7, 502, -31007},
		{fault.Cancelled, "cancelled", 130, 499, -31008},
	}
	if got := fault.Kinds(); len(got) != len(want) || len(got) > 8 {
		t.Fatalf("%d kinds, want %d and never more than 8", len(got), len(want))
	}
	exits := map[int]fault.Kind{}
	for _, w := range want {
		if w.kind.String() != w.name || w.kind.ExitCode() != w.exit || w.kind.HTTPStatus() != w.http || w.kind.JSONRPCCode() != w.jsonrpc {
			t.Errorf("%d: got %s %d %d %d, want %+v", w.kind, w.kind, w.kind.ExitCode(), w.kind.HTTPStatus(), w.kind.JSONRPCCode(), w)
		}
		if other, taken := exits[w.exit]; taken || w.exit == 0 {
			t.Errorf("%s: exit code %d is taken by %s or means success", w.name, w.exit, other)
		}
		exits[w.exit] = w.kind
	}
}

func TestUnknownKindIsInternal(t *testing.T) {
	for _, k := range []fault.Kind{-1, 8, 1 << 20} {
		if k.ExitCode() != 1 || k.HTTPStatus() != 500 {
			t.Errorf("kind %d: exit %d, status %d; an unknown kind must fail as an internal one", k, k.ExitCode(), k.HTTPStatus())
		}
	}
}

func TestKindOf(t *testing.T) {
	inner := fault.New(fault.Corrupt, "run setup", "reading image: %w", errors.New("short"))
	tests := []struct {
		name string
		err  error
		kind fault.Kind
		hint string
	}{
		{"plain", errors.New("x"), fault.Internal, ""},
		{"wrapped", fmt.Errorf("opening engine: %w", inner), fault.Corrupt, "run setup"},
		{"outer kind wins, inner hint stays", fault.New(fault.Usage, "", "x: %w", inner), fault.Usage, "run setup"},
		{"outer hint wins", fault.New(fault.Usage, "do this", "x: %w", inner), fault.Usage, "do this"},
		{"cancelled", fmt.Errorf("waiting: %w", context.Canceled), fault.Cancelled, ""},
		{"too late", fmt.Errorf("waiting: %w", context.DeadlineExceeded), fault.Cancelled, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := fault.KindOf(tt.err); got != tt.kind {
				t.Errorf("kind %s, want %s", got, tt.kind)
			}
			if got := fault.HintOf(tt.err); got != tt.hint {
				t.Errorf("hint %q, want %q", got, tt.hint)
			}
			if got := fault.ExitCode(tt.err); got != tt.kind.ExitCode() {
				t.Errorf("exit %d, want %d", got, tt.kind.ExitCode())
			}
		})
	}
	if fault.ExitCode(nil) != 0 {
		t.Error("no error must exit 0")
	}
}
