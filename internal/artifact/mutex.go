package artifact

import (
	"context"
	"fmt"
	"os"
	"time"
)

// Lock keeps other processes that lock the same name out until unlock is called or this process ends,
// however it ends. While another one holds it, progress says so and ctx can end the waiting.
func (s *Store) Lock(ctx context.Context, name string, progress Progress) (unlock func(), err error) {
	if err := checkName(name); err != nil {
		return nil, fmt.Errorf("locking the cache: %w", err)
	}
	f, err := s.root.OpenFile("lock/"+name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking the cache: %w", spaceHint(err))
	}
	for said := false; ; {
		ok, err := tryLock(f)
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("locking the cache: %w", err)
		}
		if ok {
			return func() { f.Close() }, nil
		}
		if !said {
			said = true
			progress.say("waiting for another setup that works on this cache", 0, 0)
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("waiting for another setup that works on this cache: %w", context.Cause(ctx))
		case <-time.After(100 * time.Millisecond):
		}
	}
}
