package wasm

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"time"

	"sallyport.dev/sallyport/internal/artifact"
	"sallyport.dev/sallyport/internal/confine"
	"sallyport.dev/sallyport/internal/python"
	"sallyport.dev/sallyport/internal/python/wasm/advisory"
)

// Names inside a box.
const (
	imageName   = "image"
	scratchName = "scratch"
	controlName = "control"
)

// Bounds of the control folder: the report, the figures, nothing else.
const (
	controlBytes = 24 << 20
	controlFiles = 128
)

// What a process may take beyond what the script holds: the runtime itself and CPython's stack,
// which exists twice, in the guest's memory and as machine code's.
const overhead = 160<<20 + maxStack

// addresses is what the runtime reserves of the address space, in bytes: two memories of 4 GiB with
// their guard regions, the files that it maps twice, and its stacks. None of it is memory.
const addresses = 16 << 30

// addressSpaceError says that whoever started us limited what cannot be limited.
type addressSpaceError struct{ limit int64 }

func (e *addressSpaceError) Error() string {
	return fmt.Sprintf("the address space limit is too low (%d MiB): the engine reserves %d GiB of addresses, not of memory; raise `ulimit -v` where the server is started", e.limit>>20, int64(addresses)>>30)
}

// loaded is an image whose bytes were verified, with the belt to start it in.
type loaded struct {
	manifest manifest
	belt     *confine.Belt
	files    []pinnedFile
	limits   python.Limits
	program  string // host paths of the verified files
	native   string
	weaker   bool
}

// A pinnedFile is a file that was verified through the descriptor that is kept.
type pinnedFile struct {
	file *os.File
	was  fs.FileInfo
}

func open(ctx context.Context, config Config, limits python.Limits) (*loaded, error) {
	m, err := readManifest(config.Cache, config.Image)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("opening image %s: it was not made yet in %s; run `sallyport setup`: %w", config.Image, config.Cache, fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	return openManifest(ctx, config, limits, m)
}

func openManifest(ctx context.Context, config Config, limits python.Limits, m manifest) (*loaded, error) {
	if have := processor(); m.CPU != have {
		return nil, fmt.Errorf("opening image: it was compiled for processor %s and this one is %s; run `sallyport setup`", m.CPU, have)
	}
	if limit := confine.AddressSpace(); limit > 0 && limit < addresses {
		return nil, &addressSpaceError{limit}
	}
	store, err := artifact.Open(config.Cache)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	l := &loaded{manifest: m, limits: limits, weaker: config.AllowWeaker}
	l.program, err = l.pin(store, m.Program)
	if err == nil {
		l.native, err = l.pin(store, m.Native)
	}
	if err == nil {
		l.belt, err = confine.Prepare(ctx, callSpec(l.program, l.native, m, limits, config.AllowWeaker))
	}
	if err == nil {
		err = checkAdvisories(m.Runtime, l.belt.Report())
	}
	if err == nil {
		err = l.unchanged() // since the belt opened the files by name
	}
	if err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// callSpec is the world of one call.
func callSpec(program, native string, m manifest, l python.Limits, weaker bool) confine.Spec {
	return confine.Spec{
		Program:  program,
		ReadOnly: map[string]string{imageName: native},
		Scratch: []confine.Scratch{
			{Name: scratchName, Bytes: l.Scratch, Files: l.ScratchFiles + 4}, // and our own folders
			{Name: controlName, Bytes: controlBytes, Files: controlFiles},
		},
		Limits: confine.Limits{
			Memory:    m.Memory + l.Memory + overhead,
			CPU:       l.Timeout + 5*time.Second, // the wall clock ends a call first
			OpenFiles: 256,
			FileSize:  4 << 30, // sparse files may be larger than the quota, up to here
			Threads:   32,
		},
		AllowWeaker: weaker,
	}
}

// checkAdvisories refuses a runtime with a known hole that the belt, as it holds here, leaves open.
func checkAdvisories(version string, report confine.Report) error {
	table, err := advisory.Load()
	if err != nil {
		return err
	}
	return table.Refuse(version, advisoryHost(report))
}

func advisoryHost(report confine.Report) advisory.Host {
	return advisory.Host{
		OS:          runtime.GOOS,
		Arch:        runtime.GOARCH,
		FileFence:   report.Holds("private view") || report.Holds("landlock"),
		MemoryFence: report.Holds("memory"),
	}
}

// pin verifies a file by its content and keeps it open.
func (l *loaded) pin(store *artifact.Store, d artifact.Digest) (path string, err error) {
	f, err := store.OpenVerified(d)
	if err != nil {
		return "", err
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return "", fmt.Errorf("pinning image: %w", err)
	}
	l.files = append(l.files, pinnedFile{f, st})
	return store.Path(d)
}

// unchanged says whether the verified files are still as they were. Hashing half a gigabyte takes
// longer than a call, so it is done once, and the kernel's record of the last change stands for
// it afterwards.
func (l *loaded) unchanged() error {
	for _, p := range l.files {
		now, err := p.file.Stat()
		if err != nil {
			return fmt.Errorf("checking image: %w", err)
		}
		if now.Size() != p.was.Size() || !now.ModTime().Equal(p.was.ModTime()) || changed(p.was, now) {
			return fmt.Errorf("checking image: %s was changed since it was verified; run `sallyport setup`", p.file.Name())
		}
	}
	return nil
}

// box opens the world of one call. A call with narrower limits of its own gets a belt of its own,
// which takes a little longer; through the tool that does not happen.
func (l *loaded) box(ctx context.Context, limits python.Limits) (*confine.Box, error) {
	if limits.Scratch == l.limits.Scratch && limits.ScratchFiles == l.limits.ScratchFiles && limits.Memory == l.limits.Memory {
		return l.belt.Open(ctx)
	}
	belt, err := confine.Prepare(ctx, callSpec(l.program, l.native, l.manifest, limits, l.weaker))
	if err != nil {
		return nil, err
	}
	defer belt.Close()
	return belt.Open(ctx)
}

// degraded is what each result says where the operator allowed a weaker belt.
func (l *loaded) degraded() []string {
	var names []string
	for _, f := range l.belt.Report().Missing() {
		names = append(names, f.Name)
	}
	if len(names) == 0 {
		return nil
	}
	return []string{"belt: degraded, by --allow-weaker-belt: this host does not enforce " + strings.Join(names, ", ")}
}

// memory is the ceiling of the guest's linear memory: what the interpreter holds at the start, and
// what the script may add. It cannot be less than what an image has.
func (l *loaded) memory(limits python.Limits) int64 {
	return min(max(l.manifest.Memory+limits.Memory, imageSize), 4<<30)
}

func (l *loaded) close() error {
	var errs []error
	for _, p := range l.files {
		errs = append(errs, p.file.Close())
	}
	if l.belt != nil {
		errs = append(errs, l.belt.Close())
	}
	return errors.Join(errs...)
}
