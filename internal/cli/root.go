package cli

import (
	"github.com/spf13/cobra"
)

// rootCommand lists every command. To add one, write its file and name it here.
func (p *Program) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "sallyport",
		Short: "A gate between an AI agent and what it runs",
		Long: `Sallyport runs what an AI agent wants to run, in a place where it can do no harm.

  sallyport setup      fills the cache, once
  sallyport python     is an MCP server with the tool run_python
  sallyport doctor     says what this host really enforces`,
		Args:              noArguments,
		SilenceErrors:     true, // Run prints them, with a hint
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SuggestionsMinimumDistance = 2
	root.SetFlagErrorFunc(flagFault)
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	sealedFlag(root)
	root.AddCommand(
		p.pythonCommand(),
		p.setupCommand(),
		p.doctorCommand(),
		p.versionCommand(),
	)
	root.Version = builtVersion().Version // the flag --version
	root.SetVersionTemplate(builtVersion().line())
	helpRefuses(root)
	return root
}

// helpRefuses makes help about nothing a usage error; cobra's own ends with 0 and the help of help.
func helpRefuses(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, help := range root.Commands() {
		if help.Name() != "help" {
			continue
		}
		help.Run = nil
		help.RunE = func(_ *cobra.Command, topic []string) error {
			cmd, rest, err := root.Find(topic)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return noArguments(cmd, rest)
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		}
	}
}
