// Package jq is the JSON program that scripts use (SDK-14), and the pieces
// of it that the server uses itself.
//
// [Run] is the program. It accepts jq's command line. A filter that only walks
// down a path, with or without a default ([Simple], SDK-209), is answered from
// the JSON text itself, so that members keep their order and numbers their
// digits; every other filter is compiled and run by gojq, where members come
// out sorted (SDK-16).
//
// [Flat] writes a document as the table from which the Bash SDK answers the
// same simple filters without starting a process (SDK-205). Values in the
// table are rendered by the functions that render the program's output, which
// is what makes the two ways of asking give one answer (SDK-210).
//
// Functions that take a json.RawMessage expect text that rawjson.Check
// accepted. Nothing in the package keeps state between calls; everything may be
// used by several goroutines at once.
package jq
