// Package mcpapp knows what clients are told about the pages of MCP Apps besides
// their HTML: how they are listed, what they may load, what else they ask of
// the host (resources sections 17 and 18).
package mcpapp
