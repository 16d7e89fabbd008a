// Package plugins makes the files that mark a folder as a plugin for agents (contract plugins). It also makes the lists
// of a repository's plugins. It reads no file and writes none.
package plugins

import (
	"cmp"
	"embed"
	"encoding/json"
	"io/fs"
	"strings"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/stage"
	"mcp-bash/pkg/bundle/userenv"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/text/lazyregexp"
)

// A Plugin describes a plugin. Empty texts are left out of its manifests.
type Plugin struct {
	stage.Identity                   // Name is the plugin's
	User           stage.UserConfig  // values that the user fills in, and the variables by which the server gets them
	Icon           string            // the path of a PNG picture
	Skills         bool              // the plugin has a folder "skills"
	Tools          []json.RawMessage // with names and descriptions
	Static         bool              // the plugin contains its registry
	Windows        bool              // the plugin contains a program for Windows
}

// maxName is the maximum length of a name, in bytes.
const maxName = 64

var otherInName = lazyregexp.New(`[^a-z0-9]+`)

// Name returns the plugin name for the name of a bundle, or "" if agents cannot accept one.
func Name(text string) string {
	name := strings.Trim(otherInName.ReplaceAllString(strings.ToLower(text), "-"), "-")
	if len(name) > maxName {
		return ""
	}
	return name
}

const starter = "start-server"

var (
	//go:embed launch/start-server.sh
	unixStarter string
	//go:embed launch/start-server.cmd
	windowsStarter string
)

// Files returns the manifests and the programs that start the server.
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
	text := ""
	if p.Static {
		text = "MCPBASH_STATIC_REGISTRY=1\nexport MCPBASH_STATIC_REGISTRY\n"
	}
	if len(p.User.Env) > 0 {
		text += "\n# An agent leaves the placeholder of a value that is not set.\n"
	}
	for _, f := range p.User.Env {
		text += "case ${" + f.Variable + "-} in '${'*) unset " + f.Variable + " ;; esac\n"
	}
	return strings.Replace(unixStarter, "@settings@\n", text, 1)
}

func (p *Plugin) windowsStarter() string {
	text := ""
	if p.Static {
		text = `set "MCPBASH_STATIC_REGISTRY=1"` + "\n"
	}
	for _, f := range p.User.Env {
		text += `if "%` + f.Variable + `:~0,2%"=="${" set "` + f.Variable + `="` + "\n"
	}
	return strings.ReplaceAll(strings.Replace(windowsStarter, "@settings@\n", text, 1), "\n", "\r\n")
}

// minReadme is the number of words that a README needs for the plugin directory of Claude Code.
const minReadme = 40

// isShort reports whether a README has too few words for a directory of plugins.
func isShort(readme []byte) bool { return len(strings.Fields(string(readme))) < minReadme }

