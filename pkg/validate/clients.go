package validate

import "strings"

// A client is what a client makes of the names of tools before a model sees them, as far
// as it was seen by running it or read in its source in November 2026 (CLI-1012).
type client struct {
	name   string
	prefix string // before the name of a tool; SERVER stands for the server's
	most   int    // characters of the prefix; 0: all of them
	keeps  string // characters besides letters and digits that stay; "" all
	puts   string // instead of others
	max    int    // characters of the whole name; 0: none is known
	over   string // what it does with a longer one
	letter bool   // a name begins with a letter
}

const (
	leavesOut = "leaves it out"
	shortens  = "shortens it"
)

var clients = []client{
	{name: "Claude Code", prefix: "mcp__SERVER__", keeps: "_-", puts: "_", max: 128, over: leavesOut},
	{name: "Codex CLI", prefix: "mcp__SERVER__", keeps: "_-", puts: "_", max: 128, over: shortens},
	{name: "Gemini CLI", prefix: "mcp_SERVER_", keeps: "_-.:", puts: "_", max: 63, over: shortens},
	{name: "VS Code", prefix: "mcp_SERVER_", most: 18, max: 64, over: shortens},
	{name: "opencode", prefix: "SERVER_", keeps: "_-", puts: "_"},
	{name: "GitHub Copilot CLI", prefix: "SERVER-", keeps: "_-", puts: "-", max: 64, over: shortens},
	{name: "Cline", prefix: "SERVER__", keeps: "_-", puts: "_", max: 64, over: shortens},
	{name: "Amazon Q CLI", keeps: "_", max: 64, over: leavesOut, letter: true},
}

// sent is what a client calls a tool, before it makes the name fit; plain reports that no
// character of the tool's own name was changed.
func (c *client) sent(server, tool string) (full string, plain bool) {
	prefix := strings.ReplaceAll(c.prefix, "SERVER", c.mapped(server))
	if c.most > 0 && len(prefix) > c.most {
		prefix = prefix[:c.most]
	}
	name := c.mapped(tool)
	if c.letter {
		name = strings.TrimLeft(name, "0123456789_")
	}
	return prefix + name, name == tool
}

func (c *client) mapped(name string) string {
	if c.keeps == "" {
		return name
	}
	var b strings.Builder
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune(c.keeps, r):
			b.WriteRune(r)
		default:
			b.WriteString(c.puts)
		}
	}
	return b.String()
}
