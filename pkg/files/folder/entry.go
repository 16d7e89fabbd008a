package folder

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"
)

// An Entry is a file or a directory in a [Dir]. Listings omit hidden names and symbolic links. They include
// links named like metadata files, so that the registry can warn about them.
type Entry struct {
	Name  string
	IsDir bool
	Odd   bool // neither a file nor a directory
}

// MetadataSuffix ends the name of a metadata file.
const MetadataSuffix = ".meta.json"

// isOdd reports whether listings include a name that is neither a file nor a directory.
func isOdd(name string) bool { return strings.HasSuffix(name, MetadataSuffix) }

var errNotRegular = errors.New("not a regular file")

func hidden(name string) bool { return strings.HasPrefix(name, ".") }

func sortEntries(list []Entry) {
	slices.SortFunc(list, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
}

// Unusable returns why the file name cannot be used, "" when it can.
func Unusable(name string) string {
	switch {
	case strings.ContainsAny(name, "\r\n"):
		return "newline/CR"
	case !utf8.ValidString(name):
		return "not UTF-8"
	}
	return ""
}
