package doctor

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// WriteTable prints the report for people. What does not hold comes with the reason on the same line.
func (r Report) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 2, 8, 2, ' ', 0)
	row := func(cells ...string) { fmt.Fprintln(t, strings.Join(cells, "\t")) }

	row("sallyport", r.Version)
	row("platform", joinNonEmpty(", ", r.Platform, r.Kernel, r.User+" user"))
	row("cache", r.Cache)
	row("isolation", r.Summary)
	row("")
	row("FENCE", "HOLDS", "DETAIL")
	for _, f := range r.Fences {
		row(f.Name, yesNo(f.Holds), joinNonEmpty("; ", f.Detail, f.Why, f.Remedy))
	}
	for _, e := range r.Engines {
		row("")
		row("ENGINE "+e.Name, ready(e), joinNonEmpty(", ", e.Runtime, python(e), e.Why))
		if strings.Contains(e.Belt, "missing") { // else it only repeats the fences above
			row("  belt", "", e.Belt)
		}
		for _, i := range e.Images {
			row("  image "+i.Name, yesNo(i.Usable), joinNonEmpty(", ", fmt.Sprintf("%d MiB", i.Bytes>>20), fmt.Sprintf("%d packages", i.Packages), i.Why))
		}
		for _, a := range e.Advisories {
			row("  "+a.ID, covered(a), joinNonEmpty(": ", a.Title, a.Why))
		}
	}
	row("")
	if len(r.Credentials) == 0 {
		row("CREDENTIAL FILES", "none", "in the folders of the program and of the cache")
	}
	for _, c := range r.Credentials {
		row("CREDENTIAL FILE", "found", c.Path+" ("+c.Reason+"): move it away")
	}
	return t.Flush()
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "NO"
}

func ready(e Engine) string {
	if e.Ready {
		return "ready"
	}
	return "NOT READY"
}

func covered(a Advisory) string {
	if a.Covered {
		return "covered"
	}
	return "NOT COVERED"
}

func python(e Engine) string {
	if e.Python == "" {
		return ""
	}
	return "Python " + e.Python
}

func joinNonEmpty(sep string, parts ...string) string {
	kept := parts[:0:0]
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, sep)
}
