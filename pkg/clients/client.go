// Package clients configures MCP clients to start a project's server. It formats the
// entry that each client expects, and adds it to the client's file or removes it. The rest
// of the file keeps its bytes (cli chapter 7).
//
// A [Client] is a row of a table: where its file is, which format the file has, and what an entry
// contains. [Apply] makes the change that a [Request] describes, for the [Server] of a project.
// [Survey] reports for each client whether it is installed and configured. [Entries] finds all entries
// that start one of our servers, whatever project they name.
package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/text/lazyregexp"
)

// A Client is a program that starts MCP servers. Everything specific to a client is data in
// this table.
type Client struct {
	Name  string `json:"client"` // the value of --client
	Title string `json:"title"`  // the name in messages

	format  format
	section []string // the path of the object or list of servers in a file
	list    bool     // servers are a list of entries with a member "name"
	fresh   string   // the text that a new file begins with

	// entry is the JSON of a server's entry. "$command", "$name" and "$env" in it are
	// replaced by the server's values.
	entry string
	// printed is an entry that --client prints instead of the file's, for users of the Bash
	// edition (CLI-704). If it is "", --client prints the file's.
	printed string

	user files // the user's file
	// folder is the variable that the client replaces by the folder of a project's file. If it is "", the client
	// starts servers of that file in the folder.
	folder  string
	project []string // a project's file, relative to its root; nil: not supported
	after   string   // the step that makes the client read the change
	trust   string   // the user's steps before the client reads a project's file

	names names
	http  http
	links links
	// expands are the strings that begin a variable in the values of an entry.
	expands []string
	// workspace is the value of MCPBASH_ROOTS that the client expands to the path of the
	// user's workspace. "": the client declares roots, or it has no such variable (CLI-752).
	workspace string
	// mistaken are other names of the client, which are suggestions for --client (CLI-751).
	mistaken []string
}

// files are the paths of a client's file on each system. The first existing file is used, or
// else the first path. In a path, ~ is the home directory, and ${NAME:-DEFAULT} is a
// variable as in a shell.
type files struct{ linux, darwin, windows []string }

func everywhere(paths ...string) files { return files{paths, paths, paths} }
func onUnix(paths ...string) files     { return files{linux: paths, darwin: paths} }

// inSettings returns the paths of a file in the directory for settings of desktop programs.
func inSettings(path string) files {
	return files{
		linux:   []string{"${XDG_CONFIG_HOME:-~/.config}/" + path},
		darwin:  []string{"~/Library/Application Support/" + path},
		windows: []string{"${APPDATA}/" + path},
	}
}

func (f files) on(system string) []string {
	switch system {
	case "darwin":
		return f.darwin
	case "windows":
		return f.windows
	}
	return f.linux
}

// names describes problems with the names of servers. Package [toolnames] knows those with
// the names of tools.
type names struct {
	other    string // with characters other than letters, digits, "-" and "_"; "": the client may reject them
	bar      string // with "_"
	reserved string // a name that the client reserves
}

// Entries that several clients share.
const (
	plainEntry = `{"command":"$command","env":"$env"}`
	argsEntry  = `{"command":"$command","args":[],"env":"$env"}`
	stdioEntry = `{"type":"stdio","command":"$command","args":[],"env":"$env"}`
	namedEntry = `{"name":"$name","command":"$command","env":"$env"}`
	arrayEntry = `{"type":"local","command":["$command"],"environment":"$env"}`
)

// underscore is a problem with names that several clients share.
const underscore = "replaces other characters in the names of tools with _"

var mcpServers = []string{"mcpServers"}

// anyClient is the name for clients that are not in the table.
const anyClient = "json"

