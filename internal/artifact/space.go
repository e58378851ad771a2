package artifact

import "fmt"

// spaceHint says what to do where the disk is full; other errors pass.
func spaceHint(err error) error {
	if noSpace(err) {
		return fmt.Errorf("%w: %w; free some space, or name another folder with --cache DIR, and run the same command again", ErrNoSpace, err)
	}
	return err
}
