// Package providers embeds scripts that run the built-in providers (RES-2). A project's
// provider runs one to extend it, and the SDK runs one to download. Each script runs the
// binary that started it, or the binary that the SDK finds (SDK-13).
package providers

import "embed"

// Files are the files *.sh of the directory providers of an installation. All are executable.
//
//go:embed *.sh
var Files embed.FS
