// Package file is the provider of local files (resources section 8). It reads
// regular files below its roots and nothing else: whatever a URI, a symbolic
// link or a swap while it looks may try, a file outside is neither opened nor
// told to exist.
package file
