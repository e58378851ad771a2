package artifact

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
)

// ResolvePyPI makes an extra package available, by its exact version and without what it depends on.
// The first use records its digest in the pins file, each later use must give the same. pins is the
// path of that file, "" for pypi.lock.json in the cache.
func (s *Store) ResolvePyPI(ctx context.Context, pin string, src Source, pins string, progress Progress) (Pure, error) {
	project, version, err := parsePin(pin)
	if err != nil {
		return Pure{}, err
	}
	if pins == "" {
		pins = filepath.Join(s.dir, "pypi.lock.json")
	}
	unlock, err := s.Lock(ctx, "fetch", progress)
	if err != nil {
		return Pure{}, err
	}
	defer unlock()
	list, err := readPins(pins)
	if err != nil {
		return Pure{}, err
	}
	known := list.find(project, version)
	if known != nil && s.sound(known.Archive) {
		return *known, nil
	}
	got, err := s.fetchPure(ctx, project, version, known, src, progress)
	if err != nil {
		return Pure{}, fmt.Errorf("adding %s: %w", pin, spaceHint(err))
	}
	if known != nil {
		if got.Archive != known.Archive {
			return Pure{}, errors.Join(fmt.Errorf("adding %s: %w: its content has changed since it was first used (sha256 %.12s…, recorded %.12s…); if you trust the new one, remove its entry from %s", pin, ErrMismatch, got.Archive, known.Archive, pins), s.Remove(got.Archive))
		}
		return *known, nil
	}
	list.Packages = append(list.Packages, got)
	return got, list.write(pins)
}

func (s *Store) sound(d Digest) bool {
	f, err := s.OpenVerified(d)
	if err != nil {
		return false
	}
	f.Close()
	return true
}

func (s *Store) fetchPure(ctx context.Context, project, version string, known *Pure, src Source, progress Progress) (Pure, error) {
	stage, err := s.stage()
	if err != nil {
		return Pure{}, err
	}
	defer stage.Close()
	if src.From != "" {
		return s.pureFromSite(ctx, stage, project, version, src.From)
	}
	found, err := managers(ctx, src.Manager)
	if err != nil {
		return Pure{}, err
	}
	p := pick{project: project, version: version}
	if known != nil && known.Wheel != "" {
		p.digests = []Digest{known.Wheel}
	}
	var all []error
	for _, m := range found {
		got, err := s.pureFromManager(ctx, stage, m, p, progress)
		if err == nil {
			return got, nil
		}
		all = append(all, err)
		if ctx.Err() != nil || errors.Is(err, ErrMismatch) || errors.Is(err, ErrNoSpace) || errors.Is(err, ErrArchive) {
			break
		}
	}
	return Pure{}, errors.Join(all...)
}

func (s *Store) pureFromManager(ctx context.Context, stage *stage, m manager, p pick, progress Progress) (Pure, error) {
	p.platform = "any"
	got, err := s.pureOnce(ctx, stage, m, p, progress)
	if m.kind == "uv" && errors.Is(err, ErrImpure) {
		p.foreign = true
		if again, err := s.pureOnce(ctx, stage, m, p, progress); err == nil {
			return again, nil
		}
	}
	return got, err
}

func (s *Store) pureOnce(ctx context.Context, stage *stage, m manager, p pick, progress Progress) (Pure, error) {
	out, err := m.fetch(ctx, stage, p, progress)
	if err != nil {
		return Pure{}, err
	}
	if m.kind == "uv" {
		root, err := os.OpenRoot(out)
		if err != nil {
			return Pure{}, err
		}
		defer root.Close()
		t, err := folderTree(root)
		if err != nil {
			return Pure{}, err
		}
		return s.takePure(ctx, stage, t, p.project, p.version)
	}
	list, err := wheelsIn(out)
	if err != nil {
		return Pure{}, err
	}
	f, err := os.Open(list[0])
	if err != nil {
		return Pure{}, err
	}
	defer f.Close()
	return s.pureFromWheel(ctx, stage, f, p.project, p.version)
}

func (s *Store) pureFromWheel(ctx context.Context, stage *stage, f *os.File, project, version string) (Pure, error) {
	d, _, err := digestOf(contextReader{ctx, f}, maxPure)
	if err != nil {
		return Pure{}, fmt.Errorf("%w: %w", ErrArchive, err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return Pure{}, err
	}
	w, err := openWheel(f)
	if err != nil {
		return Pure{}, err
	}
	p, err := s.takePure(ctx, stage, wheelTree(w), project, version)
	if err == nil && d != p.Archive {
		p.Wheel = d
	}
	return p, err
}

// pureFromSite looks at each file that could be the wheel: what it is stands inside, not in its name.
func (s *Store) pureFromSite(ctx context.Context, stage *stage, project, version, from string) (Pure, error) {
	var got *Pure
	err := eachFile(ctx, stage, from, func(size int64) bool { return got == nil && size <= maxPure }, func(f *os.File, _ Digest) error {
		w, err := openWheel(f)
		if err != nil {
			return nil // no zip; the one that we want must pass
		}
		if _, err := wheelTree(w).identify(); err != nil {
			return nil // a zip, but no wheel
		}
		if _, err := wheelTree(w).info(project, version); errors.Is(err, ErrMismatch) {
			return nil // another package
		}
		p, err := s.pureFromWheel(ctx, stage, f, project, version)
		if err == nil {
			got = &p
		}
		return err
	})
	if err != nil {
		return Pure{}, err
	}
	if got == nil {
		return Pure{}, fmt.Errorf("%w: %s holds no pure wheel of %s %s; get it with: pip download --no-deps %s==%s", ErrMissing, from, project, version, project, version)
	}
	return *got, nil
}

// pinList is the content of pypi.lock.json. It may be shared: two machines with one file get the
// same packages.
type pinList struct {
	Packages []Pure `json:"packages"`
}

func (l pinList) find(project, version string) *Pure {
	for i, p := range l.Packages {
		if p.Project == project && sameVersion(p.Version, version) {
			return &l.Packages[i]
		}
	}
	return nil
}

func readPins(name string) (pinList, error) {
	var l pinList
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &l)
	}
	for _, p := range l.Packages {
		if err == nil && (!p.Archive.valid() || p.Project != NormalProject(p.Project) || !versionForm.MatchString(p.Version)) {
			err = fmt.Errorf("entry %.60q is incomplete", p.Project)
		}
	}
	if err != nil {
		return pinList{}, fmt.Errorf("reading recorded packages %s: %w; repair the file, or remove it to record anew", name, err)
	}
	return l, nil
}

func (l pinList) write(name string) error {
	sort.Slice(l.Packages, func(a, b int) bool {
		return l.Packages[a].Project+"\x00"+l.Packages[a].Version < l.Packages[b].Project+"\x00"+l.Packages[b].Version
	})
	b, err := json.MarshalIndent(l, "", " ")
	if err != nil {
		return fmt.Errorf("recording packages: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".pypi-*.json")
	if err != nil {
		return fmt.Errorf("recording packages: %w", spaceHint(err))
	}
	defer os.Remove(f.Name())
	_, err = f.Write(append(b, '\n'))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("recording packages: %w", spaceHint(err))
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return fmt.Errorf("recording packages: %w", err)
	}
	return nil
}
