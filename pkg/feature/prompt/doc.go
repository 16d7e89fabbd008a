// Package prompt renders prompts. It finds a prompt in the registry, inserts the client's arguments
// into its template, and makes messages of it. It runs no script.
package prompt
