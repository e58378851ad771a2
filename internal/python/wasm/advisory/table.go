package advisory

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
)

//go:embed advisories.json
var tableJSON []byte

// A Table is the content of advisories.json.
//
// To add an advisory: give its id, the half-open ranges of affected versions, the systems and
// processors if not all are concerned, what a guest needs for it, and the mechanisms that cover it
// with the reason. To add a mechanism: name it under "mechanisms" and say in Host.holds where it holds.
type Table struct {
	Runtime         string            `json:"runtime"`
	Reviewed        string            `json:"reviewed"`         // date
	ReviewedThrough string            `json:"reviewed_through"` // newest release that was looked at
	Minimum         string            `json:"minimum"`          // oldest supported release
	Note            string            `json:"note"`
	Mechanisms      map[string]string `json:"mechanisms"`
	Advisories      []Advisory        `json:"advisories"`
}

// An Advisory is one published fault of the runtime.
type Advisory struct {
	ID        string       `json:"id"`
	CVE       string       `json:"cve,omitempty"`
	RustSec   string       `json:"rustsec,omitempty"`
	Title     string       `json:"title"`
	Affected  [][2]*string `json:"affected"` // first affected, first fixed; null for none yet
	OS        []string     `json:"os,omitempty"`
	Arch      []string     `json:"arch,omitempty"`
	Needs     string       `json:"needs,omitempty"` // what a guest or host must have
	CoveredBy []string     `json:"covered_by"`      // mechanisms; one that holds is enough
	Why       string       `json:"why"`
	Source    string       `json:"source"` // "rustsec", "cve" or "release notes"
}

// Load reads the table that is part of this program.
func Load() (Table, error) { return parse(tableJSON) }

func parse(b []byte) (Table, error) {
	var t Table
	if err := json.Unmarshal(b, &t); err != nil {
		return Table{}, fmt.Errorf("reading the advisory table: %w", err)
	}
	for _, s := range []string{t.Minimum, t.ReviewedThrough} {
		if _, err := parseVersion(s); err != nil {
			return Table{}, fmt.Errorf("reading the advisory table: %w", err)
		}
	}
	for _, a := range t.Advisories {
		if err := a.check(t.Mechanisms); err != nil {
			return Table{}, fmt.Errorf("reading the advisory table: %s: %w", a.ID, err)
		}
	}
	return t, nil
}

func (a Advisory) check(mechanisms map[string]string) error {
	if a.ID == "" || a.Title == "" || len(a.Affected) == 0 || a.Why == "" {
		return fmt.Errorf("incomplete entry")
	}
	for _, r := range a.Affected {
		if r[0] == nil {
			return fmt.Errorf("a range without a start")
		}
		lo, err := parseVersion(*r[0])
		if err != nil {
			return err
		}
		if r[1] == nil {
			continue
		}
		hi, err := parseVersion(*r[1])
		if err != nil {
			return err
		}
		if !lo.before(hi) {
			return fmt.Errorf("range %s to %s is empty", *r[0], *r[1])
		}
	}
	for _, m := range a.CoveredBy {
		if mechanisms[m] == "" {
			return fmt.Errorf("unknown mechanism %q", m)
		}
	}
	return nil
}

// affects takes ranges that check has passed.
func (a Advisory) affects(v version, h Host) bool {
	if len(a.OS) > 0 && !slices.Contains(a.OS, h.OS) || len(a.Arch) > 0 && !slices.Contains(a.Arch, h.Arch) {
		return false
	}
	for _, r := range a.Affected {
		lo, _ := parseVersion(*r[0])
		if v.before(lo) {
			continue
		}
		if r[1] == nil {
			return true
		}
		if hi, _ := parseVersion(*r[1]); v.before(hi) {
			return true
		}
	}
	return false
}

// fixed lists the releases that first have the fix, oldest first.
func (a Advisory) fixed() []string {
	var list []string
	for _, r := range a.Affected {
		if r[1] != nil {
			list = append(list, *r[1])
		}
	}
	return list
}
