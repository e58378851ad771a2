package wasm

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"sallyport.dev/sallyport/internal/artifact"
	"sallyport.dev/sallyport/internal/confine"
	"sallyport.dev/sallyport/internal/python"
	"sallyport.dev/sallyport/internal/python/wasm/guest"
	"sallyport.dev/sallyport/internal/python/wasm/image"
	"sallyport.dev/sallyport/internal/python/wasm/module"
	"sallyport.dev/sallyport/internal/python/wasm/patch"
)

// The sources that the two steps hand to the interpreter.
const (
	buildSource = "exec(compile(open('" + controlFolder + "/" + guest.Build + "').read(), '<sallyport>/build.py', 'exec'), {'__name__': '__build__'})\n"
	startSource = "import _sallyport\n_sallyport.main()\n"
)

// Where the interpreter looks for its library while an image is built.
const (
	libraryFolder = "/usr/local/lib"
	libraryZip    = "python315.zip"
	plotData      = libraryFolder + "/" + libraryZip + "/matplotlib/mpl-data"
)

// Time that a step of a preparation may take on a slow machine.
const stepTimeout = 40 * time.Minute

// make builds the image in a staging folder, tries it, and records it.
func (b *build) make(ctx context.Context, m manifest) (manifest, error) {
	b.Progress(fmt.Sprintf("building the image takes some minutes, %d GiB of memory and %d GiB of disk at most", PeakMemory>>30, PeakDisk>>30), 0, 0)
	dir, err := b.stageFolder()
	if err != nil {
		return m, err
	}
	defer os.RemoveAll(dir)
	s := &stage{build: b, dir: dir}
	t, err := s.template(ctx)
	if err != nil {
		return m, err
	}
	defer t.Close()
	memory, err := s.snapshot(ctx, t, &m)
	if err != nil {
		return m, err
	}
	m.Memory = image.Heap(memory)
	b.Progress("storing the image", 0, 0)
	m.Size = t.record.Size
	if m.Native, err = b.store.Put(t.with(memory), "", m.Size, false); err != nil {
		return m, err
	}
	b.Progress("trying the image", 0, 0)
	if err := b.try(ctx, m); err != nil {
		return m, errors.Join(err, b.store.Remove(m.Native))
	}
	if err := writeManifest(b.Cache, b.Image, m); err != nil {
		return m, err
	}
	b.sweep()
	return m, nil
}

// try runs a script in the new image before anybody else can.
func (b *build) try(ctx context.Context, m manifest) error {
	state, err := openManifest(ctx, Config{Cache: b.Cache, Image: b.Image, AllowWeaker: b.AllowWeaker}, python.DefaultLimits(), m)
	if err != nil {
		return err
	}
	e := newLoaded(state)
	defer e.Close()
	out, err := e.Run(ctx, python.Request{Code: "import sys, json\nprint(json.dumps([6 * 7, sys.argv]))"})
	var f *python.Failure
	if errors.As(err, &f) {
		return fmt.Errorf("trying the image: %w (%w)", f, f.Cause)
	}
	if err != nil {
		return fmt.Errorf("trying the image: %w", err)
	}
	if got := out.Stdout.Text; !strings.HasPrefix(got, "[42, ") {
		return fmt.Errorf("trying the image: a script printed %.200q, and on stderr %.2000q", got, out.Stderr.Text)
	}
	return nil
}

// A stage is a folder in which an image is made.
type stage struct {
	*build
	dir string
}

func (s *stage) path(name string) string { return filepath.Join(s.dir, name) }

// interpreterModule is the pinned interpreter.
func (s *stage) interpreterModule() (*module.Module, error) {
	src, err := s.store.OpenVerified(s.module)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(src)
	if err := errors.Join(err, src.Close()); err != nil {
		return nil, fmt.Errorf("reading the interpreter: %w", err)
	}
	return module.Parse(data)
}

// compile runs the compiler in the belt: its input comes from the network in the end.
func (s *stage) compile(ctx context.Context, from, to string) error {
	box, err := confine.Open(ctx, confine.Spec{
		Program:     s.program.Path,
		ReadOnly:    map[string]string{"module": s.path(from)},
		Scratch:     []confine.Scratch{{Name: "out", Bytes: 2 << 30, Files: 16}},
		Limits:      confine.Limits{Memory: 6 << 30, CPU: stepTimeout, FileSize: 2 << 30, Threads: 256},
		AllowWeaker: s.AllowWeaker,
	})
	if err != nil {
		return fmt.Errorf("compiling: %w", err)
	}
	defer box.Close()
	words, err := s.run(ctx, box, confine.Command{
		Args: compileArgs(box.Path("module"), path.Join(box.Path("out"), "image")),
		Env:  environment(),
	}, nil, nil)
	if err != nil {
		return fmt.Errorf("compiling %s: %w: %.2000s", from, err, words)
	}
	in, err := box.Root("out").Open("image")
	if err != nil {
		return fmt.Errorf("compiling %s: %w", from, err)
	}
	defer in.Close()
	return copyTo(s.path(to), in)
}

