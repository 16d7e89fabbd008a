package clientconfig

import "slices"

// A Client is a program that starts MCP servers. All that is particular to one stands
// here as data.
type Client struct {
	Name  string // as --client takes it
	Title string // as people call it

	format  format
	section []string // leads to the object, or list, of servers in a file
	list    bool     // it is a list, of entries with a member "name"
	fresh   string   // what a new file begins with

	// entry is what is written for a server, as JSON, in which "$command", "$name" and
	// "$env" stand for the server's own.
	entry string
	shown string // the heading under which --show has it; "": it has not (CLI-706)
	// printed is the shape that --client prints in place of a file's, for the users of
	// the Bash edition (CLI-704); "" for the file's.
	printed string

	user    files    // where the file of a user is
	project []string // where that of a project is, below its root; nil: there is none
	after   string   // what there is to do for the client to see a change
	trust   string   // what there is to do before it reads a project's file

	names names
	// expands are what begins a variable in the texts of an entry.
	expands []string
}

// files are where a client keeps a file on each system: the first one that is there, else
// the first. In a path ~ is the home directory; ${NAME:-DEFAULT} is a variable as in a
// shell.
type files struct{ linux, darwin, windows []string }

func everywhere(paths ...string) files { return files{paths, paths, paths} }
func onUnix(paths ...string) files     { return files{linux: paths, darwin: paths} }

func (f files) on(system string) []string {
	switch system {
	case "darwin":
		return f.darwin
	case "windows":
		return f.windows
	}
	return f.linux
}

// names is what a client does to the names of servers; what it does to those of tools
// [toolnames] knows.
type names struct {
	other    string // to characters that are no letters, digits, "-" or "_"
	bar      string // to "_"
	reserved string // it takes this name for itself
}

// Shapes of an entry that several clients share.
const (
	plainEntry = `{"command":"$command","env":"$env"}`
	argsEntry  = `{"command":"$command","args":[],"env":"$env"}`
	stdioEntry = `{"type":"stdio","command":"$command","args":[],"env":"$env"}`
	namedEntry = `{"name":"$name","command":"$command","env":"$env"}`
)

// What the names of servers come to, where several clients do the same.
const (
	mayRefuse  = "may refuse the name"
	underscore = "puts _ in the place of other characters in the names of tools"
)

var mcpServers = []string{"mcpServers"}

