package mcpapp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
)

// The members of a page's csp, in their order (RES-340).
const (
	connect = iota
	resource
	frame
	baseURI
)

var members = [...]string{connect: "connectDomains", resource: "resourceDomains", frame: "frameDomains",
	baseURI: "baseUriDomains"}

// A Policy is a page's csp in normal form: the origins that the page may use.
type Policy struct {
	origins  [len(members)][]string
	declared [len(members)]bool
}

// parsePolicy parses a csp object. It omits values that are not strings or could add
// directives to a header, with a warning for each (RES-340).
func parsePolicy(csp json.RawMessage) (p Policy, warnings []string) {
	for i, name := range members {
		v := rawjson.Get(csp, name)
		if rawjson.Absent(v) {
			continue
		}
		if rawjson.KindOf(v) != rawjson.Array {
			warnings = append(warnings, fmt.Sprintf("csp.%s is not an array: ignored", name))
			continue
		}
		p.declared[i] = true
		for item := range rawjson.Elements(v) {
			origin, ok := rawjson.Text(item)
			switch {
			case !ok || !harmless(origin):
				warnings = append(warnings, fmt.Sprintf("csp.%s: %s is not an origin: dropped", name,
					rawjson.Quote(short(item))))
			case slices.Contains(p.origins[i], origin):
				warnings = append(warnings, fmt.Sprintf("csp.%s: %s is repeated: dropped", name,
					rawjson.Quote(origin)))
			default:
				p.origins[i] = append(p.origins[i], origin)
			}
		}
	}
	return p, warnings
}

// short returns a value for a message.
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

// harmless reports whether an origin is one token of a policy, with any meaning.
func harmless(origin string) bool {
	return origin != "" && !strings.ContainsFunc(origin, func(r rune) bool {
		return r <= ' ' || r == 0x7f || r >= 0x80 && r < 0xa1 || r == '\u2028' || r == '\u2029' || r == '\uFEFF' ||
			strings.ContainsRune("\"'`;,", r)
	})
}

// appendTo writes the declared arrays.
func (p *Policy) appendTo(b *rawjson.Builder) {
	b.Object()
	for i, name := range members {
		if p.declared[i] {
			b.Name(name).Strings(p.origins[i])
		}
	}
	b.End()
}

// Header returns the Content-Security-Policy of a page for programs that serve it over HTTP,
// such as gateways. The server itself never sends it (RES-341, RES-342).
func (p *Policy) Header() string {
	with := func(sources string, i int) string {
		return strings.Join(append([]string{sources}, p.origins[i]...), " ")
	}
	scripts, images := "script-src 'self' https://cdn.jsdelivr.net", "img-src 'self' data:"
	if p.declared == [len(members)]bool{} {
		return strings.Join([]string{
			"default-src 'self'", scripts, "style-src 'self' 'unsafe-inline'", images, "connect-src 'self'",
			"frame-ancestors 'none'", "base-uri 'self'",
		}, "; ")
	}
	parts := []string{
		"default-src 'self'", with(scripts, resource), with("style-src 'self' 'unsafe-inline'", resource),
		with(images, resource),
		with("connect-src 'self'", connect),
	}
	if len(p.origins[resource]) > 0 {
		parts = append(parts, with("font-src 'self'", resource), with("media-src 'self'", resource))
	}
	if len(p.origins[frame]) > 0 {
		parts = append(parts, with("frame-src", frame))
	} else {
		parts = append(parts, "frame-src 'none'")
	}
	return strings.Join(append(parts, with("base-uri 'self'", baseURI), "frame-ancestors 'none'"), "; ")
}