func copyTo(name string, in io.Reader) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Base(name), err)
	}
	_, err = io.Copy(f, in)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Base(name), err)
	}
	return nil
}

// plan is what the build script reads.
type plan struct {
	Guest   []string `json:"guest"`
	Wheels  []string `json:"wheels"`
	Preload []string `json:"preload"`
	Numpy64 string   `json:"numpy64"`
	Require []string `json:"require"` // modules that must be importable
}

// snapshot runs the build script in the live interpreter and returns its memory.
func (s *stage) snapshot(ctx context.Context, t *template, m *manifest) ([]byte, error) {
	if err := s.layOut(); err != nil {
		return nil, err
	}
	if err := s.builder(t); err != nil {
		return nil, err
	}
	box, err := confine.Open(ctx, confine.Spec{
		Program:  s.program.Path,
		ReadOnly: map[string]string{"builder": s.path("builder.cwasm"), "library": s.path("library"), "plots": s.path("plots")},
		Scratch: []confine.Scratch{
			{Name: scratchName, Bytes: 64 << 20, Files: 1000},
			{Name: controlName, Bytes: 256 << 20, Files: 1000},
		},
		Limits:      confine.Limits{Memory: 4 << 30, CPU: stepTimeout, FileSize: 2 << 30},
		AllowWeaker: s.AllowWeaker,
	})
	if err != nil {
		return nil, fmt.Errorf("building image: %w", err)
	}
	defer box.Close()
	if err := s.hand(box, m); err != nil {
		return nil, err
	}
	folders := append(guestFolders(box.Path(scratchName), box.Path(controlName)),
		folder{box.Path("library"), libraryFolder}, folder{box.Path("plots"), plotData})
	args := runArgs(box.Path("builder"), 4<<30, folders)
	last := len(args) - 1
	for _, v := range guestEnvironment() {
		args = append(args[:last], "--env", v, args[len(args)-1])
		last = len(args) - 1
	}
	memory := bytes.NewBuffer(make([]byte, 0, imageSize))
	words, err := s.run(ctx, box, confine.Command{Args: args, Env: environment()}, memory, func(line string) {
		if step, ok := strings.CutPrefix(line, "progress: "); ok {
			s.Progress("building the image: "+step, 0, 0)
		}
	})
	if err != nil {
		own, _ := stripRuntime(words)
		own = own[max(0, len(own)-3000):] // the reason stands at the end
		return nil, fmt.Errorf("building image: %w: %s", err, own)
	}
	if err := image.Check(memory.Bytes(), imageSize); err != nil {
		return nil, fmt.Errorf("building image: %w", err)
	}
	return memory.Bytes(), s.answers(box, m)
}

// builder makes the program that runs the build script.
func (s *stage) builder(t *template) error {
	mod, err := s.interpreterModule()
	if err != nil {
		return err
	}
	data, err := mod.Data()
	if err != nil {
		return err
	}
	pages, _, err := mod.Memory()
	if err != nil {
		return err
	}
	memory, err := image.Initial(data, pages, imageSize)
	if err != nil {
		return err
	}
	return copyTo(s.path("builder.cwasm"), t.with(memory))
}

// answers reads what the build script says of the interpreter.
func (s *stage) answers(box *confine.Box, m *manifest) error {
	data, err := readRegular(box.Root(controlName), "packages.json", 4<<20)
	if err != nil {
		return fmt.Errorf("building image: reading what was imported: %w", err)
	}
	var a struct{ Python string }
	if err := json.Unmarshal(data, &a); err != nil {
		return fmt.Errorf("building image: reading what was imported: %w", err)
	}
	m.Python = a.Python
	return nil
}

