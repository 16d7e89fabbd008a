// Package toolnames describes how clients change the names of tools before a model sees them.
package toolnames

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Client describes how a client changes the names of tools. The data is from running the client or from its source,
// in November 2026.
type Client struct {
	Name      string // the name in messages
	Max       int    // the limit on the whole name, in characters; 0: unknown
	Over      string // how the client handles a tool with a longer name
	prefix    string // the text before the name of a tool; the server's name replaces SERVER
	maxPrefix int    // the limit on the prefix, in characters; 0: unlimited
	keeps     string // characters that stay in addition to letters and digits; "": all
	puts      rune   // the replacement of other characters; 0: none
	letter    bool   // a name must begin with a letter
}

const (
	leavesOut = "leaves it out"
	shortens  = "shortens it"
)

// Clients are the known clients.
var Clients = []Client{
	{Name: "Claude Code", prefix: "mcp__SERVER__", keeps: "_-", puts: '_', Max: 128, Over: leavesOut},
	{Name: "Codex CLI", prefix: "mcp__SERVER__", keeps: "_-", puts: '_', Max: 128, Over: shortens},
	{Name: "Gemini CLI", prefix: "mcp_SERVER_", keeps: "_-.:", puts: '_', Max: 63, Over: shortens},
	{Name: "VS Code", prefix: "mcp_SERVER_", maxPrefix: 18, Max: 64, Over: shortens},
	{Name: "opencode", prefix: "SERVER_", keeps: "_-", puts: '_'},
	{Name: "Copilot CLI", prefix: "SERVER-", keeps: "_-", puts: '-', Max: 64, Over: shortens},
	{Name: "Cline", prefix: "SERVER__", keeps: "_-", puts: '_', Max: 64, Over: shortens},
	{Name: "Amazon Q CLI", keeps: "_", Max: 64, Over: leavesOut, letter: true},
}

// Unique returns the name of a tool and adds it to taken. If another tool has the name, the result ends with a number.
func Unique(name string, taken map[string]bool) string {
	const most = 60 // characters before the number
	unique := name
	for n := 2; taken[unique]; n++ {
		unique = fmt.Sprintf("%.*s-%d", most, name, n)
	}
	taken[unique] = true
	return unique
}

// Of returns the client with a name, or nil.
func Of(name string) *Client {
	if at := slices.IndexFunc(Clients, func(c Client) bool { return c.Name == name }); at >= 0 {
		return &Clients[at]
	}
	return nil
}

// Room returns the maximum length of a tool's name on a server with the given name, in characters. It is 0 or negative
// if no name fits. The client must have a Max.
func (c *Client) Room(server string) int {
	prefix, _ := c.Sent(server, "")
	return c.Max - utf8.RuneCountInString(prefix)
}

// Sent returns the client's name for a tool, before it is shortened. plain reports that no
// character of the tool's own name was changed.
func (c *Client) Sent(server, tool string) (full string, plain bool) {
	prefix := strings.ReplaceAll(c.prefix, "SERVER", c.mapped(server))
	if c.maxPrefix > 0 && len(prefix) > c.maxPrefix {
		prefix = prefix[:c.maxPrefix]
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
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(c.keeps, r) {
			return r
		}
		return cmp.Or(c.puts, -1)
	}, name)
}

// MaxPortable is the maximum length of a name that every client accepts, in bytes.
const MaxPortable = 64

const portable = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

// IsPortable reports whether every client accepts a name of a tool or another item. Claude Desktop rejects dots, which
// the protocol allows.
func IsPortable(name string) bool {
	return name != "" && len(name) <= MaxPortable && strings.Trim(name, portable) == ""
}
