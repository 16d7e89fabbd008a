package mcpapp

import (
	"encoding/json"
	"fmt"

	"mcp-bash/pkg/json/rawjson"
)

// NoMeta is the _meta of a page without a registry entry (RES-324).
var NoMeta = json.RawMessage(`{"ui":{}}`)

// Meta returns the _meta of a page from its registry entry: the permissions that it needs
// and its display preferences (RES-324, R-173). Invalid members are omitted and described in
// warnings.
func Meta(entry json.RawMessage) (meta json.RawMessage, warnings []string) {
	var b rawjson.Builder
	b.Object().Name("ui").Object().Name("csp")
	warnings = appendPolicy(&b, rawjson.Get(entry, "csp"))
	b.Name("permissions").Object()
	for name, v := range rawjson.All(rawjson.Get(entry, "permissions")) {
		switch {
		case rawjson.KindOf(v) == rawjson.Object:
			b.Name(name).Raw(v)
		case rawjson.True(v):
			b.Name(name).Object().End()
		default:
			warnings = append(warnings, fmt.Sprintf("permissions.%s must be {}: ignored", name))
		}
	}
	b.End()
	if domain := rawjson.Get(entry, "domain"); rawjson.KindOf(domain) == rawjson.String {
		b.Name("domain").Raw(domain)
	}
	b.Name("prefersBorder").Bool(string(rawjson.Get(entry, "prefersBorder")) != "false")
	return b.End().End().Bytes(), warnings
}

// AppendListed appends a registry entry in the form of resources/list. It returns
// the same warnings as [Meta].
func AppendListed(dst []byte, entry json.RawMessage) (listed []byte, warnings []string) {
	b := rawjson.Over(dst)
	b.Object()
	for _, name := range []string{"name", "title", "uri", "description", "mimeType"} {
		if v := rawjson.Get(entry, name); !rawjson.Absent(v) {
			b.Name(name).Raw(v)
		}
	}
	meta, warnings := Meta(entry)
	return b.Name("_meta").Raw(meta).End().Bytes(), warnings
}