// clients are the known clients in the order in which they are listed, those of the Bash
// edition first.
var clients = []*Client{
	{
		Name: "claude-desktop", Title: "Claude Desktop",
		format: strictJSON, section: mcpServers, entry: plainEntry,
		user:     inSettings("Claude/claude_desktop_config.json"),
		after:    "quit and restart Claude Desktop",
		http:     http{instead: "add the address in the app: Settings, Connectors, Add custom connector"},
		mistaken: []string{"claude"},
	},
	{
		Name: "cursor", Title: "Cursor",
		format: lenientJSON, section: mcpServers, entry: plainEntry,
		user: everywhere("~/.cursor/mcp.json"), folder: "${workspaceFolder}", project: []string{".cursor/mcp.json"},
		links: links{
			web:   "https://cursor.com/en/install-mcp?name=NAME&config=BASE64",
			app:   "cursor://anysphere.cursor-deeplink/mcp/install?name=NAME&config=BASE64",
			badge: "https://cursor.com/deeplink/mcp-install-dark.svg",
		},
		after:   "check the MCP page of Cursor's settings",
		http:    http{entry: urlEntry, variable: "${env:NAME}"},
		expands: []string{"${"},
	},
	claudeCode.as("claude-cli"),
	{
		Name: "windsurf", Title: "Windsurf",
		format: lenientJSON, section: mcpServers, entry: plainEntry,
		user:    everywhere("~/.codeium/windsurf/mcp_config.json"),
		after:   "refresh the list of MCP servers in Windsurf",
		http:    http{entry: serverURLEntry, variable: "${env:NAME}"},
		expands: []string{"${"},
	},
	libreChat.as("librechat"),
	claudeCode,
	{
		Name: "vscode", Title: "VS Code",
		format: lenientJSON, section: []string{"servers"}, entry: stdioEntry,
		user:    inSettings("Code/User/mcp.json"),
		folder:  "${workspaceFolder}",
		project: []string{".vscode/mcp.json"},
		links: links{
			web:   "https://insiders.vscode.dev/redirect/mcp/install?name=NAME&config=CONFIG",
			app:   "vscode:mcp/install?ENTRY",
			badge: "https://img.shields.io/badge/VS_Code-LABEL-0098FF",
		},
		after:    "run the command \"MCP: List Servers\" and start the server there; VS Code asks whether you trust it",
		http:     http{entry: httpEntry, variable: "${env:NAME}"},
		names:    names{other: "asks for names without special characters"},
		expands:  []string{"${"},
		mistaken: []string{"code", "vs-code"},
	},
	{
		Name: "codex", Title: "Codex CLI",
		format: tomlFormat, section: []string{"mcp_servers"}, entry: plainEntry,
		user: everywhere("${CODEX_HOME:-~/.codex}/config.toml"), project: []string{".codex/config.toml"},
		after:    "restart Codex",
		trust:    "Codex reads it once you trust the project",
		http:     http{entry: urlEntry, headers: []string{"http_headers"}, token: "bearer_token_env_var"},
		names:    names{other: underscore},
		mistaken: []string{"codex-cli", "openai"},
	},
	{
		Name: "gemini", Title: "Gemini CLI",
		format: commentJSON, section: mcpServers, entry: plainEntry,
		user: everywhere("~/.gemini/settings.json"), project: []string{".gemini/settings.json"},
		after:    "restart Gemini CLI in a folder that you trust",
		http:     http{entry: httpURLEntry, variable: "${NAME}"},
		names:    names{other: underscore, bar: "splits the name at _ in its rules"},
		expands:  []string{"$"},
		mistaken: []string{"gemini-cli"},
	},
	{
		Name: "opencode", Title: "opencode",
		format: lenientJSON, section: []string{"mcp"},
		entry: arrayEntry,
		user: onUnix("${XDG_CONFIG_HOME:-~/.config}/opencode/opencode.jsonc",
			"${XDG_CONFIG_HOME:-~/.config}/opencode/opencode.json"),
		project: []string{"opencode.json"},
		after:   "restart opencode",
		http:    http{entry: remoteEntry, variable: "{env:NAME}"},
		names:   names{other: underscore},
		expands: []string{"{env:"},
	},
	{
		Name: "copilot", Title: "Copilot CLI",
		format: lenientJSON, section: mcpServers,
		entry: `{"type":"stdio","command":"$command","args":[],"tools":["*"],"env":"$env"}`,
		user:  everywhere("${COPILOT_HOME:-~/.copilot}/mcp-config.json"), project: []string{".mcp.json"},
		after:     "restart Copilot CLI, or run /mcp",
		trust:     "Copilot CLI reads it in folders that you trust",
		http:      http{entry: `{"type":"http","url":"$url","tools":["*"]}`, variable: "${NAME}"},
		names:     names{other: "replaces other characters in the names of tools with -"},
		expands:   []string{"$"},
		workspace: "${PWD:-.}",
		mistaken:  []string{"copilot-cli", "github-copilot"},
	},
	{
		Name: "zed", Title: "Zed",
		format: lenientJSON, section: []string{"context_servers"}, entry: argsEntry,
		user: files{
			linux:  []string{"${XDG_CONFIG_HOME:-~/.config}/zed/settings.json"},
			darwin: []string{"~/.config/zed/settings.json"},
		},
		project: []string{".zed/settings.json"},
		after:   "check the settings of Zed's agent panel",
		trust:   "Zed reads it once you trust the project",
		http:    http{entry: urlEntry},
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
		http: http{
			entry:    `{"enabled":true,"type":"streamable_http","name":"$name","uri":"$url","timeout":300}`,
			variable: "${NAME}", keys: "env_keys",
		},
	},
	libreChat,
	{
		Name: "cline", Title: "Cline",
		format: lenientJSON, section: mcpServers, entry: plainEntry,
		user:  everywhere("${CLINE_MCP_SETTINGS_PATH:-~/.cline/data/settings/cline_mcp_settings.json}"),
		after: "restart Cline",
		http: http{
			entry: `{"type":"streamableHttp","url":"$url"}`, variable: "${env:NAME}",
			reminder: "Cline's editor extension replaces the variable; its command line does not",
		},
		names:   names{other: underscore},
		expands: []string{"${env:"},
	},
	{
		Name: "continue", Title: "Continue",
		format: yamlFormat, section: mcpServers, list: true, entry: namedEntry,
		fresh: "name: Local Config\nversion: 1.0.0\nschema: v1\n",
		user:  everywhere("~/.continue/config.yaml"), project: []string{".continue/mcpServers/$NAME.yaml"},
		after: "use agent mode; Continue has no tools in other modes",
		http: http{
			entry:   `{"name":"$name","type":"streamable-http","url":"$url"}`,
			headers: []string{"requestOptions", "headers"}, variable: "${{ secrets.NAME }}",
		},
		names:   names{other: underscore},
		expands: []string{"${{"},
	},
	{
		Name: "kiro", Title: "Kiro",
		format: lenientJSON, section: mcpServers, entry: argsEntry,
		user: everywhere("~/.kiro/settings/mcp.json"), project: []string{".kiro/settings/mcp.json"},
		links: links{
			web:   "https://kiro.dev/launch/mcp/add?name=NAME&config=CONFIG",
			badge: "https://kiro.dev/images/add-to-kiro.svg",
		},
		after: "check the list of MCP servers in Kiro",
		http: http{
			entry: urlEntry, variable: "${NAME}",
			reminder: "Kiro replaces only the variables in its setting \"Mcp Approved Env Vars\"",
		},
		expands:  []string{"${"},
		mistaken: []string{"kiro-cli"},
	},
	{
		Name: "lm-studio", Title: "LM Studio",
		format: lenientJSON, section: mcpServers, entry: plainEntry,
		links: links{
			web:   "https://lmstudio.ai/install-mcp?name=NAME&config=BASE64",
			app:   "lmstudio://add_mcp?name=NAME&config=BASE64",
			badge: "https://files.lmstudio.ai/deeplink/mcp-install-light.svg",
		},
		after:    "check the list of servers in LM Studio",
		http:     http{entry: urlEntry},
		mistaken: []string{"lmstudio"},
	},
	{
		Name: "qwen", Title: "Qwen Code",
		format: commentJSON, section: mcpServers, entry: plainEntry,
		user: everywhere("~/.qwen/settings.json"), project: []string{".qwen/settings.json"},
		after:    "restart Qwen Code",
		trust:    "Qwen Code asks before it starts the servers of a project; `qwen mcp approve` approves one",
		http:     http{entry: httpURLEntry, variable: "${NAME}"},
		expands:  []string{"$"},
		mistaken: []string{"qwen-code"},
	},
	{
		Name: "droid", Title: "Factory Droid",
		format: commentJSON, section: mcpServers, entry: stdioEntry,
		user: everywhere("~/.factory/mcp.json"), project: []string{".factory/mcp.json"},
		after:     "restart Droid, or run /mcp",
		http:      http{entry: httpEntry, variable: "${NAME}"},
		expands:   []string{"${"},
		workspace: "${PWD:-.}",
		mistaken:  []string{"factory", "factory-droid"},
	},
	{
		Name: "amp", Title: "Amp",
		format: lenientJSON, section: []string{"amp.mcpServers"}, entry: plainEntry,
		user: onUnix("${XDG_CONFIG_HOME:-~/.config}/amp/settings.json"), project: []string{".amp/settings.json"},
		after:     "restart Amp",
		trust:     "Amp asks before it starts the servers of a project; `amp mcp approve` approves one",
		http:      http{entry: urlEntry, variable: "${NAME}"},
		expands:   []string{"${"},
		workspace: "${PWD}",
		mistaken:  []string{"ampcode", "sourcegraph"},
	},
	{
		Name: "auggie", Title: "Auggie",
		format: lenientJSON, section: mcpServers, entry: stdioEntry,
		user: everywhere("~/.augment/settings.json"), project: []string{".augment/settings.json"},
		after:     "restart Auggie",
		http:      http{entry: httpEntry},
		expands:   []string{"${"},
		workspace: "${PWD:-.}",
		mistaken:  []string{"augment", "augment-code"},
	},
	{
		Name: "kilo", Title: "Kilo",
		format: lenientJSON, section: []string{"mcp"}, entry: arrayEntry,
		user: onUnix("${XDG_CONFIG_HOME:-~/.config}/kilo/kilo.jsonc",
			"${XDG_CONFIG_HOME:-~/.config}/kilo/kilo.json"),
		project:  []string{".kilo/kilo.jsonc", "kilo.jsonc", "kilo.json"},
		after:    "restart Kilo",
		http:     http{entry: remoteEntry, variable: "{env:NAME}", userOnly: true},
		expands:  []string{"{env:"},
		mistaken: []string{"kilocode", "kilo-code"},
	},
	{
		Name: "crush", Title: "Crush",
		format: strictJSON, section: []string{"mcp"}, entry: stdioEntry,
		user:      onUnix("${XDG_CONFIG_HOME:-~/.config}/crush/crush.json"),
		project:   []string{".crush.json", "crush.json"},
		after:     "restart Crush",
		http:      http{entry: httpEntry, variable: "$NAME"},
		expands:   []string{"$", "`"},
		workspace: "${PWD:-.}",
	},
	{
		Name: "junie", Title: "Junie",
		format: strictJSON, section: mcpServers, entry: argsEntry,
		user: everywhere("~/.junie/mcp/mcp.json"), project: []string{".junie/mcp/mcp.json"},
		after: "check the MCP page of Junie's settings",
		http:  http{entry: urlEntry},
	},
	{
		Name: "antigravity", Title: "Antigravity",
		format: strictJSON, section: mcpServers, entry: argsEntry,
		user:     everywhere("~/.gemini/config/mcp_config.json", "~/.gemini/antigravity/mcp_config.json"),
		after:    "refresh the list of MCP servers in Antigravity",
		http:     http{entry: serverURLEntry},
		mistaken: []string{"agy"},
	},
	{
		Name: "roo", Title: "Roo Code",
		format: strictJSON, section: mcpServers, entry: argsEntry,
		user:      inSettings("Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json"),
		project:   []string{".roo/mcp.json"},
		after:     "check the list of MCP servers in Roo Code",
		http:      http{entry: `{"type":"streamable-http","url":"$url"}`, variable: "${env:NAME}"},
		expands:   []string{"${"},
		workspace: "${workspaceFolder}",
		mistaken:  []string{"roo-code", "roo-cline"},
	},
	{
		Name: "warp", Title: "Warp",
		format: strictJSON, section: mcpServers, entry: argsEntry,
		user: everywhere("~/.warp/.mcp.json"), project: []string{".warp/.mcp.json"},
		after: "check the MCP servers page of Warp's settings; a project's server is started there",
		http:  http{entry: urlEntry},
	},
	{
		Name: "amazon-q", Title: "Amazon Q CLI",
		format: strictJSON, section: mcpServers, entry: argsEntry,
		user: everywhere("~/.aws/amazonq/mcp.json"), project: []string{".amazonq/mcp.json"},
		after:     "restart Amazon Q CLI",
		http:      http{entry: httpEntry},
		expands:   []string{"$"},
		workspace: "${env:PWD}",
		mistaken:  []string{"q", "amazonq", "qchat"},
	},
	{
		Name: "jetbrains", Title: "JetBrains AI Assistant",
		format: strictJSON, section: mcpServers, entry: argsEntry,
		after: "paste the output of config --client jetbrains in Settings, Tools, AI Assistant, " +
			"Model Context Protocol (MCP), Add",
		http:     http{entry: urlEntry},
		mistaken: []string{"intellij", "idea", "ai-assistant"},
	},
	{
		Name: anyClient, Title: "the client",
		format: strictJSON, section: mcpServers, entry: argsEntry,
		after:    "restart the client",
		http:     http{entry: httpEntry},
		mistaken: []string{"mcpservers", "other", "generic"},
	},
}