// clients are those we know, in the order in which they are listed: first those of the
// Bash edition.
var clients = []*Client{
	{
		Name: "claude-desktop", Title: "Claude Desktop", shown: "Claude Desktop",
		format: strictJSON, section: mcpServers, entry: plainEntry,
		user: files{
			linux:   []string{"${XDG_CONFIG_HOME:-~/.config}/Claude/claude_desktop_config.json"},
			darwin:  []string{"~/Library/Application Support/Claude/claude_desktop_config.json"},
			windows: []string{"${APPDATA}/Claude/claude_desktop_config.json"},
		},
		after: "quit Claude Desktop and start it again",
		names: names{other: mayRefuse},
	},
	{
		Name: "cursor", Title: "Cursor", shown: "Cursor",
		format: lenientJSON, section: mcpServers, entry: plainEntry,
		user: everywhere("~/.cursor/mcp.json"), project: []string{".cursor/mcp.json"},
		after:   "look at the settings of Cursor, under MCP",
		names:   names{other: mayRefuse},
		expands: []string{"${"},
	},
	claudeCode.as("claude-cli", "Claude CLI"),
	{
		Name: "windsurf", Title: "Windsurf", shown: "Windsurf",
		format: lenientJSON, section: mcpServers, entry: plainEntry,
		user:    everywhere("~/.codeium/windsurf/mcp_config.json"),
		after:   "have Windsurf read its list of MCP servers again",
		names:   names{other: mayRefuse},
		expands: []string{"${"},
	},
	libreChat.as("librechat", "LibreChat"),
	claudeCode,
	{
		Name: "vscode", Title: "VS Code",
		format: lenientJSON, section: []string{"servers"}, entry: stdioEntry,
		user: files{
			linux:   []string{"${XDG_CONFIG_HOME:-~/.config}/Code/User/mcp.json"},
			darwin:  []string{"~/Library/Application Support/Code/User/mcp.json"},
			windows: []string{"${APPDATA}/Code/User/mcp.json"},
		},
		project: []string{".vscode/mcp.json"},
		after:   "run the command \"MCP: List Servers\" and start it there; VS Code asks whether you trust it",
		names:   names{other: "asks for names without special characters"},
		expands: []string{"${"},
	},
	{
		Name: "codex", Title: "Codex CLI",
		format: tomlFormat, section: []string{"mcp_servers"}, entry: plainEntry,
		user: everywhere("${CODEX_HOME:-~/.codex}/config.toml"), project: []string{".codex/config.toml"},
		after: "start Codex again",
		trust: "Codex reads it once you trust the project",
		names: names{other: underscore},
	},
	{
		Name: "gemini", Title: "Gemini CLI",
		format: commentJSON, section: mcpServers, entry: plainEntry,
		user: everywhere("~/.gemini/settings.json"), project: []string{".gemini/settings.json"},
		after:   "start Gemini CLI again, in a folder that you trust",
		names:   names{other: underscore, bar: "splits the name at _ in its rules"},
		expands: []string{"$"},
	},
	{
		Name: "opencode", Title: "opencode",
		format: lenientJSON, section: []string{"mcp"},
		entry: `{"type":"local","command":["$command"],"environment":"$env"}`,
		user: onUnix("${XDG_CONFIG_HOME:-~/.config}/opencode/opencode.jsonc",
			"${XDG_CONFIG_HOME:-~/.config}/opencode/opencode.json"),
		project: []string{"opencode.json"},
		after:   "start opencode again",
		names:   names{other: underscore},
		expands: []string{"{env:"},
	},
	{
		Name: "copilot", Title: "Copilot CLI",
		format: lenientJSON, section: mcpServers,
		entry: `{"type":"stdio","command":"$command","args":[],"tools":["*"],"env":"$env"}`,
		user:  everywhere("${COPILOT_HOME:-~/.copilot}/mcp-config.json"), project: []string{".mcp.json"},
		after:   "start Copilot CLI again, or look at /mcp",
		trust:   "Copilot CLI reads it in folders that you trust",
		names:   names{other: "puts - in the place of other characters in the names of tools"},
		expands: []string{"$"},
	},
	{
		Name: "zed", Title: "Zed",
		format: lenientJSON, section: []string{"context_servers"}, entry: argsEntry,
		user: files{
			linux:  []string{"${XDG_CONFIG_HOME:-~/.config}/zed/settings.json"},
			darwin: []string{"~/.config/zed/settings.json"},
		},
		project: []string{".zed/settings.json"},
		after:   "look at the settings of Zed's agent panel",
		trust:   "Zed reads it once you trust the project",
		names:   names{other: mayRefuse},
	},
	{
		Name: "goose", Title: "Goose",
		format: yamlFormat, section: []string{"extensions"},
		entry: `{"enabled":true,"type":"stdio","name":"$name","cmd":"$command","args":[],"envs":"$env","timeout":300}`,
		user: files{
			linux:   []string{"~/.config/goose/config.yaml"},
			darwin:  []string{"~/.config/goose/config.yaml"},
			windows: []string{"${APPDATA}/Block/goose/config/config.yaml"},
		},
		after: "start a new session of Goose",
		names: names{other: mayRefuse},
	},
	libreChat,
	{
		Name: "cline", Title: "Cline",
		format: lenientJSON, section: mcpServers, entry: plainEntry,
		user:    everywhere("${CLINE_MCP_SETTINGS_PATH:-~/.cline/data/settings/cline_mcp_settings.json}"),
		after:   "start Cline again",
		names:   names{other: underscore},
		expands: []string{"${env:"},
	},
	{
		Name: "continue", Title: "Continue",
		format: yamlFormat, section: mcpServers, list: true, entry: namedEntry,
		fresh: "name: Local Config\nversion: 1.0.0\nschema: v1\n",
		user:  everywhere("~/.continue/config.yaml"), project: []string{".continue/mcpServers/$NAME.yaml"},
		after:   "use it in agent mode; Continue offers no tools in others",
		names:   names{other: underscore},
		expands: []string{"${{"},
	},
	{
		Name: "kiro", Title: "Kiro",
		format: lenientJSON, section: mcpServers, entry: argsEntry,
		user: everywhere("~/.kiro/settings/mcp.json"), project: []string{".kiro/settings/mcp.json"},
		after:   "look at the list of MCP servers in Kiro",
		names:   names{other: mayRefuse},
		expands: []string{"${"},
	},
	{
		Name: "lm-studio", Title: "LM Studio",
		format: lenientJSON, section: mcpServers, entry: plainEntry,
		after: "look at the list of servers in LM Studio",
		names: names{other: mayRefuse},
	},
}

var claudeCode = &Client{
	Name: "claude-code", Title: "Claude Code",
	format: strictJSON, section: mcpServers, entry: plainEntry,
	user: onUnix("${CLAUDE_CONFIG_DIR:-~}/.claude.json"), project: []string{".mcp.json"},
	after:   "start Claude Code again, or look at /mcp",
	trust:   "Claude Code asks before it starts the servers of a project",
	names:   names{other: "takes such names in no command of its own", reserved: "workspace"},
	expands: []string{"${"},
}

var libreChat = &Client{
	Name: "librechat-yaml", Title: "LibreChat",
	format: yamlFormat, section: mcpServers, entry: stdioEntry,
	after:   "start LibreChat again",
	names:   names{other: underscore},
	expands: []string{"${", "{{"},
}

// as is the same client under the name that it has in the Bash edition, with what that
// prints for it.
func (c Client) as(name, shown string) *Client {
	c.Name, c.shown, c.printed = name, shown, namedEntry
	return &c
}

// Find returns the client of a name, nil for none.
func Find(name string) *Client {
	if at := slices.IndexFunc(clients, func(c *Client) bool { return c.Name == name }); at >= 0 {
		return clients[at]
	}
	return nil
}

// Names are the names of all clients, in the order of help.
func Names() (list []string) {
	for _, c := range clients {
		list = append(list, c.Name)
	}
	return list
}

// path leads to the entry of a server in a file.
func (c *Client) path(name string, more ...string) []string {
	return slices.Concat(c.section, []string{name}, more)
}

// Shown are the clients of --show.
func Shown() (list []*Client) {
	for _, c := range clients {
		if c.shown != "" {
			list = append(list, c)
		}
	}
	return list
}

// Heading is what stands above a client in --show.
func (c *Client) Heading() string { return c.shown }
