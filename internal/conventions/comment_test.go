package conventions

import (
	"path"
	"strings"
	"testing"
)

// Readers start at the package comment, and tools show one of several at random.
func TestEachPackageHasOneComment(t *testing.T) {
	commented := map[string][]string{}
	for _, f := range sources(t) {
		dir := path.Dir(f.name)
		if _, seen := commented[dir]; !seen {
			commented[dir] = nil
		}
		if f.Doc == nil {
			continue
		}
		commented[dir] = append(commented[dir], f.name)
		want := "Package " + f.Name.Name + " "
		if f.Name.Name == "main" {
			want = "Command " + path.Base(dir) + " "
		}
		if !strings.HasPrefix(f.Doc.Text(), want) {
			t.Errorf("%s: the package comment does not begin with %q", f.name, want)
		}
	}
	for dir, names := range commented {
		if len(names) != 1 {
			t.Errorf("%s has %d package comments %v, want one", dir, len(names), names)
		}
	}
}
