package plugins

import (
	"cmp"
	"encoding/json"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/json/rawjson"
)

// A Marketplace is a list of plugins in a repository.
type Marketplace struct {
	Name, Title, Description string
	Owner                    Author
	Entries                  []Entry
}

// An Entry is a plugin of the list.
type Entry struct {
	Path     string          // the folder, relative to the repository, with slashes
	Category string          // "" for the usual one
	Manifest json.RawMessage // its plugin.json
}

// Name returns the name of the plugin.
func (e *Entry) Name() string { return rawjson.TextOf(e.Manifest, "name") }

// usualCategory is the category of entries without one, because Codex wants one.
const usualCategory = "Productivity"

// Files returns the files by which agents find the plugins (PL-41).
func (l *Marketplace) Files() []mcpb.File {
	return []mcpb.File{
		document(".claude-plugin/marketplace.json", l.claude()),
		document(".agents/plugins/marketplace.json", l.agents()),
		document(".cursor-plugin/marketplace.json", l.cursor()),
	}
}

// begin opens a list, with the members that come before its plugins.
func (l *Marketplace) begin() *rawjson.Builder {
	var b rawjson.Builder
	b.Object().Name("name").String(l.Name)
	if l.Owner.Name != "" {
		b.Name("owner").Object().Name("name").String(l.Owner.Name).Optional("email", l.Owner.Email).End()
	}
	if l.Description != "" {
		b.Name("metadata").Object().Name("description").String(l.Description).End()
	}
	return b.Name("plugins").Array()
}

func (l *Marketplace) claude() []byte {
	b := l.begin()
	for _, e := range l.Entries {
		b.Object().Name("name").String(e.Name()).Name("source").String("./" + e.Path)
		for _, name := range []string{"description", "version", "author", "homepage", "repository", "license", "keywords"} {
			b.OptionalRaw(name, rawjson.Get(e.Manifest, name))
		}
		b.Name("category").String(cmp.Or(e.Category, usualCategory)).End()
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

func (l *Marketplace) cursor() []byte {
	b := l.begin()
	for _, e := range l.Entries {
		b.Object().Name("name").String(e.Name()).Name("source").String(e.Path)
		b.Optional("description", rawjson.TextOf(e.Manifest, "description"))
		b.End()
	}
	return b.End().End().Bytes()
}
