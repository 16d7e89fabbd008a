package folder

import (
	"errors"
	"path/filepath"
)

// Vanished reports whether an error means that a listed entry was removed or replaced meanwhile.
func Vanished(err error) bool { return Missing(err) || errors.Is(err, errNotRegular) }

// Label returns a directory for messages: relative to the root of the project if it is in it.
func Label(root, dir string) string {
	if rel, err := filepath.Rel(root, dir); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(dir)
}
