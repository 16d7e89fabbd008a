// Package browser tests the UI templates and the site in a browser. A page plays the host of an MCP App, and the
// test drives Chromium over the DevTools protocol. "make browser" runs it, with a build tag.
package browser
