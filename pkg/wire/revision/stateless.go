package revision

import "mcp-bash/pkg/wire/mcp"

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

// Versions returns the names of all revisions that the server speaks, newest first.
func Versions() []string { return append([]string{Stateless}, Names()...) }
