package registry

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"
)

// An entry is a file or a directory in a [folder]. There are no others:
// listings leave out what is hidden or a symbolic link.
type entry struct {
	name  string
	isDir bool
}

var errNotRegular = errors.New("not a regular file")

func hidden(name string) bool { return strings.HasPrefix(name, ".") }

func sortEntries(list []entry) {
	slices.SortFunc(list, func(a, b entry) int { return strings.Compare(a.name, b.name) })
}

// oddity says why a name cannot be used, "" when it can.
func oddity(name string) string {
	switch {
	case strings.ContainsAny(name, "\r\n"):
		return "newline/CR"
	case !utf8.ValidString(name):
		return "not UTF-8"
	}
	return ""
}
