package helper

import "mcp-bash/pkg/project"

// toolPath tells whether a script may be run as a tool: the directory of the
// tools, then the script (tools T-30, T-41).
func toolPath(args []string, _ []byte) ([]byte, int) {
	if project.CheckScript(args[0], args[1]) != nil {
		return nil, exitNo
	}
	return nil, exitOK
}
