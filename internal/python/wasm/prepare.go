package wasm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"sallyport.dev/sallyport/internal/artifact"
	"sallyport.dev/sallyport/internal/confine"
	"sallyport.dev/sallyport/internal/python"
	"sallyport.dev/sallyport/internal/python/wasm/advisory"
	"sallyport.dev/sallyport/internal/python/wasm/image"
	"sallyport.dev/sallyport/internal/python/wasm/patch"
)

// A Preparation says which image to make, and from what.
type Preparation struct {
	Cache       string
	Image       string   // "" is the default image
	Wasmtime    string   // a program to use instead of the one on PATH or the pinned one
	From        string   // a folder or tar that stands in for the package manager
	Preload     []string // modules to import into the image, instead of the usual ones
	PyPI        []string // name==version of pure packages to add
	AllowWeaker bool
	Progress    artifact.Progress // may be nil
}

// A Prepared image.
type Prepared struct {
	Manifest struct {
		Python, Runtime string
		Size            int64
		Packages        []python.Package
	}
	Already  bool
	Warnings []string
}

// What a preparation takes at its peak, for who has to provide it: stated before it starts.
const (
	PeakMemory = 4 << 30
	PeakDisk   = 3 << 30
)

var moduleName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,99}(\.[A-Za-z_][A-Za-z0-9_]{0,99}){0,8}$`)

// Prepare fills the cache and makes the image, unless all of it is there. It may run in several
// processes at once: the later ones wait and find it done.
func Prepare(ctx context.Context, p Preparation) (Prepared, error) {
	var out Prepared
	if p.Image == "" {
		p.Image = DefaultImage
	}
	if p.Progress == nil {
		p.Progress = func(string, int64, int64) {}
	}
	for _, m := range p.Preload {
		if !moduleName.MatchString(m) {
			return out, fmt.Errorf("preparing: --preload %q is no module name", m)
		}
	}
	store, err := artifact.Open(p.Cache)
	if err != nil {
		return out, err
	}
	defer store.Close()
	unlock, err := store.Lock(ctx, "setup", p.Progress)
	if err != nil {
		return out, err
	}
	defer unlock()
	b := &build{Preparation: p, store: store}
	if err := b.gather(ctx); err != nil {
		return out, err
	}
	out.Warnings = b.warnings
	m, fresh, err := b.manifest()
	if err != nil {
		return out, err
	}
	if !fresh {
		if m, err = b.make(ctx, m); err != nil {
			return out, err
		}
	}
	out.Already = fresh
	out.Manifest.Python, out.Manifest.Runtime, out.Manifest.Size, out.Manifest.Packages = m.Python, m.Runtime, m.Size, m.Packages
	return out, nil
}

// A build gathers the parts of an image and makes it.
type build struct {
	Preparation
	store    *artifact.Store
	module   artifact.Digest // the interpreter
	library  artifact.Digest // its standard library
	program  artifact.Program
	wheels   []artifact.Pure
	warnings []string
}

func (b *build) source() artifact.Source { return artifact.Source{From: b.From} }

func (b *build) gather(ctx context.Context) error {
	lock, err := artifact.Pinned()
	if err != nil {
		return err
	}
	if err := b.interpreter(ctx, lock); err != nil {
		return err
	}
	if err := b.runtime(ctx, lock); err != nil {
		return err
	}
	for _, pin := range b.PyPI {
		w, err := b.store.ResolvePyPI(ctx, pin, b.source(), "", b.Progress)
		if err != nil {
			return err
		}
		b.wheels = append(b.wheels, w)
	}
	for _, r := range artifact.Missing(b.wheels, func(project string) bool {
		return slices.ContainsFunc(bundled, func(p struct{ name, version, modules string }) bool { return artifact.NormalProject(p.name) == project })
	}) {
		b.warnings = append(b.warnings, fmt.Sprintf("a package needs %s, which is not there; add --pypi %s==VERSION", r.Text, r.Project))
	}
	return nil
}

func (b *build) interpreter(ctx context.Context, lock artifact.Lock) error {
	item, err := lock.Find(artifact.Interpreter, artifact.ThisHost())
	if err != nil {
		return err
	}
	if _, err := b.store.Ensure(ctx, item, b.source(), b.Progress); err != nil {
		return err
	}
	module, ok := item.Member("python-snapshot.wasm")
	library, ok2 := item.Member("python-stdlib.zip")
	if !ok || !ok2 {
		return fmt.Errorf("preparing: the lock does not name the interpreter's files")
	}
	b.module, b.library = module.SHA256, library.SHA256
	return nil
}

// runtime chooses a wasmtime: the one that was named, one on PATH that may be used, or the pinned
// wheel. One that was named and may not be used is an error, never passed over.
func (b *build) runtime(ctx context.Context, lock artifact.Lock) error {
	table, err := advisory.Load()
	if err != nil {
		return err
	}
	host := advisoryHost(confine.Probe(ctx, ""))
	candidates, err := artifact.FindWasmtime(ctx, b.Wasmtime)
	if err != nil {
		return err
	}
	for _, c := range candidates {
		refusal := c.Err
		if refusal == nil {
			refusal = table.Refuse(c.Version, host)
		}
		if refusal == nil {
			if b.program, err = b.store.Adopt(ctx, c.Path); err != nil {
				return err
			}
			return b.warn(table, host)
		}
		if b.Wasmtime != "" {
			return refusal
		}
		b.warnings = append(b.warnings, fmt.Sprintf("the wasmtime on PATH (%s) was passed over: %v", c.Path, refusal))
	}
	item, err := lock.Find(artifact.Wasmtime, artifact.ThisHost())
	if err != nil {
		return err
	}
	if err := table.Refuse(item.Program, host); err != nil {
		return err
	}
	if _, err := b.store.Ensure(ctx, item, b.source(), b.Progress); err != nil {
		return err
	}
	for _, m := range item.Members {
		if m.Executable {
			b.program, err = b.store.Program(ctx, m.SHA256)
			if err != nil {
				return err
			}
			return b.warn(table, host)
		}
	}
	return fmt.Errorf("preparing: %s has no program", item)
}

// warn repeats what is publicly known about the runtime that was chosen. The version is the word
// of the copy in the store.
func (b *build) warn(table advisory.Table, host advisory.Host) error {
	if err := table.Refuse(b.program.Version, host); err != nil {
		return err
	}
	findings, err := table.Check(b.program.Version, host)
	if err != nil {
		return err
	}
	if len(findings) > 0 {
		// Refuse has passed, so each of them is covered.
		b.warnings = append(b.warnings, fmt.Sprintf("%d public advisories concern wasmtime %s; what each is and why it cannot matter here: `sallyport doctor`", len(findings), b.program.Version))
	}
	if table.Unreviewed(b.program.Version) {
		b.warnings = append(b.warnings, fmt.Sprintf("wasmtime %s is newer than the list of advisories in this build of sallyport", b.program.Version))
	}
	return nil
}

// manifest describes the image that these parts make, and says whether it is there already.
func (b *build) manifest() (m manifest, fresh bool, err error) {
	digest, err := guestDigest(patch.NumpySource() + patch.Version() + image.Version())
	if err != nil {
		return m, false, err
	}
	r := recipe{
		Format: format, Module: b.module, Library: b.library, Program: b.program.Digest, Runtime: b.program.Version,
		CPU: processor(), Preload: b.preload(), Guest: digest, Options: append(codegen(), guestEnvironment()...),
	}
	packages := bundledPackages()
	for _, w := range b.wheels {
		r.Wheels = append(r.Wheels, w.Archive)
		packages = append(packages, python.Package{Name: w.Project, Version: w.Version, Modules: w.Modules})
	}
	slices.SortFunc(packages, func(a, b python.Package) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	m = manifest{Format: format, Runtime: b.program.Version, Program: b.program.Digest, CPU: r.CPU, Packages: packages, Preload: r.Preload, PyPI: b.PyPI}
	if m.Key, err = r.key(); err != nil {
		return m, false, err
	}
	old, err := readManifest(b.Cache, b.Image)
	if err != nil || old.Key != m.Key {
		return m, false, nil
	}
	// By its content: a damaged image is what setup is there to replace.
	f, err := b.store.OpenVerified(old.Native)
	if err != nil {
		return m, false, nil
	}
	return old, true, f.Close()
}

func (b *build) preload() []string {
	if len(b.Preload) > 0 {
		return b.Preload
	}
	list := defaultPreload()
	for _, w := range b.wheels {
		list = append(list, w.Modules...)
	}
	return list
}

// stageFolder is a folder for half-made files. What a killed setup left there goes first: the
// lock is held.
func (b *build) stageFolder() (string, error) {
	parent := filepath.Join(b.Cache, "staging")
	old, err := filepath.Glob(filepath.Join(parent, "image-*"))
	if err != nil {
		return "", fmt.Errorf("clearing away an older setup: %w", err)
	}
	for _, o := range old {
		if err := os.RemoveAll(o); err != nil {
			return "", fmt.Errorf("clearing away an older setup: %w", err)
		}
	}
	dir, err := os.MkdirTemp(parent, "image-")
	if err != nil {
		return "", fmt.Errorf("making a folder for the image: %w", err)
	}
	return dir, nil
}

// Check proves a prepared image without the network: it imports every module that the engine
// advertises, in the belt, from files that were verified.
func Check(ctx context.Context, p Preparation) (Prepared, error) {
	var out Prepared
	if p.Image == "" {
		p.Image = DefaultImage
	}
	m, err := readManifest(p.Cache, p.Image)
	if errors.Is(err, os.ErrNotExist) {
		return out, fmt.Errorf("checking image %s: there is none in %s; run `sallyport setup`", p.Image, p.Cache)
	}
	if err != nil {
		return out, err
	}
	out.Already = true
	out.Manifest.Python, out.Manifest.Runtime, out.Manifest.Size, out.Manifest.Packages = m.Python, m.Runtime, m.Size, m.Packages
	limits := python.DefaultLimits()
	limits.Timeout *= 10
	e := New(Config{Cache: p.Cache, Image: p.Image, Limits: limits, AllowWeaker: p.AllowWeaker, Log: slog.New(slog.DiscardHandler)})
	defer e.Close()
	return out, tryImports(ctx, e, m.Packages, p.Progress)
}

func tryImports(ctx context.Context, e *Engine, packages []python.Package, progress artifact.Progress) error {
	for i, p := range packages {
		if progress != nil {
			progress("importing "+p.Name, int64(i), int64(len(packages)))
		}
		code := ""
		for _, m := range p.Modules {
			code += "import " + m + "\n"
		}
		out, err := e.Run(ctx, python.Request{Code: code})
		if err != nil {
			var f *python.Failure
			if errors.As(err, &f) && f.Cause != nil {
				err = fmt.Errorf("%w (%w)", err, f.Cause)
			}
			return fmt.Errorf("checking %s: %w", p.Name, err)
		}
		if out.ExitCode == nil || *out.ExitCode != 0 {
			return fmt.Errorf("checking %s: it cannot be imported: %.2000s", p.Name, out.Stderr.Text)
		}
	}
	return nil
}

// Export writes what From takes on another machine. There is no native code in it: the other
// machine needs a wasmtime of its own, on PATH, by --wasmtime, or as a wheel beside the tar.
func Export(ctx context.Context, p Preparation, w io.Writer) error {
	store, err := artifact.Open(p.Cache)
	if err != nil {
		return err
	}
	defer store.Close()
	b := &build{Preparation: p, store: store}
	if b.Progress == nil {
		b.Progress = func(string, int64, int64) {}
	}
	lock, err := artifact.Pinned()
	if err != nil {
		return err
	}
	item, err := lock.Find(artifact.Interpreter, artifact.ThisHost())
	if err != nil {
		return err
	}
	if err := b.interpreter(ctx, lock); err != nil {
		return err
	}
	for _, pin := range p.PyPI {
		wheel, err := store.ResolvePyPI(ctx, pin, b.source(), "", b.Progress)
		if err != nil {
			return err
		}
		b.wheels = append(b.wheels, wheel)
	}
	return store.Export(ctx, w, []artifact.Item{item}, b.wheels)
}
