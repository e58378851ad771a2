package cli

import "github.com/spf13/cobra"

// What a shell offers after a flag. Nothing is the default, since a file name helps few flags; these
// three say otherwise. Their only error is an unknown flag, which is a fault of the caller.

// fixed offers the values of a fixed list.
func fixed(cmd *cobra.Command, flag string, values []string) {
	complete(cmd, flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

func files(cmd *cobra.Command, flag string) { complete(cmd, flag, fileNames) }

func folders(cmd *cobra.Command, flag string) {
	complete(cmd, flag, cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))
}

func complete(cmd *cobra.Command, flag string, values cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, values); err != nil {
		panic(err)
	}
}

// fileNames leaves the work to the shell.
func fileNames(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}
