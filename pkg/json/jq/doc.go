// Package jq is the JSON program for scripts (SDK-14), and provides parts of it to the
// server.
//
// [Run] is the program. It accepts jq's command line. A filter that only follows a path,
// with or without a default ([Simple], SDK-209), is evaluated on the JSON text itself.
// Members then keep their order and numbers their digits. gojq compiles and runs every other
// filter, and sorts the members of its results (SDK-16).
//
// [Flat] writes a document as a table in which the Bash SDK looks up the same simple filters
// without starting a process (SDK-205). The same functions render values for the table and
// for the program's output, so both produce the same results (SDK-210).
//
// Functions with a json.RawMessage expect text that rawjson.Check accepted. The package
// keeps no state between calls, and is safe for concurrent use.
package jq
