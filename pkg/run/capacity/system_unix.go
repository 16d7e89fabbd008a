//go:build unix

package capacity

import (
	"math"

	"golang.org/x/sys/unix"
)

// Files returns how many files this process may have open, or 0 if that is unlimited or unknown. The Go runtime has
// raised the soft limit to the hard one. Scripts get the soft limit from before.
func Files() int { return int(min(rlimit(unix.RLIMIT_NOFILE), math.MaxInt32)) }

// rlimit returns a limit of this process, or 0 for none.
func rlimit(which int) int64 {
	var l unix.Rlimit
	if unix.Getrlimit(which, &l) != nil || uint64(l.Cur) >= 1<<60 {
		return 0
	}
	return int64(l.Cur)
}

// limits returns the limits of memory and processes outside control groups.
func limits() (memory int64, processes int) {
	memory = least(rlimit(unix.RLIMIT_AS), machineMemory())
	return memory, int(min(rlimit(unix.RLIMIT_NPROC), math.MaxInt32))
}

func spaceOf(dir string) Space {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return Space{Dir: dir}
	}
	return Space{Dir: dir, Free: max(1, int64(s.Bavail)*int64(s.Bsize)), Memory: isMemory(&s)}
}
