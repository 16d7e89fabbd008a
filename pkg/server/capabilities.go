package server

import (
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/mcp"
)

// An offer is what a server of some revision has, as its capabilities say.
type offer struct {
	methods map[string]*method
	changes bool // lists that have changed are told of
	ui      bool // pages, for a client that shows them
}

// append appends what will be served: each family of methods that exists
// (P-801 to P-807, M-21).
func (o offer) append(b *rawjson.Builder) {
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
		if o.methods[family.method] == nil || !family.lists && !o.changes {
			continue
		}
		b.Name(family.name).Object()
		if family.name == "resources" {
			b.Name("subscribe").Bool(true)
		}
		if family.lists && o.changes {
			b.Name("listChanged").Bool(true)
		}
		b.End()
	}
	if o.ui {
		b.Name("extensions").Object().Name(mcp.UIExtension).Object().Name("mimeTypes").
			Strings([]string{mcp.UIMimeType}).End().End()
	}
	b.End()
}
