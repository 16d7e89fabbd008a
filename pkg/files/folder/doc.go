// Package folder reads directories that others may be changing meanwhile.
//
// A [Dir] is an open directory. What lies in it is opened by name relative to
// it: symbolic links are never followed, and nothing that could make a reader
// wait, such as a FIFO, is opened. A [Stamp] is the identity, size and times of
// a file; as long as it stays the same, so does the file, provided it is
// [Stamp.Settled]. An [Observation] is a path with the stamp it had, so that a
// result that depended on it can be used until the stamp changes.
package folder
