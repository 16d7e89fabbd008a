package mcpapp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
)

// appendPolicy appends a page's csp object. It omits unknown members, and values that are not
// strings or could add directives to a header, with a warning for each value (RES-340).
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
