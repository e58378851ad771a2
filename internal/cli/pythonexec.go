package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"sallyport.dev/sallyport/internal/fault"
	"sallyport.dev/sallyport/internal/python"
)

func (p *Program) pythonExecCommand(flags *settingFlags) *cobra.Command {
	var asJSON bool
	var save string
	cmd := &cobra.Command{
		Use:   "exec FILE|-",
		Short: "Run one script in the sandbox and end with its exit code",
		Long: `Exec runs one script as the tool run_python would, without MCP. Its output goes to stdout and
stderr, and the exit code is the script's own, or 124 when the time limit ended it. Figures and files
that the script left under /workspace/output are written into the folder of --save.`,
		Example: `  sallyport python exec script.py
  echo 'print(6*7)' | sallyport python exec -`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fault.New(fault.Usage, "name a file, or - for standard input", "exec takes one script, not %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := p.sealed(cmd, flags)
			if err != nil {
				return err
			}
			code, err := p.script(args[0], python.DefaultLimits().InputSize)
			if err != nil {
				return err
			}
			return p.execPython(cmd.Context(), s, code, save, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	cmd.Flags().StringVar(&save, "save", "", "folder for figures and files that come back; it must exist")
	folders(cmd, "save")
	cmd.ValidArgsFunction = fileNames
	return cmd
}

// script reads what to run, bounded as a request is.
func (p *Program) script(name string, most int64) (string, error) {
	in := p.In
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return "", fault.New(fault.Usage, "name a file, or - for standard input", "opening the script: %w", err)
		}
		defer f.Close()
		if st, err := f.Stat(); err == nil && st.IsDir() {
			return "", fault.New(fault.Usage, "name a file, or - for standard input", "exec takes one script, and %s is a folder", name)
		}
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, most+1))
	if err != nil {
		return "", fault.New(fault.Usage, "", "reading the script: %w", err)
	}
	if int64(len(raw)) > most {
		return "", fault.New(fault.Usage, "read the data from a file instead of writing it into the code", "the script is larger than %d bytes", most)
	}
	return string(raw), nil
}

func (p *Program) execPython(ctx context.Context, s Settings, code, save string, asJSON bool) error {
	engine, err := p.openPython(ctx, s, p.logger(s))
	if err != nil {
		return err
	}
	defer engine.Close()
	out, err := engine.Run(ctx, python.Request{Code: code, Limits: engine.Describe().Limits.Narrow(s.Limits)})
	if err != nil {
		return p.execFailure(err)
	}
	if save != "" {
		if err := saveArtifacts(save, out.Files); err != nil {
			return err
		}
	}
	if asJSON {
		if err := p.writeJSON(execReport(out)); err != nil {
			return err
		}
	} else if err := p.copyStreams(out); err != nil {
		return err
	}
	if dropped := withData(out.Files); save == "" && dropped > 0 {
		fmt.Fprintf(p.Err, "note: %d files and figures came back and were dropped; --save FOLDER keeps them\n", dropped)
	}
	switch {
	case out.TimedOut:
		return exitCode(124) // as timeout(1)
	case out.ExitCode != nil && *out.ExitCode != 0:
		return exitCode(*out.ExitCode & 0xff)
	}
	return nil
}

func (p *Program) copyStreams(out python.Outcome) error {
	if _, err := io.WriteString(p.Out, out.Stdout.Text); err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	if out.Result != nil && out.Result.Text != "" {
		if _, err := io.WriteString(p.Out, out.Result.Text+"\n"); err != nil {
			return fmt.Errorf("writing the result: %w", err)
		}
	}
	fmt.Fprint(p.Err, out.Stderr.Text)
	for _, note := range out.Notes {
		fmt.Fprintf(p.Err, "note: %s\n", note)
	}
	if out.TimedOut {
		fmt.Fprintln(p.Err, "note: the time limit ended the script")
	}
	return nil
}

