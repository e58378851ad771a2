package cli

import "os"

// Replace empties the environment in place: this system cannot replace a running process. The first
// copy stays in memory that only this user and administrators can read; docs/security.md says so.
func (s sealer) Replace(Settings) error {
	os.Clearenv()
	return nil
}
