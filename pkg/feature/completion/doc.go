// Package completion suggests values for the arguments of prompts and resource templates. A script
// of the project provides the values. Without a script, they are derived from the typed text.
package completion
