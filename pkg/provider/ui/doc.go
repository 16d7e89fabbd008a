// Package ui is the provider of ui:// resources, the pages of MCP Apps. ui://SERVER/NAME is an HTML
// file in the page's directory, or the output of a UI template. The provider reads nothing outside
// that directory.
package ui
