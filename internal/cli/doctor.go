package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"sallyport.dev/sallyport/internal/doctor"
)

func (p *Program) doctorCommand() *cobra.Command {
	var asJSON bool
	var cache string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this host really enforces",
		Long: `Doctor tries each fence and says which holds, which does not, why, and what it would take.
It names the runtime, its public advisories, the prepared images, and credential files that
lie where they should not. The exit code is 1 when the default engine cannot run.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cache, err := p.Environ.cacheDir(cache)
			if err != nil {
				return err
			}
			p.Seal.Enter(cache) // so that it reports what a server would get
			report, err := p.examine(cmd.Context(), cache)
			if err != nil {
				return err
			}
			write := func() error { return report.WriteTable(p.Out) }
			if asJSON {
				write = func() error { return p.writeJSON(report) }
			}
			if err := write(); err != nil {
				return err
			}
			if !report.Healthy() {
				return exitCode(1)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	cmd.Flags().StringVar(&cache, "cache", "", "folder that setup filled (default $"+cacheVariable+", or the user's cache folder)")
	folders(cmd, "cache")
	return cmd
}

func (p *Program) examine(ctx context.Context, cache string) (doctor.Report, error) {
	v := builtVersion()
	r := doctor.Report{Version: v.Version, Platform: v.Platform, User: "root", Cache: cache, Engines: []doctor.Engine{}, Credentials: []doctor.Credential{}}
	if ordinaryUser() {
		r.User = "ordinary"
	}
	r.Fences, r.Summary = p.Fences(ctx)
	for i, k := range p.Engines {
		e := k.Examine(ctx, cache)
		e.Default = i == 0
		r.Engines = append(r.Engines, e)
	}
	for _, folder := range []string{filepath.Dir(p.Executable), cache} {
		found, err := doctor.FindCredentials(os.DirFS(folder), folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return r, fmt.Errorf("looking for credential files: %w", err)
		}
		r.Credentials = append(r.Credentials, found...)
	}
	return r, nil
}
