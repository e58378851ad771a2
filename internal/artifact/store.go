package artifact

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"
)

// A Store keeps files under their sha256 in a private folder. It is safe for concurrent use, also by
// several processes: a file appears by rename, whole, or not at all.
type Store struct {
	dir  string
	root *os.Root
}

// Open makes the folder if need be and refuses one that somebody else could change: native code is
// loaded from it, so whoever can write there runs code as this user.
func Open(dir string) (*Store, error) {
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("opening cache %q: %w: give an absolute path", dir, ErrUnsafe)
	}
	dir = filepath.Clean(dir)
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return nil, fmt.Errorf("making cache folder: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("making cache folder: %w", err)
	}
	if err := checkPrivate(dir); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("opening cache: %w", err)
	}
	s := &Store{dir: dir, root: root}
	for _, d := range []string{"sha256", "staging", "lock"} {
		if err := s.mkdir(d); err != nil {
			root.Close()
			return nil, err
		}
	}
	return s, nil
}

// mkdir makes a folder below the root and holds it to the same rules as the root.
func (s *Store) mkdir(name string) error {
	if err := s.root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("making cache folder: %w", err)
	}
	st, err := s.root.Lstat(name)
	if err != nil {
		return fmt.Errorf("checking cache folder: %w", err)
	}
	return checkFolder(filepath.Join(s.dir, name), st)
}

// Close releases the folder; files that were opened stay open.
func (s *Store) Close() error { return s.root.Close() }

// Dir is the folder that the store was opened with.
func (s *Store) Dir() string { return s.dir }

func blob(d Digest) string { return "sha256/" + string(d[:2]) + "/" + string(d) }

// Path is where the file lies, for programs that take a path. The file is not checked: call
// OpenVerified first, and rely on nobody else being able to write the folder.
func (s *Store) Path(d Digest) (string, error) {
	if !d.valid() {
		return "", fmt.Errorf("naming a cached file: %w: %q is no digest", ErrMissing, string(d))
	}
	return filepath.Join(s.dir, filepath.FromSlash(blob(d))), nil
}

// Has reports whether a whole file of that size lies there. It reads no content, so that a prepared
// installation is recognised at once; OpenVerified proves it.
func (s *Store) Has(d Digest, size int64) bool {
	if !d.valid() {
		return false
	}
	st, err := s.root.Lstat(blob(d))
	return err == nil && st.Mode().IsRegular() && (size < 0 || st.Size() == size)
}

// OpenVerified hashes the file through the descriptor that it returns, so that what was checked is
// what is used. The caller closes it.
func (s *Store) OpenVerified(d Digest) (*os.File, error) {
	if !d.valid() {
		return nil, fmt.Errorf("opening a cached file: %w: %q is no digest", ErrMissing, string(d))
	}
	name := blob(d)
	before, err := s.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("opening cached file %.12s: %w; run sallyport setup", d, ErrMissing)
	}
	if err != nil {
		return nil, fmt.Errorf("opening cached file %.12s: %w", d, err)
	}
	if err := checkFile(filepath.Join(s.dir, name), before); err != nil {
		return nil, err
	}
	f, err := s.root.Open(name)
	if err != nil {
		return nil, fmt.Errorf("opening cached file %.12s: %w", d, err)
	}
	if err := verify(f, before, d); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func verify(f *os.File, before fs.FileInfo, want Digest) error {
	st, err := f.Stat()
	if err != nil {
		return fmt.Errorf("checking cached file %.12s: %w", want, err)
	}
	if !os.SameFile(before, st) {
		return fmt.Errorf("checking cached file %.12s: %w: it was swapped while it was opened; run sallyport setup", want, ErrDamaged)
	}
	got, _, err := digestOf(f, st.Size())
	if err != nil {
		return fmt.Errorf("checking cached file %.12s: %w", want, err)
	}
	if got != want {
		return fmt.Errorf("checking cached file %s: %w: its sha256 is %.12s…; run sallyport setup to replace it", f.Name(), ErrDamaged, got)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("checking cached file %.12s: %w", want, err)
	}
	return nil
}

// Put stores what r holds. With a wanted digest anything else is refused; with "" the content names
// itself. At most limit bytes are taken. The file is on disk, whole, when Put returns.
func (s *Store) Put(r io.Reader, want Digest, limit int64, executable bool) (Digest, error) {
	if want != "" && !want.valid() {
		return "", fmt.Errorf("storing a file: %q is no digest", string(want))
	}
	stage, err := s.stage()
	if err != nil {
		return "", err
	}
	defer stage.Close()
	return s.put(stage, r, want, limit, executable)
}

