package validate

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/text/toolnames"
	"mcp-bash/pkg/wire/known"
	"mcp-bash/pkg/wire/mcp"
)

// clients checks tools against the limits of clients.
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

// page checks that all tools are on the first page, because some clients read only that page.
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
		c.at("client.text", label, "the %s has %d bytes, and %s shows a model the first %d", name, len(text), titles,
			known.Least(func(k known.Client) int { return k.MaxText }))
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
		c.at("client.schema", label, "inputSchema has %s; refused, often with all tools of the server, by %s",
			strings.Join(faults, " and "), known.Titles(func(k known.Client) bool { return k.PlainSchema }))
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
		c.at("client.type", label, "inputSchema has %s%s, with which Gemini refuses all tools: %s", fault, where, clients)
		return
	}
}

// picture checks the size of a picture in bytes.
func (c *check) picture(label, mimeType string, size int) {
	sent := base64.StdEncoding.EncodedLen(size)
	refuses := func(k known.Client) bool { return k.MaxPicture > 0 && sent > k.MaxPicture }
	if titles := known.Titles(refuses); titles != "" && strings.HasPrefix(mimeType, "image/") {
		c.at("client.picture", label, "a picture of %d bytes, %d as base64; refused with the whole conversation above %d "+
			"by %s", size, sent, known.Least(func(k known.Client) int { return k.MaxPicture }), titles)
	}
}

// names checks the names of all tools against the rules of clients.
func (c *check) names() {
	server := c.p.Meta.Name
	tools := c.offered.items[kinds.Tools]
	taken := make([]map[string]string, len(toolnames.Clients))
	for i := range taken {
		taken[i] = make(map[string]string, len(tools))
	}
	long := slices.ContainsFunc(tools, func(o offer) bool { return rawjson.Get(o.json, "longRunning") != nil })
	for _, tool := range tools {
		label := c.labelOf(tool)
		if long && slices.Contains(mcp.TaskTools(), tool.name) {
			c.at("name.reserved", label, "%q is a tool of the server itself, as the project has long-running tools", tool.name)
		}
		var over, changed, merged []string
		longest, other := 0, ""
		for i := range toolnames.Clients {
			cl := &toolnames.Clients[i]
			full, plain := cl.Sent(server, tool.name)
			n := utf8.RuneCountInString(full)
			if cl.Max > 0 && n > cl.Max {
				over = append(over, fmt.Sprintf("%s %s (%d at most)", cl.Name, cl.Over, cl.Max))
				longest = max(longest, n)
			}
			if !plain {
				changed = append(changed, fmt.Sprintf("%s calls it %s", cl.Name, full))
			}
			if first, ok := taken[i][full]; ok {
				merged, other = append(merged, cl.Name), first
			} else {
				taken[i][full] = tool.name
			}
		}
		if over != nil {
			c.at("name.too_long", label, "with the server's name before it %q has up to %d characters: %s", tool.name, longest,
				strings.Join(over, ", "))
		}
		if merged != nil {
			c.at("name.collision", label, "%q and %q are one name for %s", other, tool.name, strings.Join(merged, ", "))
		}
		if changed != nil {
			c.at("name.changed", label, "%q is not what all clients call it: %s", tool.name, strings.Join(changed, ", "))
		}
		if c.metadataFile(tool) == "" && rawjson.TextOf(tool.json, "description") == "" {
			c.at("metadata.no_description", label, `missing "description"`)
		}
	}
}

// metadataFile returns the file that describes a tool, or "" for a tool that register.json or its script describes.
func (c *check) metadataFile(tool offer) string {
	if tool.path == "" {
		return ""
	}
	for _, name := range metadataOf(tool.path) {
		if file := abs(c.p.Tools, name); isFile(file) {
			return file
		}
	}
	return ""
}

// labelOf returns the file that describes a tool, or its script.
func (c *check) labelOf(tool offer) string {
	if file := c.metadataFile(tool); file != "" {
		return c.label(file)
	}
	return c.label(abs(c.p.Tools, tool.path))
}

// serverName checks the server's name against the rules of clients.
func (c *check) serverName(label string) {
	name := c.p.Meta.Name
	odd := strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != ""
	switch {
	case odd:
		c.at("name.server", label, "Claude Code refuses the server name %q: use letters, digits, - and _", name)
	case name == "workspace":
		c.at("name.server", label, `Claude Code reserves the name "workspace"`)
	}
}

// Characters of a result that Claude Code gives its model by default, and that a tool may ask for. It stores longer
// results in a file.
const (
	shownByDefault = 50_000
	shownAtMost    = 500_000
	shownMember    = "anthropic/maxResultSizeChars"
)

// large checks the member of _meta with which tools ask for more characters.
func (c *check) large() {
	for _, tool := range c.offered.items[kinds.Tools] {
		if shown, declared := shownOf(tool.json); declared && shown == 0 {
			c.at("large.invalid", c.labelOf(tool), "%q must be a number above 0", shownMember)
		} else if declared && shown > shownAtMost {
			c.at("large.invalid", c.labelOf(tool), "Claude Code shows %d characters at most, not %d", shownAtMost, shown)
		}
		bound := rawjson.Get(tool.json, "largeResultBytes")
		n := rawjson.PositiveInt(bound)
		switch {
		case rawjson.Absent(bound) || !rawjson.Absent(rawjson.Get(tool.json, "outputSchema")):
		case n > shownByDefault:
			c.suggestShown(tool, n, fmt.Sprintf("a result can have %d bytes (\"largeResultBytes\")", n))
		case n == 0 && c.p.Meta.LargeResult > 0:
			c.suggestShown(tool, shownAtMost, `"largeResultBytes": 0 sends results of any size`)
		}
	}
}

// shownOf returns the number of characters that a tool asks for, or 0 for an invalid one.
func shownOf(tool json.RawMessage) (n int, declared bool) {
	v := rawjson.Get(rawjson.Get(tool, "_meta"), shownMember)
	if rawjson.Absent(v) {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || f <= 0 {
		return 0, true
	}
	return int(min(f, 1<<30)), true
}

// suggestShown reports a tool with large results that asks for no or too few characters.
func (c *check) suggestShown(tool offer, need int, why string) {
	need = min(need, shownAtMost)
	if shown, declared := shownOf(tool.json); declared && (shown == 0 || shown >= need) {
		return
	}
	c.at("large.shown", c.labelOf(tool), "%s, and Claude Code stores those of more than %d characters in a file: add "+
		"\"_meta\": {%q: %d}", why, shownByDefault, shownMember, need)
}

// measure checks the size of a sample's result, and of its pictures.
func (c *check) measure(tool offer, result json.RawMessage) {
	n := 0
	for content := range rawjson.Elements(rawjson.Get(result, "content")) {
		n += utf8.RuneCountInString(rawjson.TextOf(content, "text"))
		of, data := content, "data"
		if resource := rawjson.Get(content, "resource"); resource != nil {
			of, data = resource, "blob"
		}
		size := base64.StdEncoding.DecodedLen(len(rawjson.TextOf(of, data)))
		c.picture(c.labelOf(tool), rawjson.TextOf(of, "mimeType"), size)
	}
	bound := c.p.Meta.LargeResult
	if v := rawjson.Get(tool.json, "largeResultBytes"); !rawjson.Absent(v) {
		bound = rawjson.PositiveInt(v)
	}
	if n > shownByDefault && (bound == 0 || bound > shownByDefault) {
		c.suggestShown(tool, n, fmt.Sprintf("the result of a sample has %d characters", n))
	}
}
