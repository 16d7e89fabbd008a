// Package auth describes who sends a request over HTTP, and what that caller may do. Its packages
// verify credentials.
package auth

// An Identity is an authenticated caller. Requests of equal identities may resume each other's
// calls. An Identity never contains a credential.
type Identity struct {
	// Name distinguishes callers: the name of a token in a token file, or the client id of an
	// OAuth token. Scripts get it as MCP_CLIENT_ID.
	Name    string
	Issuer  string   // the OpenID provider, or "" for a token file
	Subject string   // the user that an OAuth token was issued for, or ""
	Scopes  []string // of an OAuth token
	Tools   []string // patterns of the tools that the caller may call; nil: all
}
