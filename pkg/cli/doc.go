// Package cli has the common parts of all commands: version, exit codes, options, help, errors, completion, and
// output to terminals (cli chapter 1).
package cli
