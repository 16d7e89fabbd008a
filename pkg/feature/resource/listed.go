package resource

import (
	"encoding/json"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/item"
)

// AppendListed appends a registry entry in the form of resources/list. It omits internal members
// and resolves the URI for this project (R-171, RES-21).
func AppendListed(dst []byte, p *project.Project, entry json.RawMessage) []byte {
	if rawjson.Get(entry, "uri") != nil {
		entry = rawjson.With(entry, "uri", rawjson.Quote(item.URI(p, entry)))
	}
	return rawjson.Over(dst).Object().Members(entry, "uriAuto", item.TypeDeclared, "requires", "arguments", "id",
		"version", "capabilities", "confine", "securityLevel").End().Bytes()
}

// AppendListedTemplate appends a registry entry in the form of resources/templates/list (RES-161, RES-166).
func AppendListedTemplate(dst []byte, item json.RawMessage) []byte {
	b := rawjson.Over(dst)
	b.Object()
	for _, m := range rawjson.Members(item) {
		switch m.Name {
		case "name", "uriTemplate", "title", "description", "mimeType", "icons", "annotations", "_meta":
			b.Name(m.Name).Raw(m.Value)
		}
	}
	return b.End().Bytes()
}
