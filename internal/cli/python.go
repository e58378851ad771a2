package cli

import (
	"context"
	"log/slog"

	"github.com/spf13/cobra"

	"sallyport.dev/sallyport/internal/python"
)

func (p *Program) pythonCommand() *cobra.Command {
	var flags settingFlags
	var client string
	cmd := &cobra.Command{
		Use:   "python",
		Short: "Serve the MCP tool run_python",
		Long: `Python is an MCP server with one tool, run_python: a fresh interpreter for each call, with no
network, no files of the host, no environment and no state. It speaks stdio, or Streamable HTTP with
--http. It answers initialize at once, also before setup was run; a call then names the command.`,
		Example: `  sallyport python
  sallyport python --timeout 10s --memory 1GiB
  sallyport python --http 127.0.0.1:8080
  sallyport python --print-config claude-code`,
		Args: noArguments,

		SuggestionsMinimumDistance: 2,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed(printConfigFlag) {
				return p.printConfig(cmd, &flags, client)
			}
			s, err := p.sealed(cmd, &flags)
			if err != nil {
				return err
			}
			return p.servePython(cmd.Context(), s)
		},
	}
	flags.register(p, cmd)
	flags.registerServer(cmd)
	cmd.Flags().StringVar(&client, printConfigFlag, "", "print the configuration for this MCP client, and end")
	fixed(cmd, printConfigFlag, clientNames())
	cmd.AddCommand(p.pythonExecCommand(&flags))
	return cmd
}

// openPython opens the engine that the settings name.
func (p *Program) openPython(ctx context.Context, s Settings, log *slog.Logger) (python.Engine, error) {
	k, err := p.kit(s.Engine)
	if err != nil {
		return nil, err
	}
	return k.Open(ctx, s, log)
}

// logger writes the operator's log to stderr; stdout belongs to the protocol.
func (p *Program) logger(s Settings) *slog.Logger {
	return slog.New(slog.NewTextHandler(p.Err, &slog.HandlerOptions{Level: s.LogLevel}))
}
