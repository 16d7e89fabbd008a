// Package mcpgo runs the examples with the client of mark3labs/mcp-go, with a handshake and
// in revision 2026-07-28, and holds the answers of the two against each other.
//
// What its version 1.2.1 can do in that revision over stdio: server/discover on the process
// that is then used, falling back to initialize; every method of a client; input requests
// (elicitation by form and address, sampling, roots, several in one round, all at the same
// time) of tools/call and prompts/get, at most ten requests a call; the log level with each
// request; subscriptions/listen, one stream at a time; notifications/cancelled when a call's
// context ends. It has no ping there. It validates no result against an outputSchema.
package mcpgo
