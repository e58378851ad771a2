package transport

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"time"
)

func TestNewcomersAreClosed(t *testing.T) {
	var n newcomers
	pair := func(states ...http.ConnState) net.Conn {
		ours, theirs := net.Pipe()
		t.Cleanup(func() { ours.Close(); theirs.Close() })
		for _, state := range states {
			n.state(ours, state)
		}
		return theirs
	}
	early, active := pair(http.StateNew), pair(http.StateNew, http.StateActive)
	n.close()
	late := pair(http.StateNew)
	for name, conn := range map[string]net.Conn{"early": early, "late": late} {
		if _, err := conn.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	// One that works is left to Shutdown.
	if err := active.SetDeadline(time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := active.Write([]byte("x")); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("active: got %v", err)
	}
}
