package advisory

import (
	"slices"
	"strings"
	"testing"
)

func load(t *testing.T) Table {
	t.Helper()
	table, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func ids(list []Finding) []string {
	var all []string
	for _, f := range list {
		all = append(all, f.Advisory.ID)
	}
	return all
}

func TestRanges(t *testing.T) {
	table := load(t)
	linux, windows := Promised("linux", "amd64"), Promised("windows", "amd64")
	arm := Promised("linux", "arm64")
	for _, c := range []struct {
		id, version string
		host        Host
		want        bool
	}{
		{"GHSA-vqjp-4c8c-hfgg", "36.0.13", linux, true}, {"GHSA-vqjp-4c8c-hfgg", "36.0.14", linux, false},
		{"GHSA-vqjp-4c8c-hfgg", "46.0.2", linux, true}, {"GHSA-vqjp-4c8c-hfgg", "46.0.3", linux, false},
		{"GHSA-vqjp-4c8c-hfgg", "47.0.3", linux, true}, {"GHSA-vqjp-4c8c-hfgg", "47.0.4", linux, false},
		{"GHSA-vqjp-4c8c-hfgg", "40.0.0", linux, true}, {"GHSA-vqjp-4c8c-hfgg", "48.0.0", linux, false},
		{"GHSA-4ch3-9j33-3pmj", "46.0.0", linux, true}, {"GHSA-4ch3-9j33-3pmj", "46.0.1", linux, false},
		{"GHSA-2r75-cxrj-cmph", "44.0.1", linux, true}, {"GHSA-2r75-cxrj-cmph", "45.0.0", linux, false},
		{"GHSA-852m-cvvp-9p4w", "41.0.3", linux, true}, {"GHSA-852m-cvvp-9p4w", "41.0.4", linux, false},
		{"GHSA-f2pq-268w-886c", "49.0.6", windows, true}, {"GHSA-f2pq-268w-886c", "49.0.7", windows, false},
		{"GHSA-f2pq-268w-886c", "48.0.9", windows, true}, {"GHSA-f2pq-268w-886c", "48.0.10", windows, false},
		{"GHSA-f2pq-268w-886c", "50.0.2", windows, true}, {"GHSA-f2pq-268w-886c", "51.0.0", windows, false},
		{"GHSA-f2pq-268w-886c", "49.0.3", linux, false},
		{"GHSA-mghf-wjfp-p5xm", "49.0.3", arm, true}, {"GHSA-mghf-wjfp-p5xm", "49.0.3", linux, false}, {"GHSA-mghf-wjfp-p5xm", "49.0.4", arm, false},
		{"GHSA-96f6-r43r-8c24", "49.0.1", linux, true}, {"GHSA-96f6-r43r-8c24", "49.0.2", linux, false},
		{"GHSA-96f6-r43r-8c24", "49.0.2-rc.1", linux, true},
		{"GHSA-j366-h8gg-77pm", "48.0.3", linux, true}, {"GHSA-hw8m-q44c-ggrf", "46.0.0", linux, false},
	} {
		list, err := table.Check(c.version, c.host)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(ids(list), c.id); got != c.want {
			t.Errorf("%s on %s/%s with %s: affected %v, want %v", c.version, c.host.OS, c.host.Arch, c.id, got, c.want)
		}
	}
}

func TestRefuse(t *testing.T) {
	table := load(t)
	bare := Promised("linux", "amd64")
	bare.FileFence, bare.MemoryFence = false, false
	for _, c := range []struct {
		version string
		host    Host
		hint    string // "" means usable
	}{
		{"49.0.3", Promised("linux", "amd64"), ""},
		{"49.0.3", Promised("linux", "arm64"), ""},
		{"49.0.3", Promised("darwin", "arm64"), ""},
		{"49.0.3", Promised("windows", "amd64"), "GHSA-f2pq-268w-886c"},
		{"49.0.3", Promised("windows", "arm64"), "49.0.7"},
		{"49.0.7", Promised("windows", "amd64"), ""},
		{"48.0.2", Promised("linux", "amd64"), ""},
		{"51.0.0", bare, ""},
		{"36.0.14", Promised("linux", "amd64"), "--wasmtime"}, // fixed, but too old for the image
		{"36.0.13", bare, "48.0.0"},
		{"46.0.2", Promised("linux", "amd64"), "48.0.0"},
		{"47.0.3", Promised("linux", "amd64"), "48.0.0"},
		{"12.0.0", Promised("linux", "amd64"), "48.0.0"},
		{"50.0.0-rc.1", Promised("linux", "amd64"), "pre-release"},
		{"48.0.0-rc.1", Promised("linux", "amd64"), "older"},
		{"", Promised("linux", "amd64"), "three numbers"},
		{"49", Promised("linux", "amd64"), "three numbers"},
		{"49.0.7; rm", Promised("linux", "amd64"), "three numbers"},
	} {
		err := table.Refuse(c.version, c.host)
		if (err == nil) != (c.hint == "") || err != nil && !strings.Contains(err.Error(), c.hint) {
			t.Errorf("%q on %+v: %v, want %q", c.version, c.host, err, c.hint)
		}
	}
}

// A fence that a host lacks does not count, whatever the system is called.
func TestFencesOfTheHost(t *testing.T) {
	table, err := parse([]byte(`{"runtime":"wasmtime","minimum":"48.0.0","reviewed_through":"51.0.0","mechanisms":{"files":"x","memory":"y","magic":"z"},"advisories":[
		{"id":"A","title":"t","why":"w","affected":[["49.0.0",null]],"covered_by":["files"]},
		{"id":"B","title":"t","why":"w","affected":[["49.0.0","49.0.9"]],"covered_by":["memory"]},
		{"id":"C","title":"t","why":"w","affected":[["50.0.0",null]],"covered_by":[]},
		{"id":"D","title":"t","why":"w","affected":[["51.0.0",null]],"covered_by":["magic"]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	full := Promised("linux", "amd64")
	if err := table.Refuse("49.0.0", full); err != nil {
		t.Error(err)
	}
	for _, h := range []Host{{OS: "linux", MemoryFence: true}, {OS: "linux", FileFence: true}, Promised("darwin", "arm64")} {
		if table.Refuse("49.0.0", h) == nil {
			t.Errorf("%+v: usable", h)
		}
	}
	if err := table.Refuse("50.0.0", full); err == nil || !strings.Contains(err.Error(), "C (") {
		t.Errorf("what nothing covers: %v", err)
	}
	if err := table.Refuse("51.0.0", full); err == nil || !strings.Contains(err.Error(), "D (") {
		t.Errorf("a mechanism that nobody knows: %v", err)
	}
}

func TestBrokenTables(t *testing.T) {
	entry := func(s string) string {
		return `{"minimum":"48.0.0","reviewed_through":"51.0.0","mechanisms":{"files":"x"},"advisories":[` + s + `]}`
	}
	for _, s := range []string{
		`{`, `{"minimum":"x","reviewed_through":"51.0.0"}`,
		entry(`{"id":"A"}`),
		entry(`{"id":"A","title":"t","why":"w","affected":[[null,"1.0.0"]]}`),
		entry(`{"id":"A","title":"t","why":"w","affected":[["2.0.0","1.0.0"]]}`),
		entry(`{"id":"A","title":"t","why":"w","affected":[["1","2.0.0"]]}`),
		entry(`{"id":"A","title":"t","why":"w","affected":[["1.0.0","2.0.0"]],"covered_by":["typo"]}`),
	} {
		if _, err := parse([]byte(s)); err == nil {
			t.Errorf("took %s", s)
		}
	}
}

func TestTableIsWhole(t *testing.T) {
	table := load(t)
	seen := map[string]bool{}
	for _, a := range table.Advisories {
		if seen[a.ID] {
			t.Errorf("%s stands twice", a.ID)
		}
		seen[a.ID] = true
		if len(a.CoveredBy) == 0 {
			t.Errorf("%s: nothing covers it anywhere; say so in the docs before this test is changed", a.ID)
		}
	}
	if !table.Unreviewed("52.0.0") || table.Unreviewed("51.0.0") || table.Unreviewed("49.0.3") || !table.Unreviewed("x") {
		t.Error("Unreviewed is wrong")
	}
}
