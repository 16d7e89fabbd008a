package validate

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/wire/known"
)

// clients checks tools against the limits of clients (CLI-1063).
func (c *check) clients() {
	tools := c.offered.items[kinds.Tools]
	c.page(len(tools))
	for _, tool := range tools {
		label := c.labelOf(tool)
		c.clientText(label, "description", rawjson.TextOf(tool.json, "description"))
		input := rawjson.Get(tool.json, "inputSchema")
		c.plainSchema(label, input)
		c.oneType(label, input)
	}
	c.clientText("server.d/server.instructions.md", "instructions", c.p.Meta.Instructions)
}

// page checks that all tools are on the first page, as some clients read no other.
func (c *check) page(tools int) {
	size := c.p.PageSize()
	if tools <= size {
		return
	}
	fix := fmt.Sprintf(`write "pageSize": %d into %s`, project.MaxPage, project.Marker)
	if tools > project.MaxPage {
		fix = "divide the tools among several servers"
	}
	c.add(finding.Finding{ID: "client.page", Path: project.Marker, Fix: fix, Message: fmt.Sprintf(
		"%d tools, and the first page has %d, which is all that %s read", tools, size,
		known.Titles(func(k known.Client) bool { return k.OnePage }))})
}

// clientText checks the size of a text that some clients cut.
func (c *check) clientText(label, name, text string) {
	cuts := func(k known.Client) bool { return k.MaxText > 0 && len(text) > k.MaxText }
	if titles := known.Titles(cuts); titles != "" {
		c.at("client.text", label, fmt.Sprintf("the %s has %d bytes, and %s shows a model the first %d", name, len(text),
			titles, known.Least(func(k known.Client) int { return k.MaxText })))
	}
}

// plainSchema checks that an input schema is an object with plain names of arguments.
func (c *check) plainSchema(label string, input json.RawMessage) {
	var faults []string
	for _, name := range []string{"oneOf", "anyOf", "allOf"} {
		if rawjson.Get(input, name) != nil {
			faults = append(faults, fmt.Sprintf("%q at the top", name))
		}
	}
	for name := range rawjson.All(rawjson.Get(input, "properties")) {
		if !known.PlainName(name) {
			faults = append(faults, fmt.Sprintf("an argument %q", name))
		}
	}
	if len(faults) > 0 {
		c.at("client.schema", label, fmt.Sprintf("inputSchema has %s; refused, often with all tools of the server, by %s",
			strings.Join(faults, " and "), known.Titles(func(k known.Client) bool { return k.PlainSchema })))
	}
}

// oneType checks that each schema of an argument has one type, and that arrays have the schema of their items.
func (c *check) oneType(label string, input json.RawMessage) {
	clients := known.Titles(func(k known.Client) bool { return k.OneType })
	for path, one := range item.Schemas(input) {
		kind := rawjson.Get(one, "type")
		fault := ""
		switch {
		case rawjson.KindOf(kind) == rawjson.Array:
			fault = fmt.Sprintf("a list of types (%s)", rawjson.AppendCompact(nil, kind))
		case string(kind) == `"array"` && rawjson.Get(one, "items") == nil && rawjson.Get(one, "prefixItems") == nil:
			fault = `an array without "items"`
		default:
			continue
		}
		where := strings.TrimSuffix(" at "+path, " at ")
		c.at("client.type", label, fmt.Sprintf("inputSchema has %s%s, with which Gemini refuses all tools: %s", fault, where,
			clients))
		return
	}
}

// picture checks the size of a picture in bytes.
func (c *check) picture(label, mimeType string, size int) {
	sent := base64.StdEncoding.EncodedLen(size)
	refuses := func(k known.Client) bool { return k.MaxPicture > 0 && sent > k.MaxPicture }
	if titles := known.Titles(refuses); titles != "" && strings.HasPrefix(mimeType, "image/") {
		c.at("client.picture", label, fmt.Sprintf("a picture of %d bytes, %d as base64; refused with the whole conversation "+
			"above %d by %s", size, sent, known.Least(func(k known.Client) int { return k.MaxPicture }), titles))
	}
}
