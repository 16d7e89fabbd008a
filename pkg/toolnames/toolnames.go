// Package toolnames knows what clients make of the names of tools before a model sees
// them.
package toolnames

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// A Client is what one makes of the names of tools, as far as it was seen by running it or
// read in its source in November 2026 (CLI-1012).
type Client struct {
	Name   string // as people call it
	Max    int    // characters of the whole name; 0: none is known
	Over   string // what it does with a tool whose name is longer
	prefix string // before the name of a tool; SERVER stands for the server's
	most   int    // characters of the prefix; 0: all of them
	keeps  string // characters besides letters and digits that stay; "" all
	puts   string // instead of others
	letter bool   // a name begins with a letter
}

const (
	leavesOut = "leaves it out"
	shortens  = "shortens it"
)

// Clients are those that something is known of.
var Clients = []Client{
	{Name: "Claude Code", prefix: "mcp__SERVER__", keeps: "_-", puts: "_", Max: 128, Over: leavesOut},
	{Name: "Codex CLI", prefix: "mcp__SERVER__", keeps: "_-", puts: "_", Max: 128, Over: shortens},
	{Name: "Gemini CLI", prefix: "mcp_SERVER_", keeps: "_-.:", puts: "_", Max: 63, Over: shortens},
	{Name: "VS Code", prefix: "mcp_SERVER_", most: 18, Max: 64, Over: shortens},
	{Name: "opencode", prefix: "SERVER_", keeps: "_-", puts: "_"},
	{Name: "Copilot CLI", prefix: "SERVER-", keeps: "_-", puts: "-", Max: 64, Over: shortens},
	{Name: "Cline", prefix: "SERVER__", keeps: "_-", puts: "_", Max: 64, Over: shortens},
	{Name: "Amazon Q CLI", keeps: "_", Max: 64, Over: leavesOut, letter: true},
}

// Of returns the client of a name, nil where nothing is known of it.
func Of(name string) *Client {
	if at := slices.IndexFunc(Clients, func(c Client) bool { return c.Name == name }); at >= 0 {
		return &Clients[at]
	}
	return nil
}

// Room is how many characters the name of a tool may have, negative or 0 for none, when the
// server has a name. It is for clients that have a Max.
func (c *Client) Room(server string) int {
	prefix, _ := c.Sent(server, "")
	return c.Max - utf8.RuneCountInString(prefix)
}

// Sent is what a client calls a tool, before it makes the name fit; plain reports that no
// character of the tool's own name was changed.
func (c *Client) Sent(server, tool string) (full string, plain bool) {
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

func (c *Client) mapped(name string) string {
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

// maxPortable is how long a name may be that every client takes, in bytes.
const maxPortable = 64

const portable = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

// IsPortable reports whether every client takes a name, of a tool or of anything else:
// Claude Desktop refuses dots, which the protocol allows (CLI-407, CLI-1012).
func IsPortable(name string) bool {
	return name != "" && len(name) <= maxPortable && strings.Trim(name, portable) == ""
}
