// Package plugins makes the files by which agents recognize a folder as a plugin (contract plugins). It also makes the
// files by which they find plugins in a repository. It reads no file and writes none.
package plugins

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"strings"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/text/lazyregexp"
)

// A Plugin describes a plugin. Empty texts are left out of its manifests.
type Plugin struct {
	Name, Title, Version, Description string
	Author                            Author
	Homepage, Repository, License     string
	Keywords                          []string
	Icon                              string // the path of a PNG picture
	Skills                            bool   // it has a folder "skills"
	Fields                            []Field
	Tools                             []Tool
	Static                            bool // it contains its registry
	Windows                           bool // it contains a program for Windows
}

// An Author is a person or an organisation.
type Author struct{ Name, Email, URL string }

// A Field is a value that the user fills in, and the variable by which the server gets it.
type Field struct {
	Key, Variable string
	Value         json.RawMessage // as in user_config of a bundle
}

// A Tool is a tool in the README.
type Tool struct{ Name, Description string }

// Addresses of the schemas of Agent Plugins 1.0.0, which agents compare (PL-3).
const (
	manifestSchema = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"
	serversSchema  = "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json"
)

// maxName is the maximum length of a name, in bytes.
const maxName = 64

var otherInName = lazyregexp.New(`[^a-z0-9]+`)

// Name returns the name of a plugin for the name of a bundle, or "" if no agent accepts one (PL-21).
func Name(text string) string {
	name := strings.Trim(otherInName.ReplaceAllString(strings.ToLower(text), "-"), "-")
	if len(name) > maxName {
		return ""
	}
	return name
}

// starter is the program that starts the server.
const starter = "start-server"

var (
	//go:embed launch/start-server.sh
	unixStarter string
	//go:embed launch/start-server.cmd
	windowsStarter string
)

// Files returns the manifests and the programs that start the server (PL-20).
func (p *Plugin) Files() []mcpb.File {
	list := []mcpb.File{
		document("plugin.json", p.agentPlugin()),
		document("mcp.json", p.agentServers()),
		document(".claude-plugin/plugin.json", p.claude()),
		document("gemini-extension.json", p.gemini()),
		document(".codex-plugin/plugin.json", p.codex()),
		document(".codex-plugin/mcp.json", p.codexServers()),
		document(".cursor-plugin/plugin.json", p.cursor()),
		document(".cursor-plugin/mcp.json", p.cursorServers()),
		mcpb.Bytes(starter, true, []byte(p.unixStarter())),
	}
	if p.Windows {
		list = append(list, mcpb.Bytes(starter+".cmd", true, []byte(p.windowsStarter())))
	}
	return list
}

func document(name string, content []byte) mcpb.File {
	return mcpb.Bytes(name, false, append(rawjson.AppendIndent(nil, content, 0), '\n'))
}

func (p *Plugin) unixStarter() string {
	var lines []string
	if p.Static {
		lines = append(lines, "MCPBASH_STATIC_REGISTRY=1", "export MCPBASH_STATIC_REGISTRY")
	}
	if len(p.Fields) > 0 {
		lines = append(lines, "", "# An agent leaves the placeholder of a value that is not set.")
	}
	for _, f := range p.Fields {
		lines = append(lines, "case ${"+f.Variable+"-} in '${'*) unset "+f.Variable+" ;; esac")
	}
	return settings(unixStarter, lines, "\n")
}

func (p *Plugin) windowsStarter() string {
	var lines []string
	if p.Static {
		lines = append(lines, `set "MCPBASH_STATIC_REGISTRY=1"`)
	}
	for _, f := range p.Fields {
		lines = append(lines, `if "%`+f.Variable+`:~0,2%"=="${" set "`+f.Variable+`="`)
	}
	return strings.ReplaceAll(settings(windowsStarter, lines, "\n"), "\n", "\r\n")
}

