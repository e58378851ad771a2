package conventions

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// testdata/cases.tsv maps each bug report that others have suffered from to the test that keeps us from
// it, or to the reason why it waits and the area that will take it. The format stands in its head.

// areas are the parts of the design that may take a case later.
var areas = []string{"approval", "audit", "containers", "egress", "gateway", "install", "lifecycle", "pyodide", "sandbox", "secrets", "workspace"}

// A known is one line of the table.
type known struct {
	id, kind string
	tests    []string // dir:TestName or dir:TestName/part or testdata/script:name.txtar
}

func table(t *testing.T) []known {
	t.Helper()
	var all []known
	seen := map[string]bool{}
	for i, line := range strings.Split(strings.TrimSpace(read(t, "testdata/cases.tsv")), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(line, "\t")
		if len(cells) != 3 {
			t.Errorf("cases.tsv:%d has %d cells, want id, kind, verdict", i+1, len(cells))
			continue
		}
		k := known{id: cells[0], kind: cells[1]}
		if seen[k.id] {
			t.Errorf("cases.tsv:%d: %s is there twice", i+1, k.id)
		}
		seen[k.id] = true
		verdict, rest, _ := strings.Cut(cells[2], " ")
		switch verdict {
		case "test":
			k.tests = strings.Fields(rest)
			if len(k.tests) == 0 {
				t.Errorf("cases.tsv:%d: %s names no test", i+1, k.id)
			}
		case "later":
			area, reason, _ := strings.Cut(rest, ": ")
			if !slices.Contains(areas, area) || len(reason) < 10 {
				t.Errorf("cases.tsv:%d: %s: want later AREA: reason, with an area of %v", i+1, k.id, areas)
			}
		default:
			t.Errorf("cases.tsv:%d: %s: the verdict is test or later, not %q", i+1, k.id, verdict)
		}
		all = append(all, k)
	}
	if len(all) < 100 {
		t.Fatalf("only %d cases; the table is not whole", len(all))
	}
	return all
}

// A reported is one line of a list of cases; the rest of the line is for the tests that use it.
type reported struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
	line string
}

func list(t *testing.T, name string) (map[string]reported, error) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		return nil, err
	}
	cases := map[string]reported{}
	for _, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		r := reported{line: line}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		cases[r.ID] = r
	}
	return cases, nil
}

func TestCasesAreComplete(t *testing.T) {
	copied, err := list(t, "testdata/cases/cases.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]known{}
	for _, k := range table(t) {
		byID[k.id] = k
		if _, ok := copied[k.id]; len(k.tests) > 0 && !ok {
			t.Errorf("%s has a test, but testdata/cases/cases.jsonl lacks its input", k.id)
		}
	}
	for id := range copied {
		if len(byID[id].tests) == 0 {
			t.Errorf("testdata/cases/cases.jsonl has %s, which no test uses", id)
		}
	}
	// The full list lies beside the checkout where the team works, not in the repository.
	full, err := list(t, "../shared/cases/cases.jsonl")
	if errors.Is(err, fs.ErrNotExist) {
		t.Log("the full list of cases is not beside this checkout; only the copied ones were compared")
		full = copied
	} else if err != nil {
		t.Fatal(err)
	} else {
		for id := range byID {
			if _, ok := full[id]; !ok {
				t.Errorf("cases.tsv has %s, which is no case", id)
			}
		}
	}
	for id, r := range full {
		k, ok := byID[id]
		switch {
		case !ok:
			t.Errorf("cases.tsv lacks %s (%s)", id, r.Kind)
		case k.kind != r.Kind:
			t.Errorf("cases.tsv: %s is of kind %s, not %s", id, r.Kind, k.kind)
		}
		if c, ok := copied[id]; ok && c.line != r.line {
			t.Errorf("testdata/cases/cases.jsonl: %s differs from the list", id)
		}
	}
}

func TestCasesNameTestsThatExist(t *testing.T) {
	all := files(t)
	for _, k := range table(t) {
		for _, name := range k.tests {
			if err := exists(t, all, name); err != "" {
				t.Errorf("cases.tsv: %s: %s %s", k.id, name, err)
			}
		}
	}
}

// exists looks for the function in the folder's test files, and for the part, which is what stands
// after the slash, in the folder's sources and data. Suites that are shared keep theirs in enginetest.
func exists(t *testing.T, all []string, name string) string {
	dir, test, ok := strings.Cut(name, ":")
	if !ok {
		return "is not of the form folder:TestName"
	}
	if strings.HasSuffix(test, ".txtar") {
		if slices.Contains(all, dir+"/"+test) {
			return ""
		}
		return "is no script"
	}
	test, part, _ := strings.Cut(test, "/")
	declared, mentioned := false, part == ""
	function := regexp.MustCompile(`(?m)^func ` + regexp.QuoteMeta(test) + `\(\w+ \*testing\.[TF]\)`)
	for _, f := range all {
		if path.Dir(f) == dir && strings.HasSuffix(f, "_test.go") && function.MatchString(read(t, f)) {
			declared = true
		}
		if strings.TrimSuffix(path.Base(f), path.Ext(f)) == part {
			mentioned = true // a case that is a file of data
		}
		if !mentioned && (within(f, dir) || within(f, "internal/python/enginetest")) && strings.Contains(read(t, f), part) {
			mentioned = true
		}
	}
	switch {
	case !declared:
		return "is not declared"
	case !mentioned:
		return "has no part of that name"
	}
	return ""
}