var claudeCode = &Client{
	Name: "claude-code", Title: "Claude Code",
	format: strictJSON, section: mcpServers, entry: plainEntry,
	user: onUnix("${CLAUDE_CONFIG_DIR:-~}/.claude.json"), project: []string{".mcp.json"},
	after:    "restart Claude Code, or run /mcp",
	trust:    "Claude Code asks before it starts the servers of a project",
	http:     http{entry: httpEntry, variable: "${NAME}"},
	names:    names{other: "accepts such names in none of its commands", reserved: "workspace"},
	expands:  []string{"${"},
	mistaken: []string{"claude"},
}

var libreChat = &Client{
	Name: "librechat-yaml", Title: "LibreChat",
	format: yamlFormat, section: mcpServers, entry: stdioEntry,
	after:   "restart LibreChat",
	http:    http{entry: `{"type":"streamable-http","url":"$url"}`, variable: "${NAME}"},
	names:   names{other: underscore},
	expands: []string{"${", "{{"},
}

// as returns the same client with its name in the Bash edition, and with the entry that the
// Bash edition prints.
func (c Client) as(name string) *Client {
	c.Name, c.printed, c.mistaken = name, namedEntry, nil
	return &c
}

// Find returns the client with a name, or nil.
func Find(name string) *Client {
	if at := slices.IndexFunc(clients, func(c *Client) bool { return c.Name == name }); at >= 0 {
		return clients[at]
	}
	return nil
}

