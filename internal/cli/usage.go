package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sallyport.dev/sallyport/internal/fault"
)

// sorted gives errors that cobra made on its own the kind Usage; all others keep theirs.
func sorted(err error) error {
	var f *fault.Error
	if err == nil || errors.As(err, &f) {
		return err
	}
	if strings.HasPrefix(err.Error(), "unknown command ") {
		text, rest, _ := strings.Cut(err.Error(), "\n")
		hint := "see sallyport --help"
		if names := strings.Fields(strings.TrimPrefix(strings.TrimSpace(rest), "Did you mean this?")); len(names) > 0 {
			hint = "did you mean " + strings.Join(names, " or ") + "?"
		}
		return fault.New(fault.Usage, hint, "%s", text)
	}
	return err
}

// flagFault turns a flag error into a usage error that names the nearest flag.
func flagFault(cmd *cobra.Command, err error) error {
	hint := "see " + cmd.CommandPath() + " --help"
	var missing *pflag.NotExistError
	if errors.As(err, &missing) {
		if near := nearestFlag(cmd, missing.GetSpecifiedName()); near != "" {
			hint = "did you mean --" + near + "?"
		}
	}
	if strings.Contains(err.Error(), "missing unit in duration") { // package time has no value for it
		hint = "write a unit, such as 3s"
	}
	return fault.New(fault.Usage, hint, "%w", err)
}

func nearestFlag(cmd *cobra.Command, name string) string {
	best, distance := "", 3 // two slips at most, or the advice is noise
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if d := slips(name, f.Name); !f.Hidden && d < distance {
			best, distance = f.Name, d
		}
	})
	return best
}

// slips is the Levenshtein distance of two short words.
func slips(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			corner, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, corner+cost)
		}
	}
	return row[len(b)]
}

// noArguments refuses positional arguments with a hint, since cobra's own text has none.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return fault.New(fault.Usage, fmt.Sprintf("did you mean %s %s?", cmd.CommandPath(), near[0]), "%s does not take the argument %q", cmd.CommandPath(), args[0])
	}
	return fault.New(fault.Usage, "see "+cmd.CommandPath()+" --help", "%s does not take the argument %q", cmd.CommandPath(), args[0])
}
