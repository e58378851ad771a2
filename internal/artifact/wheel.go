package artifact

import (
	"archive/zip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// Bounds on archives. Sizes in an archive are claims of whoever made it, so what is read is counted too.
const (
	maxEntries = 100_000
	maxWheel   = 512 << 20
	maxMember  = 512 << 20
)

// A wheel is a zip file whose directory has been checked.
type wheel struct {
	zip   *zip.Reader
	files map[string]*zip.File
	order []string
}

// openWheel reads the directory of a zip file and refuses all that an unpacker could stumble over:
// names that leave the archive, links and devices, encryption, two entries of one name (the reader
// and the checker would take different ones), and sizes beyond any use of ours.
func openWheel(f *os.File) (*wheel, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading wheel: %w", err)
	}
	if !st.Mode().IsRegular() || st.Size() > maxWheel {
		return nil, fmt.Errorf("%w: not a file, or more than %d bytes", ErrArchive, int64(maxWheel))
	}
	z, err := zip.NewReader(f, st.Size())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrArchive, err)
	}
	if len(z.File) > maxEntries {
		return nil, fmt.Errorf("%w: more than %d entries", ErrArchive, maxEntries)
	}
	w := &wheel{zip: z, files: make(map[string]*zip.File, len(z.File))}
	seen := make(map[string]bool, len(z.File))
	for _, e := range z.File {
		name := strings.TrimSuffix(e.Name, "/")
		if err := checkName(name); err != nil {
			return nil, err
		}
		if seen[name] {
			return nil, fmt.Errorf("%w: two entries %.60q", ErrArchive, name)
		}
		seen[name] = true
		mode := e.Mode()
		if strings.HasSuffix(e.Name, "/") {
			if mode&fs.ModeSymlink != 0 {
				return nil, fmt.Errorf("%w: %.60q is a link", ErrArchive, name)
			}
			continue
		}
		if !mode.IsRegular() {
			return nil, fmt.Errorf("%w: %.60q is no regular file (%v)", ErrArchive, name, mode.Type())
		}
		if e.Flags&1 != 0 || e.Method != zip.Store && e.Method != zip.Deflate {
			return nil, fmt.Errorf("%w: %.60q is encrypted or packed in an unknown way", ErrArchive, name)
		}
		if e.UncompressedSize64 > maxMember {
			return nil, fmt.Errorf("%w: %.60q has more than %d bytes", ErrArchive, name, int64(maxMember))
		}
		w.files[name] = e
		w.order = append(w.order, name)
	}
	return w, nil
}

// open gives one member. No more than limit bytes are unpacked, whatever the archive claims.
func (w *wheel) open(name string, limit int64) (io.ReadCloser, error) {
	e, ok := w.files[name]
	if !ok {
		return nil, fmt.Errorf("%w: %.60q is not in it", ErrArchive, name)
	}
	if e.UncompressedSize64 > uint64(limit) {
		return nil, fmt.Errorf("%w: %.60q has %d bytes, at most %d are allowed", ErrArchive, name, e.UncompressedSize64, limit)
	}
	r, err := e.Open()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrArchive, err)
	}
	return r, nil
}

// read gives a small member whole.
func (w *wheel) read(name string, limit int64) ([]byte, error) {
	r, err := w.open(name, limit)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, fmt.Errorf("%w: unpacking %.60q: %w", ErrArchive, name, err)
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("%w: %.60q has more than %d bytes", ErrArchive, name, limit)
	}
	return b, nil
}
