package clientconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Server is the name that the server gets in a client's configuration.
const Server = "sallyport-python"

// Snippet returns what makes a client start the command, in the form of that client's own file.
// The file of a user has other settings too, so it is for merging, not for replacing.
func Snippet(client string, command []string) (string, error) {
	c, err := Lookup(client)
	if err != nil {
		return "", err
	}
	if err := check(c, command); err != nil {
		return "", err
	}
	return c.shape(command[0], command[1:]), nil
}

// check refuses what would not arrive at the program as it is here.
func check(c Client, command []string) error {
	if len(command) == 0 || command[0] == "" {
		return errors.New("the command is empty")
	}
	for _, word := range command {
		switch {
		case !utf8.ValidString(word), strings.ContainsFunc(word, unicode.IsControl):
			return fmt.Errorf("the argument %q holds a control character or is not UTF-8", word)
		case c.expands && (strings.Contains(word, "$") || strings.Contains(word, "{env:") || strings.Contains(word, "{file:")):
			return fmt.Errorf("the argument %q holds a variable, or looks as if it did, which %s may replace; use a path or value without one", word, c.Title)
		}
	}
	return nil
}

// A shape writes a command in one client's form.
type shape func(command string, args []string) string

// entry is one server in a JSON file. Clients differ in the fields that they need.
type entry struct {
	Type    string   `json:"type,omitempty"`
	Command any      `json:"command"`
	Args    []string `json:"args,omitempty"`
	Enabled *bool    `json:"enabled,omitempty"`
	Tools   []string `json:"tools,omitempty"`
}

func underKey(key string, make func(string, []string) entry) shape {
	return func(command string, args []string) string {
		return indented(map[string]map[string]entry{key: {Server: make(command, args)}})
	}
}

func plain(command string, args []string) entry { return entry{Command: command, Args: args} }

func typed(kind string) func(string, []string) entry {
	return func(command string, args []string) entry {
		return entry{Type: kind, Command: command, Args: args}
	}
}

// allTools is for a client that offers no tool of a server unless it is listed.
func allTools(command string, args []string) entry {
	return entry{Type: "local", Command: command, Args: args, Tools: []string{"*"}}
}

// argv is for a client that takes program and arguments as one list.
func argv(command string, args []string) entry {
	enabled := true
	return entry{Type: "local", Command: append([]string{command}, args...), Enabled: &enabled}
}

func toml(command string, args []string) string {
	return fmt.Sprintf("[mcp_servers.%s]\ncommand = %s\nargs = %s\n", Server, quoted(command), list(args))
}

func yamlMap(command string, args []string) string {
	return fmt.Sprintf("extensions:\n  %s:\n    type: stdio\n    name: %s\n    enabled: true\n    cmd: %s\n    args: %s\n    envs: {}\n    timeout: 300\n",
		Server, Server, quoted(command), list(args))
}

func yamlList(command string, args []string) string {
	return fmt.Sprintf("mcpServers:\n  - name: %s\n    command: %s\n    args: %s\n", Server, quoted(command), list(args))
}

// quoted is a string in double quotes as JSON writes it. Without control characters, TOML and
// YAML read that the same way.
func quoted(s string) string { return strings.TrimSuffix(encoded(s, ""), "\n") }

func list(words []string) string {
	all := make([]string, 0, len(words))
	for _, w := range words {
		all = append(all, quoted(w))
	}
	return "[" + strings.Join(all, ", ") + "]"
}

func indented(v any) string { return encoded(v, "  ") }

// encoded cannot fail: it gets strings, lists and booleans only.
func encoded(v any, indent string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return b.String()
}
