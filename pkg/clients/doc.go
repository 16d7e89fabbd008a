// Package clients configures MCP clients to start a project's server. It formats the
// entry that each client expects, and adds it to the client's file or removes it. The rest
// of the file keeps its bytes (cli chapter 7).
package clients
