package artifact

import "errors"

// Errors that a caller may branch on. The text of what wraps them says what to do.
var (
	ErrMissing  = errors.New("not in the cache")
	ErrDamaged  = errors.New("damaged in the cache")
	ErrMismatch = errors.New("not the pinned file")
	ErrUnsafe   = errors.New("unsafe cache folder")
	ErrArchive  = errors.New("refused archive")
	ErrImpure   = errors.New("not pure") // always with ErrArchive
	ErrNoPip    = errors.New("no package manager")
	ErrNoSpace  = errors.New("no space left")
	ErrOffline  = errors.New("could not be downloaded")
)

// Progress is told what is going on. total is 0 where it is not known. It is called from one
// goroutine at a time and must return soon.
type Progress func(step string, done, total int64)

func (p Progress) say(step string, done, total int64) {
	if p != nil {
		p(step, done, total)
	}
}
