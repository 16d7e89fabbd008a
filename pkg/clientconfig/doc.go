// Package clientconfig tells MCP clients how to start a project's server: it writes an
// entry as each client wants it, and puts it into the client's own file or takes it out
// again, without touching anything else in there (cli chapter 7).
package clientconfig
