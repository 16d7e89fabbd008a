// Package folder reads directories that other programs may be changing.
//
// A [Dir] is an open directory. It opens its files by name, follows no symbolic link, and never blocks on a FIFO or
// a device. A [Stamp] is the identity, size and times of a file. An unchanged stamp means an unchanged file, if the
// stamp is [Stamp.Settled]. An [Observation] is a path with its stamp. A result that depends on the path stays valid
// until the stamp changes.
package folder

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// A Stamp is the metadata of a file. Every change of the file changes its stamp, unless the stamp was taken too soon
// after another change (see [Stamp.Settled]). A missing file has the zero stamp.
type Stamp struct {
	Dev, Ino, Size uint64
	Mode           fs.FileMode // permissions; irregular unless it is a file or a directory
	Mtime, Ctime   int64       // nanoseconds since 1970; ctime is 0 on systems without it
}

// Exists reports whether the file existed.
func (s Stamp) Exists() bool { return s != Stamp{} }

// IsFile reports whether the file existed and was regular.
func (s Stamp) IsFile() bool { return s.Exists() && s.Mode.IsRegular() }

// Clocks of file systems advance in steps, and two changes within one step get the same time. File systems with
// nanoseconds use a clock that ticks every few milliseconds. Others count whole seconds, or two seconds (FAT).
const (
	fineStep   = 100 * time.Millisecond
	coarseStep = 2100 * time.Millisecond
)

// Coarse reports whether the time of change is a whole millisecond. Such file systems may not update the times of a
// directory when its entries change (FAT).
func (s Stamp) Coarse() bool { return s.Ctime%int64(time.Millisecond) == 0 }

// Settled reports whether a change after the time now, on the clock of the file system, would change the stamp. If
// not, the caller treats the file as changed the next time. The result is false on systems without a time of change,
// because programs can set the time of modification.
func (s Stamp) Settled(now time.Time) bool {
	if !s.Exists() {
		return true
	}
	step := fineStep
	if s.Coarse() {
		step = coarseStep
	}
	return s.Ctime != 0 && s.Ctime < now.Add(-step).UnixNano()
}

// An Observation is a path on which a result depends, with its stamp.
type Observation struct {
	Name     string // relative to the directory; absolute for files outside of it, such as icons
	Resolved string // the absolute path with links resolved
	Stamp    Stamp
}

// Observe returns the observation of an absolute path. It follows links, and includes their target.
func Observe(path string) Observation {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return Observation{Name: path}
	}
	return Observation{path, resolved, StampOfPath(resolved)}
}

// An Entry is a file or a directory in a [Dir]. Listings omit hidden names and symbolic links. They include links named
// like metadata files, so that the registry can warn about them.
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
