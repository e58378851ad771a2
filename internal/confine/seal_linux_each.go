//go:build linux && !amd64

package confine

import "fmt"

// callEach makes the calls one by one, up to the first that fails.
func (p *puppet) callEach(requests []request) error {
	for _, r := range requests {
		if _, err := p.call(r.number, r.args[:]...); err != nil {
			return fmt.Errorf("%s: %w", r.what, err)
		}
	}
	return nil
}
