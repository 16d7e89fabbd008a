// Package mcpapp returns the metadata of MCP Apps pages for clients. This includes list
// entries, content policies and other requests to the host (resources sections 17 and 18).
package mcpapp
