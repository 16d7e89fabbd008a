package policy

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"mcp-bash/pkg/project"
)

// What can be wrong with the file of a tool.
var (
	ErrPath    = errors.New("path rejected by policy") // T-41
	ErrMissing = errors.New("tool executable missing") // T-9
)

// CheckPath applies the path rules of T-41: the script, links resolved, lies in
// the tools directory, is not writable by others, and belongs to us or root.
// The error is [ErrPath] or [ErrMissing].
func CheckPath(toolsDir, script string) error {
	dir, err := filepath.EvalSymlinks(toolsDir)
	if err != nil {
		return ErrMissing
	}
	physical, err := filepath.EvalSymlinks(script)
	if errors.Is(err, fs.ErrNotExist) {
		// A missing file is no path failure, unless the way to it leads out.
		if clean := filepath.Clean(script); clean != filepath.Clean(toolsDir) && project.Within(filepath.Clean(toolsDir), clean) {
			return ErrMissing
		}
		return ErrPath
	}
	if err != nil || physical == dir || !project.Within(dir, physical) {
		return ErrPath
	}
	rel, err := filepath.Rel(dir, physical)
	if err != nil {
		return ErrPath
	}
	// The file is looked at through the directory, so that what is judged is
	// what lies there, not what a link put in its place leads to.
	root, err := os.OpenRoot(dir)
	if err != nil {
		return ErrPath
	}
	defer root.Close()
	info, err := root.Lstat(rel)
	switch {
	case err != nil || info.Mode()&fs.ModeSymlink != 0:
		return ErrPath
	case !info.Mode().IsRegular():
		return ErrMissing
	case project.DistrustMode(info) != "":
		return ErrPath
	}
	return nil
}
