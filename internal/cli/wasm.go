package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"syscall"

	"sallyport.dev/sallyport/internal/artifact"
	"sallyport.dev/sallyport/internal/confine"
	"sallyport.dev/sallyport/internal/doctor"
	"sallyport.dev/sallyport/internal/fault"
	"sallyport.dev/sallyport/internal/python"
	"sallyport.dev/sallyport/internal/python/wasm"
	"sallyport.dev/sallyport/internal/python/wasm/advisory"
)

// wasmKit is CPython on wasmtime.
type wasmKit struct{}

func (wasmKit) Name() string { return wasm.Name }

func (wasmKit) Open(_ context.Context, s Settings, log *slog.Logger) (python.Engine, error) {
	return wasm.New(wasm.Config{Cache: s.Cache, Image: s.Image, Limits: s.Limits, AllowWeaker: s.AllowWeaker, Log: log, Spare: s.Serving}), nil
}

func (wasmKit) Prepare(ctx context.Context, p Preparation, progress Progress) (Prepared, error) {
	if err := usable(ctx, p); err != nil {
		return wasmPrepared(p, wasm.Prepared{}), err
	}
	done, err := wasm.Prepare(ctx, wasmPreparation(p, progress))
	return wasmPrepared(p, done), setupError(err)
}

func (wasmKit) Check(ctx context.Context, p Preparation, progress Progress) (Prepared, error) {
	done, err := wasm.Check(ctx, wasmPreparation(p, progress))
	out := wasmPrepared(p, done)
	out.Checked = err == nil
	if err = setupError(err); err != nil && !done.Already && fault.KindOf(err) == fault.Internal {
		// There is no record of an image, or none that can be read.
		err = fault.New(fault.NotPrepared, "run sallyport setup", "%w", err)
	}
	return out, err
}

func (wasmKit) Export(ctx context.Context, p Preparation, w io.Writer) error {
	if err := usable(ctx, p); err != nil {
		return err
	}
	return setupError(wasm.Export(ctx, wasmPreparation(p, func(string, int64, int64) {}), w))
}

func (wasmKit) Examine(ctx context.Context, cache string) doctor.Engine {
	s := wasm.Examine(ctx, cache)
	e := doctor.Engine{Name: wasm.Name, Ready: s.Ready, Why: s.Why, Python: s.Python, Runtime: s.Runtime, Belt: s.Belt, Images: []doctor.Image{}, Advisories: []doctor.Advisory{}}
	for _, i := range s.Images {
		e.Images = append(e.Images, doctor.Image{Name: i.Name, Bytes: i.Bytes, Packages: i.Packages, Usable: i.Why == "", Why: i.Why})
	}
	for _, f := range s.Findings {
		e.Advisories = append(e.Advisories, doctor.Advisory{ID: f.Advisory.ID, Title: f.Advisory.Title, Covered: f.Covered, Why: f.Advisory.Why})
	}
	return e
}

// usable tells mistakes of the command line from faults of ours: a cache that cannot be one, and a
// runtime that no host may use. Whether this host may use it, Prepare finds out.
func usable(ctx context.Context, p Preparation) error {
	store, err := artifact.Open(p.Cache)
	switch {
	case full(err):
		return setupError(err)
	case err != nil:
		return fault.New(fault.Usage, "name a folder that is yours alone with --cache or "+cacheVariable, "%w", err)
	}
	if err := store.Close(); err != nil {
		return fmt.Errorf("closing the cache: %w", err)
	}
	if p.Wasmtime == "" {
		return nil
	}
	found, err := artifact.FindWasmtime(ctx, p.Wasmtime)
	if ctx.Err() != nil {
		return setupError(context.Cause(ctx))
	}
	if err == nil {
		var table advisory.Table
		if table, err = advisory.Load(); err != nil {
			return err
		}
		err = table.Refuse(found[0].Version, advisory.Promised(runtime.GOOS, runtime.GOARCH))
	}
	if err != nil {
		return fault.New(fault.Usage, "name another wasmtime, or leave --wasmtime out", "%w", err)
	}
	return nil
}

func full(err error) bool {
	return errors.Is(err, artifact.ErrNoSpace) || errors.Is(err, syscall.ENOSPC)
}

func wasmPreparation(p Preparation, progress Progress) wasm.Preparation {
	return wasm.Preparation{
		Cache: p.Cache, Image: p.Image, Wasmtime: p.Wasmtime, From: p.From,
		Preload: p.Preload, PyPI: p.PyPI, AllowWeaker: p.AllowWeaker, Progress: artifact.Progress(progress),
	}
}

func wasmPrepared(p Preparation, done wasm.Prepared) Prepared {
	m := done.Manifest
	out := Prepared{
		Engine: wasm.Name, Cache: p.Cache, Image: p.Image, ImageBytes: m.Size, Runtime: "wasmtime " + m.Runtime,
		Python: m.Python, Packages: m.Packages, Already: done.Already, Warnings: done.Warnings,
	}
	if out.Packages == nil {
		out.Packages = []python.Package{}
	}
	if out.Warnings == nil {
		out.Warnings = []string{}
	}
	return out
}

// setupError sorts what can go wrong while a cache is filled. The texts say what to do already.
func setupError(err error) error {
	var missing *confine.Unavailable
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		// A killed compiler has said nothing, and its silence stands at the end of the text.
		return fault.New(fault.Cancelled, "run it again; what is whole is kept", "%s", strings.TrimRight(err.Error(), ": \n"))
	case errors.Is(err, artifact.ErrImpure): // an ErrArchive too, but nothing in it is broken
		return fault.New(fault.Usage, "leave that --pypi out, or name a package of Python code alone", "%w", err)
	case full(err):
		return fault.New(fault.Unsupported, fmt.Sprintf("free %d GB where the cache lies, or name another folder with --cache, and run it again", wasm.PeakDisk>>30), "%w", err)
	case errors.As(err, &missing):
		return fault.New(fault.Unsupported, "see sallyport doctor", "%w", err)
	}
	for _, sort := range []struct {
		is   error
		kind fault.Kind
	}{
		{artifact.ErrUnsafe, fault.Usage}, // a folder that others can write to, or a link
		{artifact.ErrNoPip, fault.NotPrepared},
		{artifact.ErrOffline, fault.NotPrepared},
		{artifact.ErrMissing, fault.NotPrepared},
		{artifact.ErrMismatch, fault.Corrupt},
		{artifact.ErrDamaged, fault.Corrupt},
		{artifact.ErrArchive, fault.Corrupt},
	} {
		if errors.Is(err, sort.is) {
			return fault.New(sort.kind, "", "%w", err)
		}
	}
	return err
}
