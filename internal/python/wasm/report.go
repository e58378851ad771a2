package wasm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"sallyport.dev/sallyport/internal/python"
)

// maxReport bounds what is read of a report: two copies of a result of the largest length that
// is kept, escaped.
const maxReport = 4 << 20

// maxClaim is the largest number that is repeated of what a report only claims.
const maxClaim = 1 << 30

// A report is what the interpreter says of itself. The script can forge all of it; the fields are
// checked for form, and nothing is believed beyond that.
type report struct {
	ExitCode       *int    `json:"exit_code"`
	Figures        int     `json:"figures"`
	FiguresSkipped int     `json:"figures_skipped"`
	Result         *string `json:"result"`
	ResultHead     *string `json:"result_head"`
	ResultTail     string  `json:"result_tail"`
	ResultChars    int64   `json:"result_chars"`
}

// readReport returns nil when there is no report or none of the right form.
func readReport(control *os.Root) *report {
	data, err := readRegular(control, "report.json", maxReport)
	if err != nil {
		return nil
	}
	var r report
	if json.Unmarshal(data, &r) != nil || r.ExitCode == nil || *r.ExitCode < 0 || *r.ExitCode > 255 || r.Figures < 0 || r.FiguresSkipped < 0 {
		return nil
	}
	r.FiguresSkipped = min(r.FiguresSkipped, maxClaim)
	r.ResultChars = min(r.ResultChars, maxClaim)
	return &r
}

// result is the repr of the last expression, if there is one.
func (r *report) result(chars int) *python.Stream {
	switch {
	case r.Result != nil:
		c := python.NewCollector(chars)
		c.Write([]byte(*r.Result))
		s := c.Stream()
		return &s
	case r.ResultHead != nil:
		// The interpreter has cut it already; our own cut stays the upper bound.
		total := max(r.ResultChars, int64(len(*r.ResultHead)+len(r.ResultTail)))
		note := fmt.Sprintf("\n[result truncated: %d characters in total]\n", total)
		c := python.NewCollector(chars + len(note))
		c.Write([]byte(*r.ResultHead + note + r.ResultTail))
		s := c.Stream()
		s.Bytes, s.Truncated = total, true
		return &s
	}
	return nil
}

var errNotRegular = errors.New("not a regular file")

// readRegular reads a file that the guest may have made anything of: a link, a device, a folder.
func readRegular(root *os.Root, name string, limit int64) ([]byte, error) {
	st, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, errNotRegular
	}
	if st.Size() > limit {
		return nil, fs.ErrInvalid
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	// The process is dead and the folder is ours alone, so nothing can have changed in between.
	if again, err := f.Stat(); err != nil || !os.SameFile(st, again) {
		return nil, errNotRegular
	}
	return io.ReadAll(io.LimitReader(f, limit))
}
