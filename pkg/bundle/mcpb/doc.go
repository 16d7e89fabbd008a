// Package mcpb reads, checks and writes MCP bundles: ZIP archives with a manifest.json (cli
// chapters 14 and 18). It does not depend on projects.
//
// Archives are untrusted. Their names, sizes and modes are checked before any content is
// read. Reading is limited to the declared sizes.
package mcpb
