package validate

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/check/validate/internal/bash32"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/registry/declare"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/run/scriptenv"
	"mcp-bash/schemas"
)

// hasNoEffect reports whether a variable is only one of the Bash edition.
func hasNoEffect(name string) bool {
	unused, state := settings.Ignored()
	return scriptenv.Matches(unused, name) || scriptenv.Matches(state, name)
}

// ignored reports settings and files that only the Bash edition knows (CLI-1023).
func (c *check) ignored() {
	conf := abs(c.p.Root, "mcpb.conf")
	files := []string{conf, abs(c.p.Server, "env.sh")}
	launchers, _ := filepath.Glob(filepath.Join(globEscape(c.p.Root), "*.sh"))
	for _, file := range append(files, launchers...) {
		text, _, err := folder.ReadFile(file, maxScript)
		s, ok := bash32.Read(text)
		if err != nil || !ok {
			continue
		}
		for _, set := range s.Settings {
			name := set.Name.Name
			unknown := file == conf && strings.HasPrefix(name, "MCPB_") && !settings.Find(name).IsConf()
			if hasNoEffect(name) || unknown {
				c.add(finding.Finding{ID: "ignored.setting", Path: c.label(file), Line: set.Line, Message: name + " has no effect"})
			}
		}
	}
	for _, file := range []string{".mcp.json", ".vscode/mcp.json", ".cursor/mcp.json"} {
		c.clientSettings(abs(c.p.Root, file))
	}
	c.strayFiles()
}

// clientSettings reports variables without effect in a client's file of the project.
func (c *check) clientSettings(file string) {
	doc, ok := c.document(file)
	if !ok {
		return // the client reports it
	}
	for _, list := range []string{"mcpServers", "servers"} {
		for _, server := range rawjson.Members(rawjson.Get(doc, list)) {
			for _, variable := range rawjson.Members(rawjson.Get(server.Value, "env")) {
				if variable.Name == allowlist {
					value, _ := rawjson.Text(variable.Value)
					c.allowed(settings.Words(value), c.label(file))
				}
				if hasNoEffect(variable.Name) {
					c.add(c.near(variable.Value, finding.Finding{ID: "ignored.setting", Path: c.label(file),
						Message: variable.Name + " has no effect"}))
				}
			}
		}
	}
}

// serverNames are the files of the server directory that our programs read.
var serverNames = []string{
	"server.meta.json", "register.json", "register.sh", "policy.sh", "env.sh", "health-checks.sh", "requirements.json",
}

// strayFiles reports scripts and JSON files of the server directory that nothing reads: neither our programs nor a
// script next to it.
func (c *check) strayFiles() {
	entries, err := os.ReadDir(c.p.Server)
	if err != nil {
		return
	}
	var named strings.Builder // the words of all scripts there
	for _, e := range entries {
		if text, _, err := folder.ReadFile(filepath.Join(c.p.Server, e.Name()), maxScript); err == nil {
			if s, ok := bash32.Read(text); ok {
				for _, command := range s.Commands {
					for _, word := range command.Words {
						named.WriteString("/" + path.Base(word) + "/")
					}
				}
			}
		}
	}
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		if !e.Type().IsRegular() || ext != ".sh" && ext != ".json" || slices.Contains(serverNames, e.Name()) ||
			strings.Contains(named.String(), "/"+e.Name()+"/") {
			continue
		}
		message := "is not read by any program"
		if near := cli.Nearest(e.Name(), serverNames); near != "" {
			message += "; did you mean " + near + "?"
		}
		c.at("ignored.file", c.label(filepath.Join(c.p.Server, e.Name())), message)
	}
}

func effectiveFields(k *kinds.Kind) []string {
	switch k {
	case kinds.Tools:
		return kinds.ToolFields
	case kinds.Prompts:
		return kinds.PromptFields
	case kinds.Completions:
		return schemas.Fields(schemas.Completion)
	}
	isNotUsed := func(field string) bool { return field == "arguments" }
	return slices.DeleteFunc(slices.Clone(kinds.ResourceFields), isNotUsed)
}

