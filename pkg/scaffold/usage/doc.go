// Package usage parses what programs print about their command lines: help texts, manual
// pages and shell completions. It starts no processes and opens no files. Its input is
// untrusted: every parser is bounded, and omits what it is not sure of (WRAP-20 to WRAP-29).
package usage
