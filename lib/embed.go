// Package lib holds the stubs of the Bash edition's library files that tool
// scripts source by hand (SDK-6, T-65). They lead to the SDK, which
// has to be unpacked beside them: lib/path.sh looks for ../sdk/tool-sdk.sh.
package lib

import "embed"

// Files is the content of the directory lib of a tree: the files *.sh, none of
// which is to be executable.
//
//go:embed *.sh
var Files embed.FS
