package policy

import "mcp-bash/pkg/project"

// What can be wrong with the file of a tool.
var (
	ErrPath    = project.ErrScriptPath    // T-41
	ErrMissing = project.ErrScriptMissing // T-9
)

// CheckPath judges a script by where it lies and whose it is; see
// [project.CheckScript]. The error is [ErrPath] or [ErrMissing].
func CheckPath(toolsDir, script string) error { return project.CheckScript(toolsDir, script) }
