package cli

import (
	"context"
	"io"
	"log/slog"

	"sallyport.dev/sallyport/internal/doctor"
	"sallyport.dev/sallyport/internal/fault"
	"sallyport.dev/sallyport/internal/python"
)

// A Kit is one engine as the commands see it: how to prepare, open and examine it.
//
// To add an engine, write its kit in a file of its own and name it in kits.
type Kit interface {
	Name() string

	// Open never waits for a cache: an engine that is not prepared comes back too, and says so
	// when it is described or called. The engine belongs to the caller, who closes it.
	Open(context.Context, Settings, *slog.Logger) (python.Engine, error)

	// Prepare fills the cache. It returns at once when all is there, with Already set.
	Prepare(context.Context, Preparation, Progress) (Prepared, error)

	// Check proves a prepared cache without the network, by running every advertised package.
	Check(context.Context, Preparation, Progress) (Prepared, error)

	// Export writes what Preparation.From takes on another machine; there is no native code in it.
	Export(context.Context, Preparation, io.Writer) error

	// Examine says what is there and what it would take, changing nothing.
	Examine(ctx context.Context, cache string) doctor.Engine
}

// A Preparation is what setup was asked for.
type Preparation struct {
	Cache    string
	Image    string   // name of the image to make or check
	Wasmtime string   // a program to use instead of the one on PATH
	From     string   // a folder or a tar file that stands in for the package manager
	Preload  []string // modules to import into the image, instead of the usual ones
	PyPI     []string // name==version of pure wheels to add

	AllowWeaker bool // make and try the image although a fence is missing here
}

// Prepared is what setup did or found. The JSON names are an interface.
type Prepared struct {
	Engine     string           `json:"engine"`
	Cache      string           `json:"cache"`
	Image      string           `json:"image"`
	ImageBytes int64            `json:"image_bytes"`
	Runtime    string           `json:"runtime"`
	Python     string           `json:"python"`
	Packages   []python.Package `json:"packages"`
	Already    bool             `json:"already"` // nothing had to be done
	Checked    bool             `json:"checked"` // every package was imported in the belt
	Warnings   []string         `json:"warnings"`
}

// Progress is told about each step: done of total, in bytes or pieces; total is 0 when unknown.
type Progress func(step string, done, total int64)

// kits lists the engines of this build; the first is the default.
func kits() []Kit { return []Kit{wasmKit{}} }

// automatic is the engine name that means: the first kit.
const automatic = "auto"

func (p *Program) engineNames() []string {
	names := []string{automatic}
	for _, k := range p.Engines {
		names = append(names, k.Name())
	}
	return names
}

func (p *Program) kit(name string) (Kit, error) {
	for _, k := range p.Engines {
		if name == automatic || name == k.Name() {
			return k, nil
		}
	}
	return nil, fault.New(fault.Usage, "see sallyport doctor for the engines of this host", "there is no engine %q", name)
}
