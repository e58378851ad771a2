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
	return root
}
