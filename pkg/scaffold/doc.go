// Package scaffold makes projects, and the files of tools, prompts, resources,
// completions, pages and tests in them, from templates that are embedded (cli
// chapters 5 and 6). What it makes works as it is.
package scaffold
