package mcp

// Stateless is the revision that has no handshake: each request says in its _meta what the
// others settle once for a session.
const Stateless = "2026-07-28"

// The keys of _meta that the stateless revision has.
const (
	MetaVersion        = metaPrefix + "protocolVersion"
	MetaCapabilities   = metaPrefix + "clientCapabilities"
	MetaClientInfo     = metaPrefix + "clientInfo"
	MetaLogLevel       = metaPrefix + "logLevel"
	MetaServerInfo     = metaPrefix + "serverInfo"
	MetaSubscriptionID = metaPrefix + "subscriptionId"

	metaPrefix = "io.modelcontextprotocol/"
)

// Versions are the names of all revisions this server speaks, newest first.
func Versions() []string {
	names := make([]string, 0, len(Revisions)+1)
	names = append(names, Stateless)
	for i := range Revisions {
		names = append(names, Revisions[i].Name)
	}
	return names
}
