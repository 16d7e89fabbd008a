// Package jq is the JSON program for scripts (SDK-14).
//
// [Run] is the program. It accepts jq's command line. A filter that only follows a path,
// with or without a default ([Simple], SDK-209), is evaluated on the JSON text itself.
// Members then keep their order and numbers their digits. gojq compiles and runs every other
// filter, and sorts the members of its results (SDK-16).
//
// Package jqtext renders the values.
//
// Functions with a json.RawMessage expect text that rawjson.Check accepted. The package
// keeps no state between calls, and is safe for concurrent use.
package jq
