package cli

import (
	"sallyport.dev/sallyport/internal/fault"
)

// kits lists the engines of this build; the first is the default.
func kits() []Kit { return []Kit{wasmKit{}} }

func (p *Program) printConfig(string) error {
	return fault.New(fault.Unsupported, "", "no client snippets are part of this build")
}
