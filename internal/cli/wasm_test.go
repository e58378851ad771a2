package cli

import (
	"context"
	"fmt"
	"testing"

	"sallyport.dev/sallyport/internal/artifact"
	"sallyport.dev/sallyport/internal/confine"
	"sallyport.dev/sallyport/internal/fault"
)

func TestSetupErrorsAreSorted(t *testing.T) {
	for err, want := range map[error]fault.Kind{
		artifact.ErrUnsafe:     fault.Usage,
		artifact.ErrNoPip:      fault.NotPrepared,
		artifact.ErrOffline:    fault.NotPrepared,
		artifact.ErrMismatch:   fault.Corrupt,
		artifact.ErrArchive:    fault.Corrupt,
		artifact.ErrNoSpace:    fault.Unsupported,
		context.Canceled:       fault.Cancelled,
		&confine.Unavailable{}: fault.Unsupported,
		fmt.Errorf("odd"):      fault.Internal,
	} {
		if got := fault.KindOf(setupError(fmt.Errorf("fetching: %w", err))); got != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
	if setupError(nil) != nil {
		t.Error("no error became one")
	}
}
