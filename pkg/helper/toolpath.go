package helper

import (
	"path/filepath"

	"mcp-bash/pkg/files/trust"
)

// toolPath checks that a script may run as a tool. Its arguments are the project, the directory of
// the tools and the script (T-28, T-41).
func toolPath(args []string, _ []byte) ([]byte, int) {
	script, err := filepath.Abs(args[2])
	if err != nil || trust.CheckScript(args[0], args[1], script) != nil {
		return nil, exitNo
	}
	return nil, exitOK
}
