// Package revision names the revisions of MCP and their differences. Only the protocol packages
// and clients import it.
package revision

import "mcp-bash/pkg/wire/mcp"

// A Revision is a published revision of the protocol that begins with a handshake. Its fields describe the behaviour of
// the server in this revision.
type Revision struct {
	Name         string
	ListChanged  bool // list_changed and completions are advertised and sent
	Instructions bool // initialize answers with instructions
	Batches      bool // arrays of messages are accepted
	BatchRefusal string
	Links        bool // results of tools have links to resources
	Priming      bool // a stream of HTTP begins with an event that has only an id
}

// revisions are the revisions with a handshake that the server supports, newest first.
var revisions = [...]Revision{
	{Name: "2025-11-25", ListChanged: true, Instructions: true, Links: true, Priming: true,
		BatchRefusal: "Batch arrays are not allowed for protocol 2025-11-25"},
	{Name: "2025-06-18", ListChanged: true, Instructions: true, Links: true,
		BatchRefusal: "Batch arrays are not allowed for protocol 2025-06-18"},
	{Name: "2025-03-26", Instructions: true, Batches: true},
	{Name: "2024-11-05", BatchRefusal: "Batch arrays are disabled"},
}

// Latest is the revision for a client that does not name one.
var Latest = &revisions[0]

// Named returns the revision of that name, or nil.
func Named(name string) *Revision {
	for i := range revisions {
		if revisions[i].Name == name {
			return &revisions[i]
		}
	}
	return nil
}

// Names returns the names of the revisions with a handshake, newest first.
func Names() []string {
	names := make([]string, len(revisions))
	for i := range revisions {
		names[i] = revisions[i].Name
	}
	return names
}

// Stateless is the revision without a handshake. The _meta of each request has the members that
// other revisions exchange once in a session.
const Stateless = "2026-07-28"

// The keys of _meta in the stateless revision.
const (
	MetaVersion        = mcp.MetaPrefix + "protocolVersion"
	MetaCapabilities   = mcp.MetaPrefix + "clientCapabilities"
	MetaClientInfo     = mcp.MetaPrefix + "clientInfo"
	MetaLogLevel       = mcp.MetaPrefix + "logLevel"
	MetaServerInfo     = mcp.MetaPrefix + "serverInfo"
	MetaSubscriptionID = mcp.MetaPrefix + "subscriptionId"
)

// Versions returns the names of all revisions that the server supports, newest first.
func Versions() []string { return append([]string{Stateless}, Names()...) }
