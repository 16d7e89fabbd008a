// Package atomicfile replaces a file as a whole, so that readers see the old
// content or the new one, and locks a file, so that one program writes at a time.
//
// A file is written under a temporary name beside its place and renamed. What
// programs leave there that are killed, [Leftovers] finds.
package atomicfile
