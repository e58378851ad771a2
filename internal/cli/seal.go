package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sallyport.dev/sallyport/internal/fault"
)

// Sealing is what leaves a server with nothing to steal: the process that reads the configuration is
// replaced by one with an empty environment, since emptying it in place leaves the first copy readable
// under /proc, and in memory. The settings cross in a pipe: they may hold a token, so neither arguments
// nor a file will do. Then, where this user needs one, a user namespace is entered, which is another
// restart. Each restart is told the descriptor of the pipe by the hidden flag --sealed.

// A Sealer restarts the process. Its methods return only when no restart was needed, or it failed.
type Sealer interface {
	// Replace puts a process with an empty environment in the place of this one.
	Replace(Settings) error
	// Confine enters the namespace that the belt wants, once. A restart finds the settings on
	// the same descriptor again.
	Confine(s Settings, descriptor int) error
	// Enter is Confine for commands that start no server: no settings cross, nothing is emptied.
	Enter(cache string)
}

const sealedName = "sealed"

func sealedFlag(root *cobra.Command) {
	root.PersistentFlags().Int(sealedName, -1, "descriptor with the settings")
	if err := root.PersistentFlags().MarkHidden(sealedName); err != nil {
		panic(err) // the flag is registered one line above
	}
}

// sealed gets the settings of a server and leaves the process sealed.
func (p *Program) sealed(cmd *cobra.Command, f *settingFlags) (Settings, error) {
	descriptor, err := cmd.Flags().GetInt(sealedName)
	if err != nil {
		return Settings{}, err
	}
	if descriptor < 0 {
		s, err := f.read(p)
		if err != nil {
			return s, err
		}
		if err := p.Seal.Replace(s); err != nil {
			return s, fmt.Errorf("starting again without environment: %w", err)
		}
		return s, nil // this system cannot replace a process, and has no namespaces either
	}
	s, err := takeOver(descriptor)
	if err != nil {
		return s, fault.New(fault.Usage, "the flag --sealed is not for people; leave it out", "reading the settings: %w", err)
	}
	return s, p.Seal.Confine(s, descriptor)
}

// mostSettings bounds the settings to what every system's pipe takes without a reader.
const mostSettings = 8 << 10

// handOver puts the settings into a pipe and returns its reading end, which a restart inherits when
// keepOpen was called on it.
func handOver(s Settings) (*os.File, error) {
	raw, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	if len(raw) > mostSettings {
		return nil, fault.New(fault.Usage, "use fewer --allow-host and --allow-origin", "the settings take %d bytes, more than %d", len(raw), mostSettings)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(raw); err != nil {
		w.Close()
		r.Close()
		return nil, err
	}
	return r, w.Close()
}

// takeOver reads what handOver left, and closes the descriptor before anything else is started.
func takeOver(descriptor int) (Settings, error) {
	if descriptor < 3 {
		return Settings{}, fmt.Errorf("%d is no descriptor for it", descriptor)
	}
	f := os.NewFile(uintptr(descriptor), "settings")
	if f == nil {
		return Settings{}, fmt.Errorf("%d is no descriptor", descriptor)
	}
	defer f.Close()
	return readSettings(f)
}

func readSettings(r io.Reader) (Settings, error) {
	var s Settings
	raw, err := io.ReadAll(io.LimitReader(r, mostSettings))
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(raw, &s)
}

// sealedArgs are the arguments of a restart: the flag is put first, where no "--" stands before it.
func sealedArgs(args []string, descriptor int) []string {
	rest := args[1:]
	if len(rest) > 0 && strings.HasPrefix(rest[0], "--"+sealedName+"=") {
		rest = rest[1:]
	}
	return append([]string{args[0], "--" + sealedName + "=" + strconv.Itoa(descriptor)}, rest...)
}

// sealer is the real Sealer.
type sealer struct {
	executable string
	args       []string
}