// Readme returns a README for a plugin whose project lacks one.
func (p *Plugin) Readme() string {
	var b strings.Builder
	line := func(texts ...string) { b.WriteString(strings.Join(texts, "") + "\n") }
	line("# ", stage.OneLine(cmp.Or(p.Title, p.Name)))
	line("\n", stage.OneLine(p.Description), "\n")
	line("This folder is a plugin for coding agents: Claude Code, Codex, Gemini CLI, Copilot CLI, Cursor and others.")
	line("It contains an MCP server, its programs and everything else that it needs, except Bash.")
	if len(p.Tools) > 0 {
		line("\n## Tools\n")
	}
	for _, t := range p.Tools {
		description := cmp.Or(rawjson.TextOf(t, "description"), "no description")
		line("- `", rawjson.TextOf(t, "name"), "`: ", stage.OneLine(description))
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

// templates are the agents' manifests. A placeholder such as @name@ is replaced by a value of [Plugin.values]. Members
// with empty values are omitted. The member @variable@ becomes one member for each field.
//
//go:embed all:manifests
var templates embed.FS

// values are the values of placeholders. A text that consists of one placeholder can become any JSON value.
type values struct {
	texts     map[string]string
	lists     map[string]json.RawMessage // nil: empty
	variables []userenv.Mapping
}

func (p *Plugin) values() *values {
	v := &values{variables: p.User.Env, texts: map[string]string{
		"name": p.Name, "title": p.Title, "shownName": cmp.Or(p.Title, p.Name), "version": p.Version,
		"description": p.Description, "author": p.Author, "email": p.Email, "url": p.URL,
		"homepage": p.Homepage, "repository": p.Repository, "license": p.License, "icon": p.Icon, "skills": "",
	}, lists: map[string]json.RawMessage{"keywords": nil, "userConfig": nil, "settings": nil}}
	if p.Skills {
		v.texts["skills"] = "./skills/"
	}
	if len(p.Keywords) > 0 {
		v.lists["keywords"] = new(rawjson.Builder).Strings(p.Keywords).Bytes()
	}
	passed := []string{roots.Variable} // for Codex, which passes on few variables
	var config, settings rawjson.Builder
	config.Object()
	settings.Array()
	seen := map[string]bool{}
	for _, f := range p.User.Env {
		field := rawjson.Get(p.User.Fields, f.Key)
		if f.Variable != roots.Variable {
			passed = append(passed, f.Variable)
		}
		if !seen[f.Key] {
			config.Name(f.Key).Raw(field)
		}
		seen[f.Key] = true
		title := rawjson.TextOf(field, "title")
		settings.Object().Name("name").String(cmp.Or(title, f.Key)).
			Name("description").String(cmp.Or(rawjson.TextOf(field, "description"), title, f.Key)).
			Name("envVar").String(f.Variable).Name("sensitive").Bool(rawjson.True(rawjson.Get(field, "sensitive"))).End()
	}
	if len(p.User.Env) > 0 {
		v.lists["userConfig"], v.lists["settings"] = config.End().Bytes(), settings.End().Bytes()
	}
	v.lists["passed"] = new(rawjson.Builder).Strings(passed).Bytes()
	return v
}

// manifests returns the manifests for all agents.
func (p *Plugin) manifests() (list []mcpb.File) {
	v := p.values()
	fs.WalkDir(templates, "manifests", func(name string, d fs.DirEntry, _ error) error {
		if !d.IsDir() {
			text, _ := templates.ReadFile(name)
			list = append(list, document(strings.TrimPrefix(name, "manifests/"), v.fill(text)))
		}
		return nil
	})
	return list
}

// fill returns a part of a template with its values, or nil if it is empty.
func (v *values) fill(part json.RawMessage) json.RawMessage {
	switch rawjson.KindOf(part) {
	case rawjson.Object:
		var b rawjson.Builder
		b.Object()
		for _, m := range rawjson.Members(part) {
			if text, _ := rawjson.Text(m.Value); m.Name == "@variable@" {
				for _, f := range v.variables {
					b.Name(f.Variable).String(strings.NewReplacer("@variable@", f.Variable, "@key@", f.Key).Replace(text))
				}
			} else if value := v.fill(m.Value); value != nil {
				b.Name(v.replace(m.Name)).Raw(value)
			}
		}
		if text := b.End().Bytes(); string(text) != "{}" {
			return text
		}
		return nil
	case rawjson.String:
		text, _ := rawjson.Text(part)
		if value, isList := v.lists[strings.Trim(text, "@")]; isList {
			return value
		}
		for name, value := range v.texts {
			if value == "" && strings.Contains(text, "@"+name+"@") {
				return nil
			}
		}
		return rawjson.Quote(v.replace(text))
	}
	return part
}

func (v *values) replace(text string) string {
	var pairs []string
	for name, value := range v.texts {
		pairs = append(pairs, "@"+name+"@", value)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// A Marketplace is a list of plugins in a repository.
type Marketplace struct {
	Name, Title, Description string
	Owner, Email             string // a person or an organisation
	Entries                  []Entry
}

// An Entry is a plugin of the list.
type Entry struct {
	Path     string          // the folder, relative to the repository, with slashes
	Category string          // "" for the usual one
	Manifest json.RawMessage // the plugin's plugin.json
}

// Name returns the name of the plugin.
func (e *Entry) Name() string { return rawjson.TextOf(e.Manifest, "name") }

// usualCategory is the category of entries without one, because Codex requires a category.
const usualCategory = "Productivity"

// Files returns the files that list the plugins for agents.
func (l *Marketplace) Files() []mcpb.File {
	claude := l.list("./", "description", "version", "author", "homepage", "repository", "license", "keywords", "category")
	return []mcpb.File{
		document(".claude-plugin/marketplace.json", claude),
		document(".agents/plugins/marketplace.json", l.agents()),
		document(".cursor-plugin/marketplace.json", l.list("", "description")),
	}
}

// list returns the list in the form of Claude Code. prefix begins the paths of plugins. members are the names of the
// members of entries.
func (l *Marketplace) list(prefix string, members ...string) []byte {
	var b rawjson.Builder
	b.Object().Name("name").String(l.Name)
	if l.Owner != "" {
		b.Name("owner").Object().Name("name").String(l.Owner).Optional("email", l.Email).End()
	}
	if l.Description != "" {
		b.Name("metadata").Object().Name("description").String(l.Description).End()
	}
	b.Name("plugins").Array()
	for _, e := range l.Entries {
		b.Object().Name("name").String(e.Name()).Name("source").String(prefix + e.Path)
		for _, name := range members {
			if name == "category" {
				b.Name(name).String(cmp.Or(e.Category, usualCategory))
			} else {
				b.OptionalRaw(name, rawjson.Get(e.Manifest, name))
			}
		}
		b.End()
	}
	return b.End().End().Bytes()
}

func (l *Marketplace) agents() []byte {
	var b rawjson.Builder
	b.Object().Name("name").String(l.Name).
		Name("interface").Object().Name("displayName").String(cmp.Or(l.Title, l.Name)).End().
		Name("plugins").Array()
	for _, e := range l.Entries {
		b.Object().Name("name").String(e.Name()).
			Name("source").Object().Name("source").String("local").Name("path").String("./" + e.Path).End().
			Name("policy").Object().Name("installation").String("AVAILABLE").Name("authentication").String("ON_INSTALL").End().
			Name("category").String(cmp.Or(e.Category, usualCategory)).End()
	}
	return b.End().End().Bytes()
}
