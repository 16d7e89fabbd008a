package helper

import (
	"path/filepath"

	"mcp-bash/pkg/files/trust"
)

// toolPath tells whether a script may be run as a tool: the project, the
// directory of the tools, then the script (T-28, T-41).
func toolPath(args []string, _ []byte) ([]byte, int) {
	script, err := filepath.Abs(args[2])
	if err != nil || trust.CheckScript(args[0], args[1], script) != nil {
		return nil, exitNo
	}
	return nil, exitOK
}
