package conventions

import (
	"path"
	"strconv"
	"strings"
	"testing"
)

// allowed lists what a package of ours may import of ours, beside its own noun and fault, which is
// the shared vocabulary of errors. "*" means everything. What is not listed may import nothing else:
// the nouns stay apart, and cli alone wires them.
var allowed = map[string][]string{
	"cmd/sallyport":        {"internal/cli"},
	"internal/cli":         {"*"},
	"internal/transport":   {"internal/mcp"},                          // the envelope is checked where frames come in
	"internal/python/wasm": {"internal/confine", "internal/artifact"}, // the engine runs in the belt, from verified files
	"examples":             {},                                        // examples use the program as its users do
	"bench":                {},
}

func TestNounsDoNotImportEachOther(t *testing.T) {
	for _, f := range sources(t) {
		dir := path.Dir(f.name)
		for _, spec := range f.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if inside, ours := strings.CutPrefix(imported, module+"/"); ours && !mayImport(dir, inside) {
				t.Errorf("%s imports %s: only cli wires nouns; declare a small interface instead", f.name, inside)
			}
		}
	}
}

func mayImport(dir, imported string) bool {
	if imported == "internal/fault" || noun(dir) == noun(imported) {
		return true
	}
	for from, targets := range allowed {
		if !within(dir, from) {
			continue
		}
		for _, target := range targets {
			if target == "*" || within(imported, target) {
				return true
			}
		}
	}
	return false
}

// noun is the first folder below internal, or the top folder.
func noun(dir string) string {
	parts := strings.Split(dir, "/")
	if parts[0] == "internal" && len(parts) > 1 {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

func within(dir, parent string) bool { return dir == parent || strings.HasPrefix(dir, parent+"/") }

func TestImportRule(t *testing.T) {
	for _, tt := range []struct {
		from, to string
		want     bool
	}{
		{"internal/python", "internal/confine", false},
		{"internal/python/wasm", "internal/confine", true},
		{"internal/python/wasm/image", "internal/python", true},
		{"internal/mcp", "internal/transport", false},
		{"internal/transport", "internal/mcp", true},
		{"internal/doctor", "internal/fault", true},
		{"internal/confine", "internal/python/wasm", false},
		{"internal/cli", "internal/confine", true},
		{"cmd/sallyport", "internal/python", false},
		{"examples/demo", "internal/cli", false},
	} {
		if got := mayImport(tt.from, tt.to); got != tt.want {
			t.Errorf("%s -> %s: %v, want %v", tt.from, tt.to, got, tt.want)
		}
	}
}
