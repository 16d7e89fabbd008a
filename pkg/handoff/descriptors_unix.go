//go:build unix

package handoff

import (
	"sync"

	"golang.org/x/sys/unix"
)

// MostIdle is how many hand-off directories may be kept that nobody uses, with the limit of
// descriptors that this process has.
var MostIdle = sync.OnceValue(func() int { return idleWithin(descriptors()) })

// MostWaiting is how many scripts may wait for somebody, with that limit: others are to be started
// meanwhile.
var MostWaiting = sync.OnceValue(func() int { return waitingWithin(descriptors()) })

// descriptors is how many files this process may have open, 0 when the system does not tell.
func descriptors() uint64 {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return uint64(limit.Cur)
}
