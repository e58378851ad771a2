package conventions

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestLicence(t *testing.T) {
	text := read(t, "LICENSE")
	for _, want := range []string{"Apache License", "Version 2.0, January 2004", "END OF TERMS AND CONDITIONS"} {
		if !strings.Contains(text, want) {
			t.Errorf("LICENSE lacks %q", want)
		}
	}
}

func TestReadmeIsShort(t *testing.T) {
	if lines := strings.Count(read(t, "README.md"), "\n"); lines >= 150 {
		t.Errorf("README.md has %d lines; it stays under 150 and links to docs/", lines)
	}
}

// Each direct dependency is a decision; docs/dependencies.md gives the reason for it.
func TestDependenciesAreDocumented(t *testing.T) {
	var required, documented []string
	for _, m := range regexp.MustCompile(`(?m)^(?:require )?\s*([a-z0-9.-]+/[^\s]+) v[^\s]+(.*)$`).FindAllStringSubmatch(read(t, "go.mod"), -1) {
		if !strings.Contains(m[2], "// indirect") {
			required = append(required, m[1])
		}
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(read(t, "docs/dependencies.md"), -1) {
		documented = append(documented, m[1])
	}
	slices.Sort(required)
	slices.Sort(documented)
	if !slices.Equal(required, documented) {
		t.Errorf("go.mod requires  %v\ndocumented are   %v", required, documented)
	}
}

// A link that leads nowhere is a promise broken in silence.
func TestDocumentLinksResolve(t *testing.T) {
	all := files(t)
	link := regexp.MustCompile(`\]\(([^)#\s]+)(#[^)]*)?\)`)
	for _, name := range all {
		if path.Ext(name) != ".md" || strings.Contains("/"+name, "/testdata/") {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(read(t, name), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			target := path.Join(path.Dir(name), m[1])
			if !slices.ContainsFunc(all, func(f string) bool { return within(f, target) }) {
				t.Errorf("%s links to %s, which is not there", name, target)
			}
		}
	}
}
