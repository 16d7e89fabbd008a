package clientconfig

import (
	"fmt"
	"mcp-bash/pkg/toolnames"
	"strings"
)

// plainLetters are what every client takes in the name of a server.
const plainLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-"

// roomForTools is how much of the longest name of a tool the server's should leave, in
// characters.
const roomForTools = 24

// Warnings say what a client will do to a server that it cannot take as it is (CLI-713).
func (c *Client) Warnings(s Server) (list []string) {
	const remedy = "; --name gives another"
	rest := strings.Trim(strings.Map(func(r rune) rune {
		if strings.ContainsRune(plainLetters, r) {
			return -1
		}
		return r
	}, s.Name), "")
	others := strings.ReplaceAll(rest, "_", "")
	switch n := c.names; {
	case s.Name == n.reserved && s.Name != "":
		list = append(list, fmt.Sprintf("%s keeps the name %q for itself%s", c.Title, s.Name, remedy))
	case others != "" && n.other != "":
		list = append(list, fmt.Sprintf("%q: %s %s, as it has other characters than letters, digits, - and _%s", s.Name,
			c.Title, n.other, remedy))
	case others != rest && n.bar != "":
		list = append(list, fmt.Sprintf("%q: %s %s%s", s.Name, c.Title, n.bar, remedy))
	}
	if n := toolnames.Of(c.Title); n != nil && n.Max > 0 && n.Room(s.Name) < roomForTools {
		list = append(list, fmt.Sprintf("%q is long: where the name of a tool, with the server's, is longer than %d "+
			"characters, %s %s, so that a tool's own may have %d%s", s.Name, n.Max, c.Title, n.Over,
			max(n.Room(s.Name), 0), remedy))
	}
	for _, begin := range c.expands {
		for _, text := range []string{s.Command, s.Root} {
			if strings.Contains(text, begin) {
				list = append(list, fmt.Sprintf("%s: %s takes %q for the beginning of a variable; move it to a folder "+
					"without that", text, c.Title, begin))
			}
		}
	}
	return list
}
