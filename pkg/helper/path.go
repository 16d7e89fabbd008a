package helper

import (
	"encoding/json"
	"os"
	"path/filepath"

	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/swap"
	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/project/policy"
)

// physicalPath resolves a path. If there are roots, it also checks that one of them contains the
// path (SDK-131, SDK-132).
func physicalPath(args []string, _ []byte) ([]byte, int) {
	path := physical(args[0])
	roots := args[1:]
	for _, root := range roots {
		if fsys.Within(filepath.FromSlash(physical(root)), filepath.FromSlash(path)) {
			return []byte(path), exitOK
		}
	}
	if len(roots) > 0 {
		return []byte(path), exitNo
	}
	return []byte(path), exitOK
}

// physical returns an absolute path without links, dots and redundant slashes. Parts that do not
// exist stay as they are. So does a path in a ring of links.
func physical(path string) string {
	if !filepath.IsAbs(path) {
		here, err := os.Getwd()
		if err != nil {
			here = "/"
		}
		path = here + "/" + path
	}
	resolved, ok := fsys.Follow(path, true)
	if !ok {
		resolved = filepath.Clean(path)
	}
	return filepath.ToSlash(resolved)
}

// exchange exchanges two paths. If the system cannot, install.sh renames them in two steps, and
// reports errors itself.
func exchange(args []string, _ []byte) ([]byte, int) {
	if err := swap.Exchange(args[0], args[1]); err != nil {
		return nil, exitNo
	}
	return nil, exitOK
}

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
