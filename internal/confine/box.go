package confine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"sync"
)

// A Belt is a spec that was checked against this host. It may open any number of boxes, also at
// the same time. Preparing it once and opening a box ahead of the call that needs it takes the
// belt off the path of the call.
type Belt struct {
	spec   Spec
	limits Limits
	report Report
	host   host // what the platform keeps between boxes
}

// Prepare resolves the program and its libraries and finds out which fences hold here.
// The error is an *[Unavailable] when a fence is missing and the spec does not allow that.
func Prepare(ctx context.Context, spec Spec) (*Belt, error) {
	return prepare(ctx, spec, settings{})
}

func prepare(ctx context.Context, spec Spec, set settings) (*Belt, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := spec.check(); err != nil {
		return nil, err
	}
	b := &Belt{spec: spec, limits: spec.limits()}
	if err := b.host.prepare(spec, set, &b.report); err != nil {
		b.Close()
		return nil, err
	}
	if missing := b.report.Missing(); len(missing) > 0 && !spec.AllowWeaker {
		b.Close()
		return nil, &Unavailable{Missing: missing}
	}
	return b, nil
}

// Report says which fences this belt has.
func (b *Belt) Report() Report { return b.report }

// Close releases what the belt keeps. Its boxes should be closed before; a box that is open then
// can still be closed, but not be started.
func (b *Belt) Close() error { return b.host.close() }

// Open prepares a belt and opens its only box. Closing the box closes the belt.
func Open(ctx context.Context, spec Spec) (*Box, error) {
	belt, err := Prepare(ctx, spec)
	if err != nil {
		return nil, err
	}
	box, err := belt.Open(ctx)
	if err != nil {
		belt.Close()
		return nil, err
	}
	box.owns = true
	return box, nil
}

// Open makes the view and the scratch folders of one process. The box must be closed.
func (b *Belt) Open(ctx context.Context) (*Box, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	box := &Box{belt: b, roots: make(map[string]*os.Root)}
	if err := box.cell.open(box); err != nil {
		box.Close()
		return nil, err
	}
	return box, nil
}

// A Box is the world of one process. Its methods are safe for concurrent use.
type Box struct {
	belt  *Belt
	roots map[string]*os.Root
	owns  bool // the belt was made for this box alone
	cell  cell // what the platform keeps for one process

	mu      sync.Mutex
	started bool
	closed  bool
	process *Process
}

// Report says which fences hold around this box.
func (b *Box) Report() Report { return b.belt.report }

// Path is how the program sees a read-only entry, a scratch folder, or "program", itself.
// It panics on a name that the spec does not have: that is a mistake of the caller, not input.
func (b *Box) Path(name string) string {
	if p, ok := b.cell.path(name); ok {
		return p
	}
	panic("confine: no such name: " + name)
}

// Root is our handle on a scratch folder. It works before the start and after the death of the
// process, until Close, and never leaves the folder through a link. It is nil for other names.
func (b *Box) Root(name string) *os.Root { return b.roots[name] }

// Mkdir makes a folder in a scratch folder before the start, with those above it, all owned by
// the user that the program runs as. The name is slash-separated and relative.
func (b *Box) Mkdir(scratch, name string) error {
	root := b.roots[scratch]
	if root == nil {
		return fmt.Errorf("making folder %s: no scratch folder %s", name, scratch)
	}
	for i := 1; i <= len(name); i++ {
		if i < len(name) && name[i] != '/' {
			continue
		}
		switch err := root.Mkdir(name[:i], 0o755); {
		case errors.Is(err, os.ErrExist):
			continue
		case err != nil:
			return fmt.Errorf("making folder %s: %w", path.Base(name[:i]), err)
		}
		if err := b.cell.own(root, name[:i]); err != nil {
			return err
		}
	}
	return nil
}

// Put writes a file into a scratch folder before the start, with the folders above it, all owned
// by the user that the program runs as. The name is slash-separated and relative.
func (b *Box) Put(scratch, name string, data []byte) error {
	root := b.roots[scratch]
	if root == nil {
		return fmt.Errorf("writing %s: no scratch folder %s", name, scratch)
	}
	if folder := path.Dir(name); folder != "." {
		if err := b.Mkdir(scratch, folder); err != nil {
			return err
		}
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("creating %s: %w", path.Base(name), err)
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", path.Base(name), err)
	}
	return b.cell.own(root, name)
}

// Start starts the program, once.
func (b *Box) Start(cmd Command) (*Process, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, errors.New("starting confined program: the box is closed")
	}
	if b.started {
		return nil, errors.New("starting confined program: a box starts one process")
	}
	if cmd.Dir != "" {
		if _, ok := b.cell.path(cmd.Dir); !ok {
			return nil, fmt.Errorf("starting confined program: no folder %q", cmd.Dir)
		}
	}
	b.started = true
	files, release, err := stdio(cmd)
	if err != nil {
		return nil, err
	}
	defer release()
	b.process, err = b.cell.start(b, cmd, files)
	if err != nil {
		return nil, fmt.Errorf("starting confined program: %w", err)
	}
	return b.process, nil
}

// Close kills the process, waits for its end and leaves nothing behind: no mount, no folder, no
// process, no descriptor. It is idempotent.
func (b *Box) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	b.closed = true
	if b.process != nil {
		b.process.Kill()
		b.process.Wait()
	}
	var errs []error
	for _, root := range b.roots {
		errs = append(errs, root.Close())
	}
	errs = append(errs, b.cell.close())
	if b.owns {
		errs = append(errs, b.belt.Close())
	}
	return errors.Join(errs...)
}

// stdio fills the gaps with the null device.
func stdio(cmd Command) (files [3]*os.File, release func(), err error) {
	files = [3]*os.File{cmd.Stdin, cmd.Stdout, cmd.Stderr}
	release = func() {}
	if cmd.Stdin != nil && cmd.Stdout != nil && cmd.Stderr != nil {
		return files, release, nil
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return files, release, fmt.Errorf("opening the null device: %w", err)
	}
	for i := range files {
		if files[i] == nil {
			files[i] = null
		}
	}
	return files, func() { null.Close() }, nil
}
