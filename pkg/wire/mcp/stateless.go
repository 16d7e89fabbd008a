package mcp

// Stateless is the revision without a handshake. The _meta of each request has the members that
// other revisions exchange once in a session.
const Stateless = "2026-07-28"

// The keys of _meta in the stateless revision.
const (
	MetaVersion        = metaPrefix + "protocolVersion"
	MetaCapabilities   = metaPrefix + "clientCapabilities"
	MetaClientInfo     = metaPrefix + "clientInfo"
	MetaLogLevel       = metaPrefix + "logLevel"
	MetaServerInfo     = metaPrefix + "serverInfo"
	MetaSubscriptionID = metaPrefix + "subscriptionId"

	metaPrefix = "io.modelcontextprotocol/"
)

// Versions returns the names of all supported revisions, newest first.
func Versions() []string {
	names := make([]string, 0, len(Revisions)+1)
	names = append(names, Stateless)
	for i := range Revisions {
		names = append(names, Revisions[i].Name)
	}
	return names
}
