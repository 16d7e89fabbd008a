package folder

import (
	"errors"
	"path/filepath"
)

// Vanished reports whether an error means that what was seen a moment ago is gone
// by now, or has become something else.
func Vanished(err error) bool { return Missing(err) || errors.Is(err, errNotRegular) }

// Label returns a directory as messages name it: relative to the root of the
// project when it lies in it.
func Label(root, dir string) string {
	if rel, err := filepath.Rel(root, dir); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(dir)
}