func (s *Store) put(stage *stage, r io.Reader, want Digest, limit int64, executable bool) (Digest, error) {
	name := stage.name + "/" + unique()
	f, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", fmt.Errorf("storing a file: %w", spaceHint(err))
	}
	got, err := fill(f, r, limit, executable)
	if err != nil {
		return "", fmt.Errorf("storing a file: %w", spaceHint(err))
	}
	if want != "" && got != want {
		return "", fmt.Errorf("storing a file: %w: sha256 is %s, the lock names %s", ErrMismatch, got, want)
	}
	dir := path.Dir(blob(got))
	if err := s.mkdir(dir); err != nil {
		return "", err
	}
	// Rename replaces a damaged file of that name; readers that have it open keep the old one.
	if err := s.root.Rename(name, blob(got)); err != nil {
		return "", fmt.Errorf("storing a file: %w", err)
	}
	return got, s.syncDir(dir)
}

// fill writes, hashes and closes f. fsync comes before the rename that publishes the file: after a
// power cut a name must never stand for half of the content.
func fill(f *os.File, r io.Reader, limit int64, executable bool) (Digest, error) {
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, h), io.LimitReader(r, limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("%w: more than %d bytes", ErrMismatch, limit)
	}
	// Readable by all inside a folder that is private: the belt shows single files to a process that
	// runs as another user.
	mode := os.FileMode(0o444)
	if executable {
		mode = 0o555
	}
	if err == nil {
		err = chmod(f, mode)
	}
	if err == nil {
		err = f.Sync()
	}
	return Digest(hex.EncodeToString(h.Sum(nil))), errors.Join(err, f.Close())
}

// Remove deletes a file; one that is not there is no error.
func (s *Store) Remove(d Digest) error {
	if !d.valid() {
		return fmt.Errorf("removing a cached file: %q is no digest", string(d))
	}
	if err := s.root.Remove(blob(d)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing a cached file: %w", err)
	}
	return nil
}

// List names the digests that the store holds; sizes come with them.
func (s *Store) List() (map[Digest]int64, error) {
	all := map[Digest]int64{}
	err := fs.WalkDir(s.root.FS(), "sha256", func(p string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		if d := Digest(path.Base(p)); d.valid() {
			st, err := e.Info()
			if err != nil {
				return err
			}
			all[d] = st.Size()
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing the cache: %w", err)
	}
	return all, nil
}

// A stage is a folder for unfinished work. Its lock file is held for as long as its owner lives, so
// what a killed process left is known for what it is and removed by the next one.
type stage struct {
	store *Store
	name  string // below the root
	lock  *os.File
}

func (s *Store) stage() (*stage, error) {
	s.sweep()
	g := &stage{store: s, name: "staging/" + unique()}
	if err := s.root.Mkdir(g.name, 0o700); err != nil {
		return nil, fmt.Errorf("making a staging folder: %w", spaceHint(err))
	}
	f, err := s.root.OpenFile(g.name+"/lock", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = tryLock(f)
	}
	if err != nil {
		if f != nil {
			f.Close()
		}
		return nil, errors.Join(fmt.Errorf("making a staging folder: %w", spaceHint(err)), s.root.RemoveAll(g.name))
	}
	g.lock = f
	return g, nil
}

func (g *stage) path() string { return filepath.Join(g.store.dir, filepath.FromSlash(g.name)) }

func (g *stage) Close() error {
	return errors.Join(g.lock.Close(), g.store.root.RemoveAll(g.name))
}

// sweep removes stages whose owner is gone. A folder without a lock file may be in the making, so it
// is left alone for an hour. Failing to clean is no reason to fail the work at hand.
func (s *Store) sweep() {
	list, err := fs.ReadDir(s.root.FS(), "staging")
	if err != nil {
		return
	}
	for _, e := range list {
		name := "staging/" + e.Name()
		f, err := s.root.OpenFile(name+"/lock", os.O_RDWR, 0)
		if err != nil {
			if st, err := e.Info(); err == nil && time.Since(st.ModTime()) > time.Hour {
				s.root.RemoveAll(name)
			}
			continue
		}
		if ok, err := tryLock(f); err == nil && ok {
			s.root.RemoveAll(name)
		}
		f.Close()
	}
}

func unique() string {
	var b [12]byte
	rand.Read(b[:]) // never fails: it ends the program instead
	return hex.EncodeToString(b[:])
}