// Suggest returns the names of the clients that a wrong name can mean (CLI-751).
func Suggest(name string) (list []string) {
	names := Names()
	for _, c := range clients {
		names = append(names, c.mistaken...)
	}
	near := cli.Nearest(strings.ToLower(name), names)
	for _, c := range clients {
		if c.Name == near || slices.Contains(c.mistaken, near) {
			list = append(list, c.Name)
		}
	}
	return list
}

// distinct returns the clients that have a file, without other names of the same client.
func distinct() []*Client {
	return slices.DeleteFunc(slices.Clone(clients), func(c *Client) bool { return c.printed != "" || c.Name == anyClient })
}

// Names returns the names of all clients, in the order of the help text.
func Names() (list []string) {
	for _, c := range clients {
		list = append(list, c.Name)
	}
	return list
}

// path returns the path of a server's entry in a file, or of a value in the entry.
func (c *Client) path(name string, more ...string) []string {
	return slices.Concat(c.section, []string{name}, more)
}

// A Scope determines whether a client's file belongs to a user or to a project.
type Scope string

// The scopes. "" is the user's scope if the client has one.
const (
	UserScope    Scope = "user"
	ProjectScope Scope = "project"
)

// A Place determines where clients' files are.
type Place struct {
	System string // as in runtime.GOOS
	Env    project.Env
	Root   string // the project whose files belong to the project's scope
}

