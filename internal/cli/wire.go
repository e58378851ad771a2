package cli

import (
	"context"

	"sallyport.dev/sallyport/internal/doctor"
	"sallyport.dev/sallyport/internal/fault"
)

// kits lists the engines of this build; the first is the default.
func kits() []Kit { return nil }

// fences proves each fence of this host.
func fences(context.Context) ([]doctor.Fence, string) {
	return []doctor.Fence{}, "no engine is part of this build, so there is nothing to fence"
}

func (p *Program) printConfig(string) error {
	return fault.New(fault.Unsupported, "", "no client snippets are part of this build")
}
