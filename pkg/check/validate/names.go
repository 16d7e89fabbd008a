package validate

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/text/toolnames"
	"mcp-bash/pkg/wire/mcp"
)

// names checks the names of all tools against the rules of clients (CLI-1012).
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
			c.at("name.reserved", label, fmt.Sprintf("%q is a tool of the server itself, as the project has long-running "+
				"tools", tool.name))
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
			c.at("name.too_long", label, fmt.Sprintf(
				"with the server's name before it %q has up to %d characters: %s", tool.name, longest, strings.Join(over, ", ")))
		}
		if merged != nil {
			c.at("name.collision", label, fmt.Sprintf(
				"%q and %q are one name for %s", other, tool.name, strings.Join(merged, ", ")))
		}
		if changed != nil {
			c.at("name.changed", label, fmt.Sprintf(
				"%q is not what all clients call it: %s", tool.name, strings.Join(changed, ", ")))
		}
		if c.isDeclaredOnly(tool) && rawjson.TextOf(tool.json, "description") == "" {
			c.at("metadata.no_description", label, `missing "description"`)
		}
	}
}

// isDeclaredOnly reports whether a tool has no metadata file. Otherwise its description was already checked.
func (c *check) isDeclaredOnly(tool offer) bool { return c.metadataFile(tool) == "" }

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

// serverName checks the server's name against the rules of clients (CLI-1012).
func (c *check) serverName(label string) {
	name := c.p.Meta.Name
	odd := strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != ""
	switch {
	case odd:
		c.add(finding.Finding{ID: "name.server", Path: label,
			Message: fmt.Sprintf("Claude Code refuses the server name %q: use letters, digits, - and _", name)})
	case name == "workspace":
		c.add(finding.Finding{ID: "name.server", Path: label,
			Message: `Claude Code reserves the name "workspace"`})
	}
}
