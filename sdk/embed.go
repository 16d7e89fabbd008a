// Package sdk holds the Bash SDK that tool scripts source, so that every binary
// can unpack it where no installation tree is at hand.
package sdk

import "embed"

// Files is the content of the directory that scripts know as MCP_SDK: tool-sdk.sh,
// which they source, and the files of topics that it loads (SDK-6). None of
// them is to be executable.
//
//go:embed *.sh
var Files embed.FS
