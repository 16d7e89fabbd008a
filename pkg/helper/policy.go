package helper

import (
	"encoding/json"
	"path/filepath"

	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/project/policy"
)

// toolPolicy makes the checks of the built-in policy (T-33). The input is the
// tool's registry entry, as policy.sh was given it.
func toolPolicy(args []string, input []byte) ([]byte, int) {
	list := policy.ReadList(args[1], args[2], args[3])
	refusal := list.CheckDefault(args[0], json.RawMessage(input), args[4], args[5])
	if refusal == nil {
		return nil, exitOK
	}
	return append([]byte(refusal.Message+"\n"), refusal.Data...), exitNo
}

// toolPath checks that a script may run as a tool. Its arguments are the project, the directory of
// the tools and the script (T-28, T-41).
func toolPath(args []string, _ []byte) ([]byte, int) {
	script, err := filepath.Abs(args[2])
	if err != nil || trust.CheckScript(args[0], args[1], script) != nil {
		return nil, exitNo
	}
	return nil, exitOK
}
