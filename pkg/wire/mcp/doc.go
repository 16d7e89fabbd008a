// Package mcp holds the vocabulary of the Model Context Protocol: its
// revisions, error codes, log levels and what a client can declare. It knows
// nothing of transport or of projects.
package mcp
