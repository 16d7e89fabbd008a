// Package sdk contains the Bash SDK that tool scripts source. Every binary can unpack it if there
// is no installation tree.
package sdk

import (
	"embed"
	"regexp"
)

// Files are the files of the directory MCP_SDK: tool-sdk.sh, which scripts source, and the topics
// that it loads (SDK-6). They are not executable.
//
//go:embed *.sh
var Files embed.FS

// Functions returns the names of the public functions. tool-sdk.sh defines all of them.
func Functions() (names []string) {
	text, _ := Files.ReadFile("tool-sdk.sh") // embedded: it is there
	for _, m := range regexp.MustCompile(`(?m)\b(mcp_\w+)\(\)`).FindAllSubmatch(text, -1) {
		names = append(names, string(m[1]))
	}
	return names
}
