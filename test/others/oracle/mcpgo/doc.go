// Package mcpgo runs the examples with the client of mark3labs/mcp-go, with a handshake and in
// revision 2026-07-28, and compares the answers.
//
// Version 1.2.1 of mcp-go supports these parts of that revision, over stdio and over HTTP:
//
//   - server/discover on the process that it then uses, or else initialize;
//   - every method of a client;
//   - input requests of tools/call and prompts/get, at most ten requests a call: elicitation by form and
//     address, sampling and roots, several in one round, all at the same time;
//   - the log level with each request;
//   - subscriptions/listen, one stream at a time;
//   - notifications/cancelled when a call's context ends.
//
// It has no ping in that revision, and validates no result against an outputSchema.
package mcpgo
