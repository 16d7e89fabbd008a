//go:build unix

package handoff

import (
	"sync"

	"golang.org/x/sys/unix"
)

// MostIdle is how many hand-off directories may be kept that nobody uses, with the limit of
// descriptors that this process has.
var MostIdle = sync.OnceValue(func() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 1
	}
	return idleWithin(uint64(limit.Cur))
})
