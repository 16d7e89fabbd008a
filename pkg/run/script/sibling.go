package script

import (
	"os"
	"path/filepath"
)

// Find returns the path of a program next to this one, or else on a PATH, or "".
func Find(name, path string) string {
	if sibling := Sibling(name); sibling != "" {
		return sibling
	}
	return LookPath(name, path)
}

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
