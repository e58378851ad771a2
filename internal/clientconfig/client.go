package clientconfig

import (
	"fmt"
	"strings"
)

// A Client is a program that starts MCP servers.
type Client struct {
	Name  string // as the user types it
	Title string // as its makers write it

	linux, darwin, windows string // its file on each system
	expands                bool   // it replaces variables in commands
	shape                  shape
}

// File says where the snippet goes on a system, by its GOOS name. The user's own folder is ~, and
// variables stand as that system writes them.
func (c Client) File(goos string) string {
	switch goos {
	case "darwin":
		return c.darwin
	case "windows":
		return c.windows
	}
	return c.linux
}

// Clients lists what is known, by name. To add a client, add a line and run the tests with
// -update, then compare the new file in testdata with the client's own documentation.
func Clients() []Client {
	const (
		mac     = "~/Library/Application Support/"
		appdata = `%APPDATA%\`
		storage = "/User/globalStorage/"
	)
	home := func(path string) (string, string, string) {
		return "~/" + path, "~/" + path, `%USERPROFILE%\` + strings.ReplaceAll(path, "/", `\`)
	}
	code := func(path string) (string, string, string) {
		return "~/.config/Code" + path, mac + "Code" + path, appdata + "Code" + strings.ReplaceAll(path, "/", `\`)
	}
	at := func(name, title string, expands bool, s shape, linux, darwin, windows string) Client {
		return Client{Name: name, Title: title, expands: expands, shape: s, linux: linux, darwin: darwin, windows: windows}
	}
	in := func(name, title string, expands bool, s shape, files func(string) (string, string, string), path string) Client {
		linux, darwin, windows := files(path)
		return at(name, title, expands, s, linux, darwin, windows)
	}
	return []Client{
		in("amp", "Amp", false, underKey("amp.mcpServers", plain), home, ".config/amp/settings.json"),
		in("claude-code", "Claude Code", true, underKey("mcpServers", typed("stdio")), home, ".claude.json"),
		at("claude-desktop", "Claude Desktop", false, underKey("mcpServers", plain), "~/.config/Claude/claude_desktop_config.json",
			mac+"Claude/claude_desktop_config.json", appdata+`Claude\claude_desktop_config.json, or %LOCALAPPDATA%\Packages\Claude_*\LocalCache\Roaming\Claude\claude_desktop_config.json where that exists`),
		in("cline", "Cline", false, underKey("mcpServers", plain), code, storage+"saoudrizwan.claude-dev/settings/cline_mcp_settings.json"),
		in("codex", "Codex CLI", false, toml, home, ".codex/config.toml"),
		in("continue", "Continue", true, yamlList, home, ".continue/config.yaml"),
		in("copilot", "GitHub Copilot CLI", true, underKey("mcpServers", allTools), home, ".copilot/mcp-config.json"),
		in("cursor", "Cursor", true, underKey("mcpServers", plain), home, ".cursor/mcp.json"),
		in("gemini", "Gemini CLI", true, underKey("mcpServers", plain), home, ".gemini/settings.json"),
		at("goose", "Goose", false, yamlMap, "~/.config/goose/config.yaml", "~/.config/goose/config.yaml", appdata+`Block\goose\config\config.yaml`),
		in("kiro", "Kiro", true, underKey("mcpServers", plain), home, ".kiro/settings/mcp.json"),
		in("lm-studio", "LM Studio", false, underKey("mcpServers", plain), home, ".lmstudio/mcp.json"),
		in("opencode", "OpenCode", true, underKey("mcp", argv), home, ".config/opencode/opencode.json"),
		in("roo", "Roo Code", true, underKey("mcpServers", plain), code, storage+"rooveterinaryinc.roo-cline/settings/mcp_settings.json"),
		in("vscode", "Visual Studio Code", true, underKey("servers", typed("stdio")), code, "/User/mcp.json"),
		in("windsurf", "Windsurf", true, underKey("mcpServers", plain), home, ".codeium/windsurf/mcp_config.json"),
		at("zed", "Zed", false, underKey("context_servers", plain), "~/.config/zed/settings.json", "~/.config/zed/settings.json", appdata+`Zed\settings.json`),
	}
}

// Lookup finds a client by name.
func Lookup(name string) (Client, error) {
	var names []string
	for _, c := range Clients() {
		if c.Name == name {
			return c, nil
		}
		names = append(names, c.Name)
	}
	return Client{}, fmt.Errorf("there is no client %q; there are %s", name, strings.Join(names, ", "))
}
