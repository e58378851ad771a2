package artifact

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"sort"
	"strings"
)

// maxPure bounds an extra package, packed and unpacked.
const maxPure = 256 << 20

// A Pure is an extra package of Python code alone.
//
// It is kept as a zip of our own making (sorted names, no compression, no times) with what a package
// manager adds or rewrites left out. So pip, which leaves a wheel, and uv, which leaves a folder,
// give the same digest, and so does an import of our own export.
type Pure struct {
	Project  string        `json:"project"` // normalised
	Version  string        `json:"version"` // as the package spells it
	Archive  Digest        `json:"archive"` // the zip in the store
	Size     int64         `json:"size"`
	Wheel    Digest        `json:"wheel,omitempty"` // of the wheel, where the manager leaves one
	Modules  []string      `json:"modules"`         // top-level names
	Requires []Requirement `json:"requires,omitempty"`
}

// Filename is a wheel's name for the archive: it is one, but for its list of files.
func (p Pure) Filename() string {
	return strings.ReplaceAll(p.Project, "-", "_") + "-" + p.Version + "-py3-none-any.whl"
}

// A Requirement is what a package says that it needs. Nothing is fetched for it.
type Requirement struct {
	Project string `json:"project"` // normalised
	Text    string `json:"text"`    // as written, with range and condition
}

// Missing lists what the packages need and neither have nor they themselves bring.
func Missing(pure []Pure, have func(project string) bool) []Requirement {
	mine := map[string]bool{}
	for _, p := range pure {
		mine[p.Project] = true
	}
	var list []Requirement
	for _, p := range pure {
		for _, r := range p.Requires {
			if !mine[r.Project] && !have(r.Project) {
				mine[r.Project] = true
				list = append(list, r)
			}
		}
	}
	return list
}

// tree is what a package consists of: an unpacked wheel or one that is still packed.
type tree struct {
	names []string
	size  func(name string) int64
	open  func(name string) (io.ReadCloser, error)
}

func wheelTree(w *wheel) tree {
	return tree{w.order,
		func(n string) int64 { return int64(w.files[n].UncompressedSize64) },
		func(n string) (io.ReadCloser, error) { return w.open(n, maxPure) }}
}

// folderTree lists what uv left. Programs that it made for entry points are not part of the package.
func folderTree(root *os.Root) (tree, error) {
	sizes := map[string]int64{}
	t := tree{size: func(n string) int64 { return sizes[n] }, open: func(n string) (io.ReadCloser, error) { return root.Open(n) }}
	err := fs.WalkDir(root.FS(), ".", func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			if p == "bin" || p == "Scripts" {
				return fs.SkipDir
			}
			return nil
		case p == ".lock":
			return nil
		case !e.Type().IsRegular():
			return fmt.Errorf("%w: %.60q is no regular file", ErrArchive, p)
		}
		st, err := e.Info()
		if err != nil {
			return err
		}
		sizes[p] = st.Size()
		t.names = append(t.names, p)
		return checkName(p)
	})
	return t, err
}

