package helper

import (
	"encoding/json"

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