func settings(script string, lines []string, end string) string {
	text := strings.Join(lines, end)
	if text != "" {
		text += end
	}
	return strings.Replace(script, "@settings@"+end, text, 1)
}

// A manifest is an object under construction. It leaves out empty values.
type manifest struct{ rawjson.Builder }

func (m *manifest) text(name, value string) {
	if value != "" {
		m.Name(name).String(value)
	}
}

func (m *manifest) list(name string, values []string) {
	if len(values) > 0 {
		m.Name(name).Strings(values)
	}
}

func (m *manifest) author(name string, a Author, withURL bool) {
	if a.Name == "" {
		return
	}
	m.Name(name).Object().Name("name").String(a.Name)
	m.text("email", a.Email)
	if withURL {
		m.text("url", a.URL)
	}
	m.End()
}

// about appends the members that all manifests have.
func (m *manifest) about(p *Plugin) {
	m.Name("version").String(p.Version)
	m.text("description", p.Description)
}

func (m *manifest) origin(p *Plugin) {
	m.text("homepage", p.Homepage)
	m.text("repository", p.Repository)
	m.text("license", p.License)
	m.list("keywords", p.Keywords)
}

func (p *Plugin) agentPlugin() []byte {
	var m manifest
	m.Object().Name("$schema").String(manifestSchema).Name("name").String(p.Name)
	m.about(p)
	m.author("author", p.Author, true)
	m.origin(p)
	return m.End().Bytes()
}

// agentServers names the user's folder by a variable that Copilot CLI replaces. Other agents leave it, and the server
// ignores it.
func (p *Plugin) agentServers() []byte {
	var m manifest
	m.Object().Name("$schema").String(serversSchema).Name("mcpServers").Object().Name(p.Name).Object().
		Name("type").String("stdio").Name("command").String("./" + starter).Name("args").Strings([]string{}).
		Name("env").Object().Name(roots.WorkspaceVariable).String("${PWD}").End().End().End()
	return m.End().Bytes()
}

// A reference is how an agent's files refer to the value of a field.
type reference func(Field) string

// server appends an entry for agents that replace variables in commands.
func (m *manifest) server(p *Plugin, command, workspace string, value reference) {
	m.Name("mcpServers").Object().Name(p.Name).Object().
		Name("command").String(command).Name("args").Strings([]string{}).Name("env").Object().
		Name(roots.WorkspaceVariable).String(workspace)
	for _, f := range p.Fields {
		m.Name(f.Variable).String(value(f))
	}
	m.End().End().End()
}

func (p *Plugin) claude() []byte {
	var m manifest
	m.Object().Name("name").String(p.Name)
	m.text("displayName", p.Title)
	m.about(p)
	m.author("author", p.Author, true)
	m.origin(p)
	if p.Icon != "" {
		m.Name("icon").String("./" + p.Icon)
	}
	if len(p.Fields) > 0 {
		m.Name("userConfig").Object()
		seen := map[string]bool{}
		for _, f := range p.Fields {
			if !seen[f.Key] {
				m.Name(f.Key).Raw(f.Value)
			}
			seen[f.Key] = true
		}
		m.End()
	}
	m.server(p, "${CLAUDE_PLUGIN_ROOT}/"+starter, "${CLAUDE_PROJECT_DIR}",
		func(f Field) string { return "${user_config." + f.Key + "}" })
	return m.End().Bytes()
}

func (p *Plugin) gemini() []byte {
	var m manifest
	m.Object().Name("name").String(p.Name)
	m.about(p)
	if len(p.Fields) > 0 {
		m.Name("settings").Array()
		for _, f := range p.Fields {
			title := rawjson.TextOf(f.Value, "title")
			m.Object().Name("name").String(cmp.Or(title, f.Key)).
				Name("description").String(cmp.Or(rawjson.TextOf(f.Value, "description"), title, f.Key)).
				Name("envVar").String(f.Variable).Name("sensitive").Bool(rawjson.True(rawjson.Get(f.Value, "sensitive"))).End()
		}
		m.End()
	}
	m.server(p, "${extensionPath}${/}"+starter, "${workspacePath}",
		func(f Field) string { return "${" + f.Variable + "}" })
	return m.End().Bytes()
}

