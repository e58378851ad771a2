package cli

import (
	"encoding/json"
	"fmt"
)

// writeJSON prints one document to stdout, and nothing else ever goes there with --json.
func (p *Program) writeJSON(v any) error {
	e := json.NewEncoder(p.Out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return nil
}