var (
	distInfo   = regexp.MustCompile(`^([A-Za-z0-9_.]+)-([^-/]+)\.dist-info$`)
	nativeName = regexp.MustCompile(`(?i)\.(so|pyd|dylib|dll)(\.[0-9.]+)?$`)
	identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// rewritten are files that package managers add or change when they install.
var rewritten = map[string]bool{"RECORD": true, "RECORD.jws": true, "RECORD.p7s": true, "INSTALLER": true, "REQUESTED": true, "direct_url.json": true, "uv_cache.json": true, "uv_build.json": true}

// takePure checks a package and stores it. Tags are not believed: a wheel that calls itself pure and
// holds machine code is refused.
func (s *Store) takePure(ctx context.Context, stage *stage, t tree, project, version string) (Pure, error) {
	info, err := t.info(project, version)
	if err != nil {
		return Pure{}, err
	}
	keep, err := t.keep(info)
	if err != nil {
		return Pure{}, err
	}
	p := Pure{Project: project, Version: strings.TrimSuffix(info[strings.Index(info, "-")+1:], ".dist-info"), Modules: modules(keep)}
	if p.Requires, err = t.requires(info); err != nil {
		return Pure{}, err
	}
	r, w := io.Pipe()
	go func() { w.CloseWithError(t.pack(ctx, w, keep)) }()
	p.Archive, err = s.put(stage, r, "", maxPure, false)
	r.Close()
	if err != nil {
		return Pure{}, err
	}
	st, err := s.root.Lstat(blob(p.Archive))
	if err != nil {
		return Pure{}, err
	}
	p.Size = st.Size()
	return p, nil
}

// info finds the dist-info folder of the wanted package and checks that it calls itself pure.
func (t tree) info(project, version string) (string, error) {
	found, err := t.identify()
	if err != nil {
		return "", err
	}
	m := distInfo.FindStringSubmatch(found)
	if NormalProject(m[1]) != project || !sameVersion(m[2], version) {
		return "", fmt.Errorf("%w: it is %s %s, not %s %s", ErrMismatch, NormalProject(m[1]), m[2], project, version)
	}
	b, err := t.read(found+"/WHEEL", 64<<10)
	if err != nil {
		return "", fmt.Errorf("%w: it has no WHEEL file", ErrArchive)
	}
	return found, pureTags(b, project)
}

// identify names the one dist-info folder.
func (t tree) identify() (string, error) {
	found := ""
	for _, n := range t.names {
		top, _, _ := strings.Cut(n, "/")
		if strings.HasSuffix(top, ".dist-info") && top != found {
			if found != "" {
				return "", fmt.Errorf("%w: it holds two packages, %.60q and %.60q", ErrArchive, found, top)
			}
			found = top
		}
	}
	if !distInfo.MatchString(found) {
		return "", fmt.Errorf("%w: it is no wheel (no dist-info folder)", ErrArchive)
	}
	return found, nil
}

func pureTags(b []byte, project string) error {
	tags := 0
	for l := range strings.Lines(string(b)) {
		key, v, _ := strings.Cut(strings.TrimSpace(l), ":")
		v = strings.TrimSpace(v)
		if strings.EqualFold(key, "Root-Is-Purelib") && !strings.EqualFold(v, "true") {
			return impure(project, "it says that it is not pure")
		}
		if strings.EqualFold(key, "Tag") {
			tags++
			if !strings.HasPrefix(v, "py") || !strings.HasSuffix(v, "-none-any") {
				return impure(project, "its tag is "+v)
			}
		}
	}
	if tags == 0 {
		return impure(project, "it names no tag")
	}
	return nil
}

func impure(project, why string) error {
	return fmt.Errorf("%w: %w: %s cannot be added: %.100s; only packages of Python code alone can (their wheels end in -none-any.whl)", ErrArchive, ErrImpure, project, why)
}

// keep lists the files of the package, sorted.
func (t tree) keep(info string) ([]string, error) {
	var list []string
	var total int64
	for _, n := range t.names {
		top, rest, deep := strings.Cut(n, "/")
		switch {
		case strings.HasSuffix(n, ".pyc") || top == info && rewritten[rest]:
			continue
		case strings.HasSuffix(top, ".data"):
			if strings.HasPrefix(rest, "scripts/") {
				continue
			}
			return nil, impure(info, "it puts files beside its modules ("+n+")")
		case deep && (top == "bin" || top == "Scripts"):
			return nil, impure(info, "it has a top-level folder "+top)
		case nativeName.MatchString(n):
			return nil, impure(info, "it holds native code ("+n+")")
		}
		if total += t.size(n); total > maxPure || len(list) > maxEntries {
			return nil, fmt.Errorf("%w: more than %d bytes or %d files", ErrArchive, int64(maxPure), maxEntries)
		}
		list = append(list, n)
	}
	sort.Strings(list)
	return list, nil
}

// pack writes the archive. Nothing is compressed: the output of a compressor changes with its version.
func (t tree) pack(ctx context.Context, w io.Writer, names []string) error {
	z := zip.NewWriter(w)
	var total int64
	for _, n := range names {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b, err := t.read(n, maxPure)
		if err != nil {
			return err
		}
		if total += int64(len(b)); total > maxPure {
			return fmt.Errorf("%w: more than %d bytes", ErrArchive, int64(maxPure))
		}
		if nativeContent(b) {
			return impure(n, "it is native code")
		}
		e, err := z.CreateHeader(&zip.FileHeader{Name: n, Method: zip.Store})
		if err != nil {
			return err
		}
		if _, err := e.Write(b); err != nil {
			return err
		}
	}
	return z.Close()
}

// nativeContent knows ELF and Mach-O by their first bytes, whatever the file is called.
func nativeContent(b []byte) bool {
	for _, m := range []string{"\x7fELF", "\xfe\xed\xfa\xce", "\xfe\xed\xfa\xcf", "\xce\xfa\xed\xfe", "\xcf\xfa\xed\xfe"} {
		if bytes.HasPrefix(b, []byte(m)) {
			return true
		}
	}
	return false
}

func (t tree) read(name string, limit int64) ([]byte, error) {
	r, err := t.open(name)
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

// modules are the names that an import statement can start with.
func modules(names []string) []string {
	set := map[string]bool{}
	for _, n := range names {
		top, rest, deep := strings.Cut(n, "/")
		if !deep {
			top = strings.TrimSuffix(top, ".py")
			deep = top != n
			rest = ".py"
		}
		if deep && identifier.MatchString(top) && path.Ext(rest) == ".py" {
			set[top] = true
		}
	}
	list := make([]string, 0, len(set))
	for n := range set {
		list = append(list, n)
	}
	sort.Strings(list)
	return list
}

var requiresForm = regexp.MustCompile(`^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)`)

// requires reads what the package needs, but for its extras. Conditions are kept as text: whether
// they hold inside the sandbox is for a person to say.
func (t tree) requires(info string) ([]Requirement, error) {
	b, err := t.read(info+"/METADATA", 8<<20)
	if err != nil {
		return nil, fmt.Errorf("%w: it has no METADATA file", ErrArchive)
	}
	var list []Requirement
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() && lines.Text() != "" { // an empty line ends the head
		v, ok := strings.CutPrefix(lines.Text(), "Requires-Dist:")
		if !ok {
			continue
		}
		v = strings.TrimSpace(v)
		_, marker, _ := strings.Cut(v, ";")
		if m := requiresForm.FindString(v); m != "" && !strings.Contains(marker, "extra") {
			list = append(list, Requirement{NormalProject(m), v})
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%w: reading METADATA: %w", ErrArchive, err)
	}
	return list, nil
}
