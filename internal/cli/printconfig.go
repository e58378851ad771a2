package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sallyport.dev/sallyport/internal/clientconfig"
	"sallyport.dev/sallyport/internal/fault"
)

const printConfigFlag = "print-config"

// printConfig prints what makes a client start this server with the flags of this command line. The
// snippet is data and goes to stdout; where it belongs goes to stderr.
func (p *Program) printConfig(cmd *cobra.Command, flags *settingFlags, client string) error {
	if cmd.Flags().Changed("http") {
		return fault.New(fault.Usage, "leave --http out", "--print-config prints how a client starts the server on stdio")
	}
	c, err := clientconfig.Lookup(client)
	if err != nil {
		return fault.New(fault.Usage, "use a name of that list", "%w", err)
	}
	// A value that the server would refuse must not be found out in the client's log.
	s, err := flags.read(p)
	if err != nil {
		return err
	}
	args := append([]string{p.Executable, "python"}, givenFlags(cmd)...)
	// The client starts the server in another folder and with another environment than this shell's.
	if named, _ := p.Environ.lookup(cacheVariable); named != "" || cmd.Flags().Changed("cache") {
		args = append(args, "--cache="+s.Cache)
	}
	snippet, err := clientconfig.Snippet(client, args)
	if err != nil {
		return fault.New(fault.Usage, "", "writing the configuration: %w", err)
	}
	fmt.Fprintf(p.Err, "For %s; merge it into %s\n", c.Title, c.File(runtime.GOOS))
	_, err = fmt.Fprint(p.Out, snippet)
	return err
}

// givenFlags are the flags that the user gave, except the one that asks for the configuration and the
// cache, which is written as an absolute path.
func givenFlags(cmd *cobra.Command) []string {
	var given []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name == printConfigFlag || f.Name == "cache" || f.Hidden {
			return
		}
		if many, ok := f.Value.(pflag.SliceValue); ok {
			for _, value := range many.GetSlice() {
				given = append(given, "--"+f.Name+"="+value)
			}
			return
		}
		given = append(given, "--"+f.Name+"="+f.Value.String())
	})
	return given
}

func clientNames() []string {
	var names []string
	for _, c := range clientconfig.Clients() {
		names = append(names, c.Name)
	}
	return names
}
