// Package prompt renders prompts: it finds one in the registry, fills the
// client's arguments into its template, and makes messages of it (tools section
// 15). No script runs.
package prompt
