// Package completion suggests values for the arguments of prompts and resource templates. A script
// of the project provides the values. Without a script, they are derived from the typed text.
//
// [Completions.Complete] is the only entry. It finds the completion of a prompt or template by name,
// chooses the script that provides its values, and runs it with the typed text.
package completion
