// Package known has facts about clients that a server cannot learn from the protocol.
package known

import (
	"slices"
	"strings"
)

// A Client is a program that connects to servers. Its limits are its own, or those of the model API that it uses.
type Client struct {
	Title string
	Name  string // of its clientInfo; "" if it is not known

	// StructuredAlone means that a model sees only the structured content of a result, if there is any. Files, pictures
	// and links of the result are lost then.
	StructuredAlone bool
	// PlainSchema means that an input schema must not have oneOf, anyOf or allOf at its top, and that each argument
	// needs a [PlainName]. Otherwise the client leaves out the tool or rejects all tools.
	PlainSchema bool
	// OneType means that each "type" in an input schema must be one name, and that a schema of arrays needs "items".
	// Otherwise the client rejects all tools.
	OneType bool
	// OnePage means that the client reads only the first page of a list of tools.
	OnePage bool
	// MaxText is the maximum size of a tool's description, and of the server's instructions, in bytes. The client cuts
	// longer ones. 0 means no limit.
	MaxText int
	// MaxPicture is the maximum size of a picture in a result, in bytes of base64. With a larger picture, this request
	// to the model and often all later ones of the conversation fail. 0 means no limit.
	MaxPicture int
}

// maxPicture is the limit of Anthropic's API for a picture.
const maxPicture = 5 << 20

// clients is from November 2026. The sources are documentation, source code, error messages in public reports, and
// tests.
var clients = []Client{
	{Title: "Claude Code", Name: "claude-code", StructuredAlone: true, PlainSchema: true, MaxText: 2048,
		MaxPicture: maxPicture},
	{Title: "Claude Desktop", Name: "claude-ai", PlainSchema: true, MaxPicture: maxPicture},
	{Title: "Codex", Name: "codex-mcp-client", StructuredAlone: true},
	{Title: "Gemini CLI", Name: "gemini-cli-mcp-client", OneType: true},
	{Title: "GitHub Copilot CLI", Name: "github-copilot-developer", OnePage: true, OneType: true},
	{Title: "opencode", Name: "opencode", StructuredAlone: true, PlainSchema: true, OneType: true, OnePage: true},
	{Title: "Kiro", PlainSchema: true},
	{Title: "Factory Droid", OnePage: true},
	{Title: "Open WebUI", OnePage: true},
}

// PlainName reports whether a name of an argument suits every client: at most 64 letters, digits, "_", "." and "-".
func PlainName(name string) bool {
	return name != "" && len(name) <= 64 && !strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.-", r))
	})
}

// Find returns the facts about the client with a name. An unknown client has the zero value.
func Find(name string) Client {
	for _, c := range clients {
		if c.Name != "" && c.Name == name {
			return c
		}
	}
	return Client{}
}

// Titles returns the titles of the clients for which have returns true, for a sentence.
func Titles(have func(Client) bool) string {
	var titles []string
	for _, c := range clients {
		if have(c) {
			titles = append(titles, c.Title)
		}
	}
	slices.Sort(titles)
	last := len(titles) - 1
	if last < 1 {
		return strings.Join(titles, "")
	}
	return strings.Join(titles[:last], ", ") + " and " + titles[last]
}

// Least returns the smallest limit above 0, or 0 if no client has one.
func Least(limit func(Client) int) int {
	least := 0
	for _, c := range clients {
		if n := limit(c); n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}
