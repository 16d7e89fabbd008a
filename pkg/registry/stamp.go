package registry

import (
	"io/fs"
	"time"
)

// A stamp is what the system says of a file without opening it. The same file
// has another one as soon as it is changed in any way, provided the first was
// not taken too soon after a change; see [stamp.settled]. The zero stamp
// stands for a file that is not there.
type stamp struct {
	dev, ino, size uint64
	mode           fs.FileMode // permissions; irregular for all but files and directories
	mtime, ctime   int64       // nanoseconds since 1970; ctime 0 where there is none
}

func (s stamp) exists() bool { return s != stamp{} }

func (s stamp) isFile() bool { return s.exists() && s.mode.IsRegular() }

// Clocks of file systems advance in steps: two changes within one step cannot
// be told apart. Those that count in nanoseconds take the time from a clock
// that ticks every few milliseconds; where times are round, the file system
// itself may count in whole seconds, or in pairs of them (FAT).
const (
	fineStep   = 100 * time.Millisecond
	coarseStep = 2100 * time.Millisecond
)

// coarse: where times are round, those of a directory need not tell of what
// happens in it either (FAT).
func (s stamp) coarse() bool { return s.ctime%int64(time.Millisecond) == 0 }

// settled reports whether a change after the moment now, on the clock of the
// file system, would change the stamp. If not, the file has to be taken for
// changed the next time. A system that does not tell when a file was changed,
// only a time that every copying program sets, never lets us be sure.
func (s stamp) settled(now time.Time) bool {
	if !s.exists() {
		return true
	}
	step := fineStep
	if s.coarse() {
		step = coarseStep
	}
	return s.ctime != 0 && s.ctime < now.Add(-step).UnixNano()
}
