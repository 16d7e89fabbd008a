// Package clock measures durations that goroutines share, such as the time since something was last used. The wall
// clock of a machine can be set back or forward, and then such a duration must not change.
package clock

import (
	"sync"
	"time"
)

var start = sync.OnceValue(time.Now)

// Now returns a positive time that only grows, since the first call of the process. Two of its values can be
// subtracted, and fit an [sync/atomic.Int64]. A [time.Time] of [time.Now] keeps such a time as well, but not its
// number of nanoseconds or seconds since 1970.
func Now() time.Duration { return time.Since(start()) + 1 }
