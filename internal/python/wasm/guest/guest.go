// Package guest holds the Python that runs inside the interpreter: what builds the image, what
// runs a script, and what stands in for things that this platform lacks.
//
// It is data to Go. Nothing here guards anything: the guest is free to change all of it in memory.
package guest

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed *.py
var files embed.FS

// Build is the name of the script that builds an image; it loads the others.
const Build = "build.py"

// Modules are the names of the other sources, in the order in which they are loaded.
func Modules() []string {
	return []string{"archive", "refuse", "loop", "entropy", "figures", "fixes", "warm", "run"}
}

// Sources returns each file by name.
func Sources() (map[string][]byte, error) {
	out := map[string][]byte{}
	names, err := fs.Glob(files, "*.py")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		data, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		out[strings.TrimPrefix(name, "./")] = data
	}
	return out, nil
}