// execFailure shows what was captured before the runner failed, and sorts the failure.
func (p *Program) execFailure(err error) error {
	var f *python.Failure
	if !errors.As(err, &f) {
		return err
	}
	if f.Partial != nil {
		if err := p.copyStreams(*f.Partial); err != nil {
			return err
		}
	}
	kind, hint := fault.Internal, ""
	switch f.Kind {
	case python.NotPrepared:
		kind, hint = fault.NotPrepared, "run sallyport setup"
	case python.Busy:
		kind = fault.Busy
	case python.Cancelled:
		kind = fault.Cancelled
	case python.Invalid:
		kind = fault.Usage
	case python.Belt:
		kind, hint = fault.Unsupported, "see sallyport doctor"
	}
	if f.Cause != nil { // whoever runs exec is the operator, who may see it
		return fault.New(kind, hint, "running the script: %w: %s", f, printable(f.Cause.Error()))
	}
	return fault.New(kind, hint, "running the script: %w", f)
}

// printable bounds a text in which words of the guest may stand, and takes from it what a terminal obeys.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, fmt.Sprintf("%.4000s", text))
}

// withData counts the files that came back with their content.
func withData(files []python.Artifact) int {
	n := 0
	for _, f := range files {
		if f.Data != nil {
			n++
		}
	}
	return n
}

// saveArtifacts writes what came back below the folder. Names are the guest's: they are opened
// through os.Root, so that neither ".." nor a link that lies there leads out.
func saveArtifacts(folder string, files []python.Artifact) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return fault.New(fault.Usage, "name a folder that exists", "opening --save: %w", err)
	}
	defer root.Close()
	for _, f := range files {
		if f.Data == nil {
			continue
		}
		if dir := path.Dir(f.Path); dir != "." {
			if err := root.MkdirAll(dir, 0o755); err != nil {
				return fmt.Errorf("saving a file: %w", err)
			}
		}
		if err := root.WriteFile(f.Path, f.Data, 0o644); err != nil {
			return fmt.Errorf("saving a file: %w", err)
		}
	}
	return nil
}

// An executed is what exec prints with --json. The JSON names are those of the tool's result.
type executed struct {
	Status          string         `json:"status"` // ok, error or timeout
	Stdout          string         `json:"stdout"`
	Stderr          string         `json:"stderr"`
	ExitCode        *int           `json:"exit_code"`
	TimedOut        bool           `json:"timed_out"`
	Result          *string        `json:"result"`
	DurationMS      int64          `json:"duration_ms"`
	StdoutBytes     int64          `json:"stdout_bytes"`
	StderrBytes     int64          `json:"stderr_bytes"`
	StdoutTruncated bool           `json:"stdout_truncated"`
	StderrTruncated bool           `json:"stderr_truncated"`
	ResultTruncated bool           `json:"result_truncated"`
	StdoutEscaped   bool           `json:"stdout_escaped"`
	StderrEscaped   bool           `json:"stderr_escaped"`
	Files           []executedFile `json:"files"`
	Notes           []string       `json:"notes"`
}

type executedFile struct {
	Path string `json:"path"`
	MIME string `json:"mime"`
	Size int64  `json:"size"`
	Note string `json:"note,omitempty"`
}

func execReport(o python.Outcome) executed {
	e := executed{
		Status: "error",
		Stdout: o.Stdout.Text, Stderr: o.Stderr.Text, ExitCode: o.ExitCode, TimedOut: o.TimedOut,
		DurationMS: o.Duration.Milliseconds(), StdoutBytes: o.Stdout.Bytes, StderrBytes: o.Stderr.Bytes,
		StdoutTruncated: o.Stdout.Truncated, StderrTruncated: o.Stderr.Truncated,
		StdoutEscaped: o.Stdout.Escaped, StderrEscaped: o.Stderr.Escaped,
		Files: []executedFile{}, Notes: append([]string{}, o.Notes...),
	}
	if o.Result != nil {
		e.Result, e.ResultTruncated = &o.Result.Text, o.Result.Truncated
	}
	switch {
	case o.TimedOut:
		e.Status = "timeout"
	case o.ExitCode != nil && *o.ExitCode == 0:
		e.Status = "ok"
	}
	for _, f := range o.Files {
		e.Files = append(e.Files, executedFile{Path: f.Path, MIME: f.MIME, Size: f.Size, Note: f.Reason})
	}
	return e
}
