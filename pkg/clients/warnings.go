package clients

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/text/toolnames"
)

// plainLetters are the characters that every client accepts in the name of a server.
const plainLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-"

// roomForTools is the number of characters that a server's name should leave for the name of
// a tool.
const roomForTools = 24

// Warnings describes the problems that a client has with a server's name or paths (CLI-713).
func (c *Client) Warnings(s Server) (list []string) {
	const remedy = "; choose another with --name"
	rest := strings.Trim(strings.Map(func(r rune) rune {
		if strings.ContainsRune(plainLetters, r) {
			return -1
		}
		return r
	}, s.Name), "")
	others := strings.ReplaceAll(rest, "_", "")
	switch n := c.names; {
	case s.Name == n.reserved && s.Name != "":
		list = append(list, fmt.Sprintf("%s reserves the name %q%s", c.Title, s.Name, remedy))
	case others != "":
		list = append(list, fmt.Sprintf("%q: %s %s, as it has characters other than letters, digits, - and _%s", s.Name,
			c.Title, cmp.Or(n.other, "may reject the name"), remedy))
	case others != rest && n.bar != "":
		list = append(list, fmt.Sprintf("%q: %s %s%s", s.Name, c.Title, n.bar, remedy))
	}
	if n := toolnames.Of(c.Title); n != nil && n.Max > 0 && n.Room(s.Name) < roomForTools {
		list = append(list, fmt.Sprintf("%q is long: %s limits the names of tools with the server's to %d characters. "+
			"If a tool's name has more than %d, %s %s%s", s.Name, c.Title, n.Max, max(n.Room(s.Name), 0), c.Title, n.Over,
			remedy))
	}
	texts, expanded := []string{s.Command, s.Root}, "move it to a folder without that"
	if s.Remote != nil {
		texts, expanded = []string{s.Remote.URL}, "percent-encode that"
		if text := s.Remote.unprotected(); text != "" {
			list = append(list, text)
		}
	}
	if s.Package != nil && !filepath.IsAbs(s.Command) {
		list = append(list, fmt.Sprintf("%s is not on PATH; install it, or write its path into the entry", s.Command))
	}
	for _, begin := range c.expands {
		for _, text := range texts {
			if strings.Contains(text, begin) {
				list = append(list, fmt.Sprintf("%s: %s expands variables that begin with %q; %s", text, c.Title, begin,
					expanded))
			}
		}
	}
	return list
}
