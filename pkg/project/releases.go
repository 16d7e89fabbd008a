package project

import (
	"path/filepath"
	"strings"

	"mcp-bash/pkg/files/boundedfile"
)

// Releases returns the address of the releases, or "" if it is unknown. The environment goes before the file RELEASES
// of an installation, which "make release" writes (CLI-1170). home is the installation, or "".
func Releases(env Env, home string) string {
	if base := env["MCPBASH_RELEASE_BASE_URL"]; base != "" || home == "" {
		return base
	}
	text, err := boundedfile.Read(filepath.Join(home, "RELEASES"), 4<<10)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
