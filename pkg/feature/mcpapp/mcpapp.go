// Package mcpapp returns the metadata of MCP Apps pages for clients. These are list entries, content
// policies, and the permissions that a page needs (resources sections 17 and 18).
package mcpapp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
)

// NoMeta is the _meta of a page without a registry entry.
var NoMeta = json.RawMessage(`{"ui":{}}`)

// Meta returns the _meta of a page from its registry entry: the permissions that it needs and its display preferences.
// Invalid members are omitted and described in warnings.
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

// AppendListed appends a registry entry in the form of resources/list. It returns the same warnings as [Meta].
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

// appendPolicy appends a page's csp object. It omits unknown members, and values that are not strings or could add
// directives to a header, with a warning for each value.
func appendPolicy(b *rawjson.Builder, csp json.RawMessage) (warnings []string) {
	b.Object()
	for _, name := range []string{"connectDomains", "resourceDomains", "frameDomains", "baseUriDomains"} {
		v := rawjson.Get(csp, name)
		if rawjson.Absent(v) {
			continue
		}
		if rawjson.KindOf(v) != rawjson.Array {
			warnings = append(warnings, fmt.Sprintf("csp.%s is not an array: ignored", name))
			continue
		}
		var origins []string
		for item := range rawjson.Elements(v) {
			origin, ok := rawjson.Text(item)
			fault := ""
			switch {
			case !ok || !harmless(origin):
				fault = "not an origin"
			case slices.Contains(origins, origin):
				fault = "repeated"
			default:
				origins = append(origins, origin)
				continue
			}
			warnings = append(warnings, fmt.Sprintf("csp.%s: %s is %s: dropped", name, rawjson.Quote(short(item)), fault))
		}
		b.Name(name).Strings(origins)
	}
	b.End()
	return warnings
}

func short(v json.RawMessage) string {
	text, ok := rawjson.Text(v)
	if !ok {
		text = string(v)
	}
	if len(text) > 100 {
		text = strings.ToValidUTF8(text[:100], "") + "..."
	}
	return text
}

// harmless reports whether an origin is a single token of a policy.
func harmless(origin string) bool {
	return origin != "" && !strings.ContainsFunc(origin, func(r rune) bool {
		return r <= ' ' || r == 0x7f || r >= 0x80 && r < 0xa1 || r == '\u2028' || r == '\u2029' || r == '\uFEFF' ||
			strings.ContainsRune("\"'`;,", r)
	})
}