type target struct {
	path   string
	inside string // links must not lead out of this directory; "": all links are followed
	dry    bool   // no file is written
}

func (r Request) target() (target, error) {
	c := r.Client
	if r.File != "" {
		path, err := filepath.Abs(r.File)
		return target{path: path}, err
	}
	user := c.user.on(r.Place.System)
	if r.isProjects() {
		if c.project == nil {
			return target{}, cli.Failf(cli.CodeNotFound, "%s has no file for a project; leave out --scope project", c.Title)
		}
		var paths []string
		for _, name := range c.project {
			name = strings.ReplaceAll(name, "$NAME", project.FileName(r.Server.Name))
			paths = append(paths, filepath.Join(r.Place.Root, filepath.FromSlash(name)))
		}
		return target{path: present(paths), inside: r.Place.Root}, nil
	}
	if user == nil {
		return target{}, cli.Failf(cli.CodeNotFound, "the path of %s's file on this system is unknown; "+
			"name the file with --file", c.Title)
	}
	var paths []string
	for _, pattern := range user {
		path, err := r.Place.expand(pattern)
		if err != nil {
			return target{}, err
		}
		paths = append(paths, path)
	}
	return target{path: present(paths)}, nil
}

// present returns the first path that exists, or else the first path.
func present(paths []string) string {
	for _, path := range paths {
		if _, err := os.Lstat(path); err == nil {
			return path
		}
	}
	return paths[0]
}

