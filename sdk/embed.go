// Package sdk contains the Bash SDK that tool scripts source. Every binary can unpack it if there
// is no installation tree.
package sdk

import "embed"

// Files are the files of the directory MCP_SDK: tool-sdk.sh, which scripts source, and the topics
// that it loads (SDK-6). They are not executable.
//
//go:embed *.sh
var Files embed.FS
