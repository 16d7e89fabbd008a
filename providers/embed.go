// Package providers holds the built-in providers as scripts (RES-2):
// what a project's own provider runs when it only adds to one of them, and the
// SDK to download. They lead to the binary that started the script, or to
// the one the SDK finds (SDK-13).
package providers

import "embed"

// Files is the content of the directory providers of a tree: the files *.sh, all
// of which are to be executable.
//
//go:embed *.sh
var Files embed.FS
