package wasm

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sallyport.dev/sallyport/internal/python"
)

// Bounds of looking around in a folder that a guest has filled.
const (
	maxDepth   = 24
	maxVisited = 20_000
	maxFigures = 64
	maxNamed   = 200 // files that are named in a result, with or without their bytes
)

// A collector gathers what a call leaves behind: figures, then files in the working folder.
type collector struct {
	count   int   // files that may still come back
	size    int64 // bytes that may still come back
	visited int
	files   []python.Artifact
	notes   []string
}

func collect(control, scratch *os.Root, r *report, l python.Limits) ([]python.Artifact, []string) {
	c := &collector{count: l.Artifacts, size: l.ArtifactSize}
	c.figures(control, r)
	c.walk(scratch, "workspace", 0)
	return c.files, c.notes
}

// pngSignature begins each PNG file.
const pngSignature = "\x89PNG\r\n\x1a\n"

// figures takes those that were drawn, also of a script that was killed later: without a report
// what lies there is all there is to know.
func (c *collector) figures(control *os.Root, r *report) {
	most := maxFigures
	if r != nil {
		most = min(r.Figures, maxFigures)
	}
	for i := range most {
		name := fmt.Sprintf("figure-%d.png", i+1)
		if _, err := control.Lstat(name); err != nil {
			break
		}
		a := c.take(control, name, name)
		a.Figure = true
		a.MIME = "image/png"
		if a.Data != nil && !bytes.HasPrefix(a.Data, []byte(pngSignature)) {
			// Clients decode what is called a picture, and the script can have written anything.
			a.Data, a.Reason = nil, "it is no PNG file"
		}
		c.files = append(c.files, a)
	}
	if r != nil && r.FiguresSkipped > 0 {
		c.notes = append(c.notes, fmt.Sprintf("%d more figures were left out: there is no room for them in a result", r.FiguresSkipped))
	}
}

// walk lists regular files in order of their names. Links are named, never followed: os.Root and
// Lstat see the link itself.
func (c *collector) walk(root *os.Root, folder string, depth int) {
	entries, err := readFolder(root, folder)
	if err != nil {
		c.note("a folder could not be listed")
		return
	}
	for _, e := range entries {
		if c.visited++; c.visited > maxVisited || len(c.files) >= maxNamed {
			c.note("there are more files than a result can name; the rest was left out")
			return
		}
		full := path.Join(folder, e.Name())
		shown := strings.TrimPrefix(full, "workspace/")
		switch {
		case e.IsDir() && shown == "input":
			continue // what the caller sent
		case e.IsDir() && depth >= maxDepth:
			c.note(fmt.Sprintf("folders deeper than %d were not looked into", maxDepth))
		case e.IsDir():
			c.walk(root, full, depth+1)
		case e.Type().IsRegular():
			c.files = append(c.files, c.take(root, full, shown))
		default:
			c.files = append(c.files, python.Artifact{Path: printable(shown), Reason: "it is a link or a special file, which is never followed"})
		}
	}
}

// take reads one file if there is room for it. Its size is looked at first: a sparse file of a
// tebibyte costs nothing to make.
func (c *collector) take(root *os.Root, name, shown string) python.Artifact {
	a := python.Artifact{Path: printable(shown), MIME: mimeOf(shown, nil)}
	st, err := root.Lstat(name)
	if err != nil {
		a.Reason = "it could not be read"
		return a
	}
	a.Size = st.Size()
	switch {
	case c.count <= 0:
		a.Reason = "the number of files that come back is used up"
		return a
	case a.Size > c.size:
		a.Reason = fmt.Sprintf("it has %d bytes, and %d are left of what may come back", a.Size, c.size)
		return a
	}
	data, err := readRegular(root, name, c.size)
	if err != nil {
		a.Reason = "it could not be read"
		if errors.Is(err, errNotRegular) {
			a.Reason = "it is not a regular file"
		}
		return a
	}
	c.count--
	c.size -= int64(len(data))
	a.Data, a.Size, a.MIME = data, int64(len(data)), mimeOf(shown, data)
	if a.Data == nil {
		a.Data = []byte{}
	}
	return a
}

func (c *collector) note(text string) {
	if !slices.Contains(c.notes, text) {
		c.notes = append(c.notes, text)
	}
}

// readFolder reads a bounded number of entries, sorted by name.
func readFolder(root *os.Root, name string) ([]fs.DirEntry, error) {
	st, err := root.Lstat(name)
	if err != nil || !st.IsDir() {
		return nil, errors.Join(errNotRegular, err)
	}
	d, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, err := d.ReadDir(maxVisited)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	if len(entries) > 0 {
		return entries, nil
	}
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	return entries, err
}

// printable shows a name with everything that is no visible character escaped, so that a file
// name can neither break a line nor hide.
func printable(name string) string {
	var b strings.Builder
	for len(name) > 0 {
		r, size := utf8.DecodeRuneInString(name)
		switch {
		case r == utf8.RuneError && size <= 1:
			fmt.Fprintf(&b, `\x%02x`, name[0])
		case r < 0x80 && !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\x%02x`, r)
		case !unicode.IsPrint(r): // other controls, line separators, what turns text around, what cannot be seen
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteString(name[:size])
		}
		name = name[size:]
	}
	return b.String()
}

// The types of files that scripts write, where the system's own table may be missing.
var types = map[string]string{
	".csv": "text/csv", ".tsv": "text/tab-separated-values", ".txt": "text/plain", ".md": "text/markdown",
	".json": "application/json", ".py": "text/x-python", ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	".parquet": "application/vnd.apache.parquet", ".svg": "image/svg+xml", ".png": "image/png", ".jpg": "image/jpeg",
	".pdf": "application/pdf", ".html": "text/html", ".zip": "application/zip", ".log": "text/plain",
}

func mimeOf(name string, data []byte) string {
	ext := strings.ToLower(path.Ext(name))
	if t, ok := types[ext]; ok {
		return t
	}
	if t := mime.TypeByExtension(ext); t != "" {
		return t
	}
	if data == nil {
		return "application/octet-stream"
	}
	return http.DetectContentType(data)
}
