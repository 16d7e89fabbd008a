package script

import (
	"os"
	"path/filepath"
)

// Sibling returns the path of a program next to this one, or "".
func Sibling(name string) string {
	exe, err := os.Executable()
	if err != nil {
		return ""
	}
	if physical, err := filepath.EvalSymlinks(exe); err == nil {
		exe = physical
	}
	return LookPath(name, filepath.Dir(exe))
}
