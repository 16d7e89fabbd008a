// Package lib embeds stubs of the Bash edition's library files, which tool scripts source
// directly (SDK-6, T-65). A stub loads the SDK, which must be unpacked next to it:
// lib/path.sh looks for ../sdk/tool-sdk.sh.
package lib

import "embed"

// Files are the files *.sh of the directory lib of an installation. None is executable.
//
//go:embed *.sh
var Files embed.FS
