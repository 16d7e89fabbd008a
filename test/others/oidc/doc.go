// Package oidc connects the server with a real OpenID provider, the one of zitadel/oidc. A client
// finds the provider through the server, gets an access token, and calls the server with it.
package oidc
