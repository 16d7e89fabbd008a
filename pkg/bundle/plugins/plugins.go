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
	list := append(p.manifests(), mcpb.Bytes(starter, true, []byte(p.unixStarter())))
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

// minReadme is the number of words that a README needs for the plugin directory of Claude Code.
const minReadme = 40

// isShort reports whether a README has too few words for a directory of plugins (PL-23).
func isShort(readme []byte) bool { return len(strings.Fields(string(readme))) < minReadme }

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
