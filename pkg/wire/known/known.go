// Package known has facts about clients that the server cannot learn from the protocol.
package known

// A Client is a program that connects to servers.
type Client struct {
	Name string // of its clientInfo
	// StructuredAlone means that a model sees only the structured content of a result that has some. Files, pictures
	// and links of the result are lost then.
	StructuredAlone bool
}

var clients = []Client{
	{Name: "claude-code", StructuredAlone: true},
	{Name: "codex-mcp-client", StructuredAlone: true},
	{Name: "opencode", StructuredAlone: true},
}

// Find returns the facts about the client with a name. An unknown client has the zero value.
func Find(name string) Client {
	for _, c := range clients {
		if c.Name == name {
			return c
		}
	}
	return Client{}
}
