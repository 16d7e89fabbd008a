package folder

import (
	"io/fs"
	"time"
)

// A Stamp is what the system says of a file without opening it. The same file
// has another one as soon as it is changed in any way, provided the first was
// not taken too soon after a change (see [Stamp.Settled]). The zero stamp stands
// for a file that is not there.
type Stamp struct {
	Dev, Ino, Size uint64
	Mode           fs.FileMode // permissions; irregular for all but files and directories
	Mtime, Ctime   int64       // nanoseconds since 1970; ctime 0 where there is none
}

// Exists reports whether there was anything.
func (s Stamp) Exists() bool { return s != Stamp{} }

// IsFile reports whether there was a regular file.
func (s Stamp) IsFile() bool { return s.Exists() && s.Mode.IsRegular() }

// Clocks of file systems advance in steps: two changes within one step cannot
// be told apart. Those that count in nanoseconds take the time from a clock
// that ticks every few milliseconds; where times are round, the file system
// itself may count in whole seconds, or in pairs of them (FAT).
const (
	fineStep   = 100 * time.Millisecond
	coarseStep = 2100 * time.Millisecond
)

// Coarse reports whether the time of change is a round one. Where times are, those
// of a directory need not tell what happens in it either (FAT).
func (s Stamp) Coarse() bool { return s.Ctime%int64(time.Millisecond) == 0 }

// Settled reports whether a change after the moment now, on the clock of the
// file system, would change the stamp. If not, the file has to be taken for
// changed the next time. A system that does not tell when a file was changed,
// only a time that every copying program sets, never lets us be sure.
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
