// Package offer describes a server to its clients.
package offer

import (
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/wire/mcp"
)

// Capabilities determine the server's capabilities in one revision of the protocol.
type Capabilities struct {
	Has     func(method string) bool // whether the server has a method
	Changes bool                     // clients are notified of changed lists
	UI      bool                     // the client shows pages
	Tasks   bool                     // calls can become tasks
}

// Append appends a ServerCapabilities object: each family of methods that the server has.
func (c Capabilities) Append(b *rawjson.Builder) {
	b.Object().Name("logging").Object().End()
	for _, family := range []struct {
		name, method string
		lists        bool
	}{
		{"tools", "tools/list", true},
		{"resources", "resources/list", true},
		{"prompts", "prompts/list", true},
		{"completions", "completion/complete", false},
	} {
		if !c.Has(family.method) || !family.lists && !c.Changes {
			continue
		}
		b.Name(family.name).Object()
		if family.name == "resources" {
			b.Name("subscribe").Bool(true)
		}
		if family.lists && c.Changes {
			b.Name("listChanged").Bool(true)
		}
		b.End()
	}
	if skills := c.Has("skills/list"); c.UI || skills || c.Tasks {
		b.Name("extensions").Object()
		if c.UI {
			b.Name(mcp.UIExtension).Object().Name("mimeTypes").Strings([]string{mcp.UIMimeType}).End()
		}
		if skills { // SK-20
			b.Name(mcp.SkillsExtension).Object().Name("directoryRead").Bool(true).End()
		}
		if c.Tasks {
			b.Name(mcp.TasksExtension).Object().End()
		}
		b.End()
	}
	b.End()
}

// AppendServer appends an Implementation object with the content of server.meta.json.
func AppendServer(b *rawjson.Builder, m *project.Meta) {
	appendNames(b, m)
	b.Optional("description", m.Description)
	b.Optional("websiteUrl", m.WebsiteURL)
	b.OptionalRaw("icons", m.Icons)
	b.End()
}

// ServerName returns an Implementation object with the names and the version only.
func ServerName(m *project.Meta) []byte {
	var b rawjson.Builder
	appendNames(&b, m)
	return b.End().Bytes()
}

func appendNames(b *rawjson.Builder, m *project.Meta) {
	b.Object().Name("name").String(m.Name).Name("version").String(m.Version).Name("title").String(m.Title)
}
