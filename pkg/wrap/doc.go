// Package wrap makes the files of a tool that runs a command-line program out of what the
// program says of itself: it chooses options, decides what they are in a schema and on the
// command line, and merges what is new with what a person has changed. It reads and writes
// nothing (WRAP-6, WRAP-30 to WRAP-36, WRAP-41).
package wrap
