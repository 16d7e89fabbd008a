package folder

import (
	"errors"
	"path/filepath"
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

// Vanished reports whether an error means that a listed entry was removed or replaced meanwhile.
func Vanished(err error) bool { return Missing(err) || errors.Is(err, errNotRegular) }

// Label returns a directory for messages: relative to the root of the project if it is in it.
func Label(root, dir string) string {
	if rel, err := filepath.Rel(root, dir); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(dir)
}

// ErrTooLarge is the error for a file above the limit.
var ErrTooLarge = errors.New("too large")

// ReadFile reads a regular file of at most limit bytes. It follows no link and never blocks. The error may be
// [ErrTooLarge].
func ReadFile(file string, limit int) ([]byte, Stamp, error) {
	dir, err := Open(filepath.Dir(file))
	if err != nil {
		return nil, Stamp{}, err
	}
	defer dir.Close()
	f, err := dir.OpenFile(filepath.Base(file))
	if err != nil {
		return nil, Stamp{}, err
	}
	defer f.Close()
	if f.Stamp.Size > uint64(limit) {
		return nil, f.Stamp, ErrTooLarge
	}
	text := make([]byte, f.Stamp.Size)
	n, err := f.Read(text)
	return text[:n], f.Stamp, err
}
