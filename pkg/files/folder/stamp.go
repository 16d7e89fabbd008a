package folder

import (
	"io/fs"
	"path/filepath"
	"time"
)

// A Stamp is the metadata of a file. Every change of the file changes its stamp, unless the stamp was taken too soon
// after another change (see [Stamp.Settled]). The zero stamp stands for a missing file.
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
	Name     string // relative to the directory, or absolute if it is elsewhere (icons)
	Resolved string // an absolute path with links resolved
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
