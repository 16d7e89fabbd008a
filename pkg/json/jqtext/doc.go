// Package jqtext writes JSON as the JSON program for scripts prints it (SDK-14). It is
// separate from that program, so that commands without the program do not contain gojq.
//
// [Flat] writes a document as a table in which the Bash SDK looks up simple filters without
// starting a process (SDK-205). The same functions render values for the table and for the
// program's output, so both produce the same results (SDK-210).
//
// Functions with a json.RawMessage expect text that rawjson.Check accepted. The package
// keeps no state between calls, and is safe for concurrent use.
package jqtext
