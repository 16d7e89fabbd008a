// Package ui is the provider of the pages of MCP Apps (resources section 17):
// ui://SERVER/NAME is the HTML in the directory of that name, or what the UI
// template named there makes. Nothing outside of a page's directory is read,
// whatever a URI, an entry point or a symbolic link says.
package ui
