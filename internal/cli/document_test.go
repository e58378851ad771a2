package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocumentedCommands parses every command line that the documents show, as the program would: a
// command or a flag that was renamed fails here, not at the reader's desk.
func TestDocumentedCommands(t *testing.T) {
	names, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	// A command stands in backticks, or at the beginning of a line of an example, maybe behind a pipe.
	shown := regexp.MustCompile("(?m)(?:`|^\\s*|\\| *)(?:\\./|bin/)?sallyport ([^`#\\n|>]*)")
	found := 0
	for _, name := range append(names, "../../README.md") {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range shown.FindAllStringSubmatch(string(raw), -1) {
			line := strings.TrimSpace(m[1])
			if first, _, _ := strings.Cut(line, " "); !isCommandWord(first) {
				continue // prose that begins with the name
			}
			found++
			if err := parses(strings.Fields(line)); err != nil {
				t.Errorf("%s shows sallyport %s: %v", filepath.Base(name), line, err)
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d commands found; the pattern no longer matches the documents", found)
	}
}

// isCommandWord tells a command from prose: no command is a word of our sentences.
func isCommandWord(word string) bool {
	return regexp.MustCompile(`^(--?[a-z-]+|python|setup|doctor|version|completion|help)$`).MatchString(word)
}

func parses(args []string) error {
	p, _, _ := quiet()
	p.Engines = []Kit{&echoKit{}}
	root := p.rootCommand()
	root.InitDefaultCompletionCmd()
	root.InitDefaultVersionFlag()
	cmd, rest, err := root.Find(args)
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	if cmd.Name() == "completion" {
		return nil // its argument is a subcommand, shown as SHELL
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

func TestDocumentedCommandsTestCanFail(t *testing.T) {
	for _, line := range []string{"setup --nothing", "setup now", "python --timeout soon", "python exec"} {
		if parses(strings.Fields(line)) == nil {
			t.Errorf("%q was taken for a command line", line)
		}
	}
}

// TestEveryFlagIsDocumented holds docs/cli.md to the program.
func TestEveryFlagIsDocumented(t *testing.T) {
	raw, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range clientNames() {
		if !regexp.MustCompile(`[\s]` + name + `[,.\s]`).Match(raw) {
			t.Errorf("docs/cli.md does not name the client %s", name)
		}
	}
	p, _, _ := quiet()
	for _, cmd := range p.rootCommand().Commands() {
		if cmd.Name() != "python" && cmd.Name() != "setup" {
			continue
		}
		for _, line := range strings.Split(cmd.LocalFlags().FlagUsages(), "\n") {
			if m := regexp.MustCompile(`--([a-z-]+)`).FindStringSubmatch(line); m != nil && !strings.Contains(string(raw), "--"+m[1]) {
				t.Errorf("docs/cli.md does not name --%s of %s", m[1], cmd.Name())
			}
		}
	}
}
