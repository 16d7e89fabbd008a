// Package scaffold creates projects, and tools, prompts, resources, completions, pages and
// tests in them, from embedded templates (cli chapters 5 and 6). The created files work
// without changes.
package scaffold
