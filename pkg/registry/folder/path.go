package folder

import (
	"errors"
	"path/filepath"
)

// Vanished: it was there a moment ago, as something else or not at all.
func Vanished(err error) bool { return Missing(err) || errors.Is(err, errNotRegular) }

// Label names a content directory for people: relative to the project when
// it lies in it.
func Label(root, dir string) string {
	if rel, err := filepath.Rel(root, dir); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(dir)
}