// variable matches a variable at the beginning of a path in the table of clients.
var variable = lazyregexp.New(`^\$\{(\w+)(?::-([^}]*))?\}`)

// expand replaces the variable or ~ at the beginning of a path.
func (p Place) expand(path string) (string, error) {
	if m := variable.FindStringSubmatch(path); m != nil {
		value := p.Env[m[1]]
		if !filepath.IsAbs(value) { // as required by the XDG specification
			value = m[2]
		}
		if value == "" {
			return "", cli.Failf(cli.CodeNotFound, "%s is not set, so the client's file cannot be found; "+
				"name it with --file", m[1])
		}
		path = value + path[len(m[0]):]
	}
	if rest, ok := strings.CutPrefix(path, "~"); ok {
		home := "HOME"
		if p.System == "windows" {
			home = "USERPROFILE"
		}
		if !filepath.IsAbs(p.Env[home]) {
			return "", cli.Failf(cli.CodeNotFound, "%s is not set, so the client's file cannot be found; "+
				"name it with --file", home)
		}
		path = p.Env[home] + rest
	}
	return filepath.FromSlash(path), nil
}

// isProjects reports whether the file is the project's, and not the user's.
func (r Request) isProjects() bool {
	return r.File == "" && (r.Scope == ProjectScope ||
		r.Scope == "" && r.Client.user.on(r.Place.System) == nil && r.Client.project != nil)
}

// Reminders returns the steps of the user before the client uses the changed file.
func (r Request) Reminders() (list []string) {
	c := r.Client
	if r.Remove {
		if c.after != "" {
			list = append(list, fmt.Sprintf("to finish, %s", c.after))
		}
		return list
	}
	if remote := r.Server.Remote; remote != nil && remote.TokenEnv != "" {
		list = append(list, fmt.Sprintf("%s reads the token from the environment variable %s", c.Title, remote.TokenEnv))
		if c.http.reminder != "" {
			list = append(list, c.http.reminder)
		}
	}
	if r.isProjects() {
		if r.Server.Remote == nil {
			list = append(list, "everybody who uses this file needs "+r.Server.program()+" on PATH")
		}
		if c.trust != "" {
			list = append(list, c.trust)
		}
	}
	if c.after != "" {
		list = append(list, fmt.Sprintf("to use it, %s", c.after))
	}
	return list
}