func schemaOf(k *kinds.Kind, doc json.RawMessage) string {
	switch {
	case k == kinds.Tools:
		return schemas.Tool
	case k == kinds.Prompts:
		return schemas.Prompt
	case k == kinds.Completions:
		return schemas.Completion
	case rawjson.TextOf(doc, kinds.URITemplate) != "":
		return schemas.Template
	}
	return schemas.Resource
}

func (c *check) declaredFields() {
	file := abs(c.p.Server, declare.JSONFile)
	doc, ok := c.document(file)
	if !ok {
		return // the registry reports it
	}
	for _, k := range kinds.All {
		for entry := range rawjson.Elements(rawjson.Get(doc, k.Key)) {
			c.fields(entry, c.label(file), effectiveFields(k))
			c.types(entry, c.label(file), schemaOf(k, entry))
		}
	}
}

// headerFields checks the fields of the inline headers of a kind.
func (c *check) headerFields(k *kinds.Kind) {
	for _, o := range c.offered.items[k] {
		if o.path == "" {
			continue
		}
		file := abs(k.ContentDir(c.p), o.path)
		text, err := boundedfile.ReadHead(file, item.MaxHead)
		if err != nil || isLink(file) {
			continue // the registry reports it
		}
		head, _ := item.Head(text)
		if header, err := item.ParseHeader(head); err == nil && header != nil {
			c.text = head
			c.fields(header, c.label(file), effectiveFields(k))
			c.types(header, c.label(file), schemaOf(k, header))
		}
	}
}

func (c *check) pageFields() {
	for _, o := range c.offered.items[kinds.UIResources] {
		file := abs(abs(c.p.Root, o.path), kinds.PageMetadata)
		doc, ok := c.document(file)
		if !ok {
			continue // the registry reports it
		}
		c.placeholder(doc, c.label(file))
		c.topFields(doc, c.label(file), schemas.UI)
		c.types(doc, c.label(file), schemas.UI)
	}
}

// ownFields reports the unknown members of a file that no other program reads.
func (c *check) ownFields(file, schema string) {
	if doc, ok := c.document(file); ok { // else the reader of the file reports it
		c.topFields(doc, c.label(file), schema)
		c.innerFields(doc, c.label(file), schema)
	}
}

// document reads a small file with JSON. Later findings have places in its text.
func (c *check) document(file string) (doc json.RawMessage, ok bool) {
	text, _, err := folder.ReadFile(file, maxSmall)
	if err != nil {
		return nil, false
	}
	doc, err = rawjson.Check(text)
	c.text = text
	return doc, err == nil
}

// topFields reports the unknown members of a document itself, and innerFields those of objects in it.
func (c *check) topFields(doc json.RawMessage, label, schema string) {
	c.strays(doc, label, schema, false)
}

func (c *check) innerFields(doc json.RawMessage, label, schema string) {
	c.strays(doc, label, schema, true)
}

func (c *check) strays(doc json.RawMessage, label, schema string, inner bool) {
	for _, s := range schemas.Strays(schema, doc) {
		if inner == (s.Depth > 0) && !(inner && c.reportedAt(c.near(s.In, finding.Finding{Path: label}))) {
			c.noEffect(s.Member, label, cli.DidYouMean(s.Name, s.Known))
		}
	}
}

// fields reports unknown members of metadata. The registry reports members that resemble known ones.
func (c *check) fields(doc json.RawMessage, label string, known []string) {
	for _, m := range unknownFields(doc, known) {
		if item.NearestKey(m.Name, known) == "" {
			c.noEffect(m, label, "")
		}
	}
}

// unknownFields returns the fields of metadata that are not known and not another program's by their first character.
func unknownFields(doc json.RawMessage, known []string) []rawjson.Member {
	return slices.DeleteFunc(slices.Clone(rawjson.Members(doc)), func(m rawjson.Member) bool {
		return slices.Contains(known, m.Name) || strings.HasPrefix(m.Name, "$") || strings.HasPrefix(m.Name, "_")
	})
}

func (c *check) noEffect(m rawjson.Member, label, hint string) {
	message := fmt.Sprintf("%q has no effect%s", m.Name, hint)
	c.add(c.near(m.Value, finding.Finding{ID: "ignored.field", Path: label, Message: message}))
}
