package clientconfig

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the files in testdata anew")

// A path with a space and with backslashes, and an argument with quotes: what people really have.
func awkward() []string {
	return []string{`C:\Program Files\sallyport.exe`, "python", "--timeout", "30s", `--note=it's "<here>" & é`}
}

func TestSnippetsAreAsRecorded(t *testing.T) {
	for _, c := range Clients() {
		got, err := Snippet(c.Name, awkward())
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		file := filepath.Join("testdata", c.Name+".golden")
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != strings.ReplaceAll(string(want), "\r\n", "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", c.Name, got, want)
		}
	}
}

// Whatever the shape, a JSON client reads back exactly the command that was given.
func TestJSONSnippetsHoldTheCommand(t *testing.T) {
	seen := 0
	for _, c := range Clients() {
		got, err := Snippet(c.Name, awkward())
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(c.File("linux"), ".json") {
			continue
		}
		seen++
		var file map[string]map[string]struct {
			Command json.RawMessage `json:"command"`
			Args    []string        `json:"args"`
		}
		if err := json.Unmarshal([]byte(got), &file); err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		for _, servers := range file {
			server := servers[Server]
			var words []string
			if json.Unmarshal(server.Command, &words) != nil {
				var command string
				if err := json.Unmarshal(server.Command, &command); err != nil {
					t.Errorf("%s: %v", c.Name, err)
				}
				words = append([]string{command}, server.Args...)
			}
			if !slices.Equal(words, awkward()) {
				t.Errorf("%s holds %q", c.Name, words)
			}
		}
	}
	if seen < 10 {
		t.Errorf("only %d clients were looked at", seen)
	}
}

func TestCommandWithoutArguments(t *testing.T) {
	for _, c := range Clients() {
		if got, err := Snippet(c.Name, []string{"sallyport"}); err != nil || strings.Contains(got, "null") {
			t.Errorf("%s: %s, %v", c.Name, got, err)
		}
	}
}

func TestWhatIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		client  string
		command []string
		want    string
	}{
		"unknown client": {"emacs", []string{"x"}, "there is no client \"emacs\"; there are amp, claude-code, "},
		"no command":     {"cursor", nil, "empty"},
		"empty command":  {"cursor", []string{""}, "empty"},
		"control":        {"codex", []string{"x", "a\nb"}, "control character"},
		"NUL":            {"codex", []string{"x\x00"}, "control character"},
		"not UTF-8":      {"goose", []string{"x\xff"}, "not UTF-8"},
		"variable":       {"vscode", []string{"/home/me/${env:HOME}"}, "Visual Studio Code may replace"},
		"braces":         {"opencode", []string{"x", "{env:HOME}"}, "OpenCode may replace"},
	} {
		if got, err := Snippet(c.client, c.command); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestClientsAreSortedAndComplete(t *testing.T) {
	var names []string
	for _, c := range Clients() {
		names = append(names, c.Name)
		for _, goos := range []string{"linux", "darwin", "windows"} {
			file := c.File(goos)
			if file == "" || strings.Contains(file, "//") || goos == "windows" && strings.Contains(file, "/") || goos != "windows" && strings.ContainsAny(file, `\%`) {
				t.Errorf("%s on %s is %q", c.Name, goos, file)
			}
		}
		if c.Title == "" {
			t.Errorf("%s has no title", c.Name)
		}
	}
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("names are %q", names)
	}
	if c, err := Lookup("vscode"); err != nil || c.File("darwin") != "~/Library/Application Support/Code/User/mcp.json" || c.File("windows") != `%APPDATA%\Code\User\mcp.json` {
		t.Errorf("%+v, %v", c, err)
	}
}