// layOut puts the library where the interpreter expects it.
func (s *stage) layOut() error {
	if err := os.Mkdir(s.path("library"), 0o755); err != nil {
		return fmt.Errorf("laying out the library: %w", err)
	}
	src, err := s.store.OpenVerified(s.library)
	if err != nil {
		return err
	}
	defer src.Close()
	if err := copyTo(filepath.Join(s.path("library"), libraryZip), src); err != nil {
		return err
	}
	st, err := src.Stat()
	if err != nil {
		return fmt.Errorf("laying out the library: %w", err)
	}
	return unpackPlots(src, st.Size(), s.path("plots"))
}

// unpackPlots unpacks matplotlib's data, a zip in the library's zip. Both are pinned by hash.
func unpackPlots(library io.ReaderAt, size int64, to string) error {
	outer, err := zip.NewReader(library, size)
	if err != nil {
		return fmt.Errorf("reading the library: %w", err)
	}
	f, err := outer.Open("matplotlib/mpl-data.zip")
	if err != nil {
		return fmt.Errorf("reading the library: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(f, 64<<20))
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("reading the library: %w", err)
	}
	inner, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return fmt.Errorf("reading plot data: %w", err)
	}
	// CopyFS creates files only below the folder and refuses names that leave it.
	if err := os.CopyFS(to, inner); err != nil {
		return fmt.Errorf("unpacking plot data: %w", err)
	}
	return nil
}

// hand puts the build script and its inputs into the control folder.
func (s *stage) hand(box *confine.Box, m *manifest) error {
	if err := furnish(box); err != nil {
		return err
	}
	sources, err := guest.Sources()
	if err != nil {
		return fmt.Errorf("reading guest sources: %w", err)
	}
	p := plan{Guest: guest.Modules(), Wheels: []string{}, Preload: m.Preload, Numpy64: patch.NumpySource()}
	for _, pkg := range m.Packages {
		p.Require = append(p.Require, pkg.Modules...)
	}
	for _, w := range s.wheels {
		data, err := s.blob(w.Archive)
		if err != nil {
			return err
		}
		sources[w.Filename()] = data
		p.Wheels = append(p.Wheels, w.Filename())
	}
	if sources["plan.json"], err = json.Marshal(p); err != nil {
		return fmt.Errorf("writing the plan: %w", err)
	}
	for name, data := range sources {
		if err := box.Put(controlName, name, data); err != nil {
			return fmt.Errorf("handing over %s: %w", name, err)
		}
	}
	return nil
}

func (s *stage) blob(d artifact.Digest) ([]byte, error) {
	f, err := s.store.OpenVerified(d)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(f)
	return data, errors.Join(err, f.Close())
}

// run starts a program of the runtime in a box and waits for it. It returns the end of what it
// wrote to standard error, which line sees line by line.
func (s *stage) run(ctx context.Context, box *confine.Box, cmd confine.Command, stdout io.Writer, line func(string)) (string, error) {
	pipes, err := newPipes()
	if err != nil {
		return "", fmt.Errorf("making pipes: %w", err)
	}
	defer pipes.closeChild()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = pipes.child[0], pipes.child[1], pipes.child[2]
	p, err := box.Start(cmd)
	if err != nil {
		pipes.closeParent()
		return "", err
	}
	pipes.parent[0].Close()
	pipes.closeChild()
	if stdout == nil {
		stdout = io.Discard
	}
	done := make(chan error, 1)
	go func() {
		_, err := io.Copy(stdout, pipes.parent[1])
		done <- errors.Join(err, pipes.parent[1].Close())
	}()
	words := make(chan string, 1)
	go func() {
		words <- tail(pipes.parent[2], line)
		pipes.parent[2].Close()
	}()
	stop := context.AfterFunc(ctx, p.Kill)
	defer stop()
	exit := p.Wait()
	text := <-words
	if err := <-done; err != nil {
		return text, err
	}
	switch {
	case ctx.Err() != nil:
		return text, context.Cause(ctx)
	case exit.Cause != "":
		return text, fmt.Errorf("it ran into its limit of %s", exit.Cause)
	case exit.Signal != 0:
		return text, fmt.Errorf("ended by signal %d", exit.Signal)
	case exit.Code != 0:
		return text, fmt.Errorf("exit status %d", exit.Code)
	}
	return text, nil
}

// tail keeps the last lines of a stream.
func tail(r io.Reader, line func(string)) string {
	const keep = 100
	var lines []string
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		chunk, err := in.ReadString('\n')
		if chunk != "" {
			if line != nil {
				line(strings.TrimRight(chunk, "\n"))
			}
			if lines = append(lines, chunk); len(lines) > keep {
				lines = lines[1:]
			}
		}
		if err != nil {
			return strings.Join(lines, "")
		}
	}
}
