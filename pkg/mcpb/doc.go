// Package mcpb reads, checks and writes MCP bundles: a ZIP archive with a
// manifest.json (cli chapters 14 and 18). It knows nothing of projects.
//
// An archive may come from anybody: its names, sizes and modes are judged before
// anything in it is read, and what is read is bounded by what was declared.
package mcpb
