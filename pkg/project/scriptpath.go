package project

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// What can be wrong with the script of a tool.
var (
	ErrScriptPath    = errors.New("path rejected by policy") // tools T-41
	ErrScriptMissing = errors.New("tool executable missing") // tools T-9
)

// CheckScript applies the path rules of tools T-41: the script, links resolved,
// lies in the tools directory, is not writable by others, and belongs to us or
// root.
// The error is [ErrScriptPath] or [ErrScriptMissing].
func CheckScript(toolsDir, script string) error {
	if decided, err := checkStraight(toolsDir, script); decided {
		return err
	}
	dir, err := filepath.EvalSymlinks(toolsDir)
	if err != nil {
		return ErrScriptMissing
	}
	physical, err := filepath.EvalSymlinks(script)
	if errors.Is(err, fs.ErrNotExist) {
		// A missing file is no path failure, unless the way to it leads out.
		if clean := filepath.Clean(script); clean != filepath.Clean(toolsDir) && Within(filepath.Clean(toolsDir), clean) {
			return ErrScriptMissing
		}
		return ErrScriptPath
	}
	if err != nil || physical == dir || !Within(dir, physical) {
		return ErrScriptPath
	}
	rel, err := filepath.Rel(dir, physical)
	if err != nil {
		return ErrScriptPath
	}
	// The file is looked at through the directory, so that what is judged is
	// what lies there, not what a link put in its place leads to.
	root, err := os.OpenRoot(dir)
	if err != nil {
		return ErrScriptPath
	}
	defer root.Close()
	info, err := root.Lstat(rel)
	switch {
	case err != nil || info.Mode()&fs.ModeSymlink != 0:
		return ErrScriptPath
	case !info.Mode().IsRegular():
		return ErrScriptMissing
	case DistrustMode(info) != "":
		return ErrScriptPath
	}
	return nil
}
