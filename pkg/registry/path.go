package registry

import (
	"errors"
	"path/filepath"
)

// vanished: it was there a moment ago, as something else or not at all.
func vanished(err error) bool { return gone(err) || errors.Is(err, errNotRegular) }

// labelOf names a content directory for people: relative to the project when
// it lies in it.
func labelOf(root, dir string) string {
	if rel, err := filepath.Rel(root, dir); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(dir)
}