func (p *Plugin) codex() []byte {
	var m manifest
	m.Object().Name("name").String(p.Name)
	m.about(p)
	m.author("author", p.Author, true)
	m.origin(p)
	if p.Skills {
		m.Name("skills").String("./skills/")
	}
	m.Name("mcpServers").String("./.codex-plugin/mcp.json").
		Name("interface").Object().Name("displayName").String(cmp.Or(p.Title, p.Name))
	m.text("shortDescription", p.Description)
	m.text("developerName", p.Author.Name)
	m.text("websiteURL", p.Homepage)
	if p.Icon != "" {
		m.Name("logo").String("./" + p.Icon)
	}
	m.End()
	return m.End().Bytes()
}

// codexServers names the variables that Codex passes on to the server of mcp.json. It passes few on by itself.
func (p *Plugin) codexServers() []byte {
	variables := []string{roots.Variable}
	for _, f := range p.Fields {
		if f.Variable != roots.Variable {
			variables = append(variables, f.Variable)
		}
	}
	var m manifest
	m.Object().Name("mcpServers").Object().Name(p.Name).Object().Name("command").String("./" + starter).
		Name("cwd").String(".").Name("env_vars").Strings(variables).End().End()
	return m.End().Bytes()
}

func (p *Plugin) cursor() []byte {
	var m manifest
	m.Object().Name("name").String(p.Name)
	m.text("displayName", p.Title)
	m.about(p)
	m.author("author", p.Author, false)
	m.origin(p)
	if p.Icon != "" {
		m.Name("logo").String(p.Icon)
	}
	if p.Skills {
		m.Name("skills").String("./skills/")
	}
	m.Name("mcpServers").String("./.cursor-plugin/mcp.json")
	return m.End().Bytes()
}

func (p *Plugin) cursorServers() []byte {
	var m manifest
	m.Object()
	m.server(p, "${CURSOR_PLUGIN_ROOT}/"+starter, "${workspaceFolder}",
		func(f Field) string { return "${env:" + f.Variable + "}" })
	return m.End().Bytes()
}

// minReadme is the number of words that a README needs for the plugin directory of Claude Code.
const minReadme = 40

// IsShort reports whether a README has too few words for a directory of plugins (PL-23).
func IsShort(readme []byte) bool { return len(strings.Fields(string(readme))) < minReadme }

// Readme returns a README for a plugin whose project lacks one (PL-23).
func (p *Plugin) Readme() string {
	var b strings.Builder
	line := func(texts ...string) { b.WriteString(strings.Join(texts, "") + "\n") }
	line("# ", oneLine(cmp.Or(p.Title, p.Name)))
	line("\n", oneLine(p.Description), "\n")
	line("This folder is a plugin for coding agents: Claude Code, Codex, Gemini CLI, Copilot CLI, Cursor and others.")
	line("It contains an MCP server, its programs and everything else that it needs, except Bash.")
	if len(p.Tools) > 0 {
		line("\n## Tools\n")
	}
	for _, t := range p.Tools {
		line("- `", t.Name, "`: ", oneLine(cmp.Or(t.Description, "no description")))
	}
	line("\n## Install\n")
	line("Claude Code: `/plugin install ", p.Name, " --marketplace <owner>/<repo>`, with the repository that lists this",
		" plugin.")
	line("Gemini CLI: `gemini extensions install PATH`, with the path of this folder.")
	line("Codex and Copilot CLI: add the repository with `codex plugin marketplace add` or",
		" `copilot plugin marketplace add`,")
	line("then install `", p.Name, "` with `codex plugin add` or `copilot plugin install`.")
	return b.String()
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
