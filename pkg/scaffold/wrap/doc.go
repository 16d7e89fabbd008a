// Package wrap generates the files of a tool that runs a command-line program, from the
// program's description of itself. It selects options, maps them to a schema and to a
// command line, and merges new versions with a person's changes. It does not access the file
// system (WRAP-6, WRAP-30 to WRAP-36, WRAP-41).
package wrap
