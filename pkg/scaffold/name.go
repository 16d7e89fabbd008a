package scaffold

import (
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/text/toolnames"
)

// checkName returns an error for an invalid name (CLI-505, CLI-602). The kind of
// item, what, is "server", "tool", ...
func checkName(what, name string) error {
	if toolnames.IsPortable(name) && !isDevice(name) {
		return nil
	}
	if toolnames.IsPortable(name) {
		return cli.Usagef("Invalid %s name: %s is a device on Windows; choose another", what, name)
	}
	return cli.Usagef("Invalid %s name: use alphanumerics, underscore, dash only (1-64 chars); "+
		"no dots, paths, or traversal (Some clients including Claude Desktop rejects dots).", what)
}

// isDevice reports whether Windows reserves a name for a device, in every directory.
func isDevice(name string) bool {
	switch name = strings.ToUpper(name); name {
	case "CON", "PRN", "AUX", "NUL":
		return true
	}
	port := strings.HasPrefix(name, "COM") || strings.HasPrefix(name, "LPT")
	return port && len(name) == 4 && name[3] >= '1' && name[3] <= '9'
}
