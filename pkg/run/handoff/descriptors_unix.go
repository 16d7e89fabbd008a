//go:build unix

package handoff

import (
	"sync"

	"golang.org/x/sys/unix"
)

// MostIdle returns how many unused hand-off directories may be kept, given this process's
// limit on descriptors.
var MostIdle = sync.OnceValue(func() int { return idleWithin(descriptors()) })

// MostWaiting returns how many scripts may wait at the same time, given that limit. Other
// scripts must be able to start.
var MostWaiting = sync.OnceValue(func() int { return waitingWithin(descriptors()) })

// descriptors returns how many files this process may have open, or 0 if that is unknown.
func descriptors() uint64 {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return uint64(limit.Cur)
}
