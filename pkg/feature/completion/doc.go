// Package completion suggests values for the arguments of prompts and of
// resource templates: from a script of the project where it has one, else from
// what was typed (tools section 16).
package completion
