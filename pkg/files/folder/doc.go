// Package folder reads directories that other programs may be changing.
//
// A [Dir] is an open directory. It opens its files by name, follows no symbolic link, and never blocks on a FIFO or
// a device. A [Stamp] is the identity, size and times of a file. An unchanged stamp means an unchanged file, if the
// stamp is [Stamp.Settled]. An [Observation] is a path with its stamp. A result that depends on the path stays valid
// until the stamp changes.
package folder
