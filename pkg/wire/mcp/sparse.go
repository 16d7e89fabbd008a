package mcp

import (
	"maps"
	"sync"
	"time"

	"mcp-bash/pkg/clock"
)

// The bounds of [Sparse].
const (
	sparsePause = time.Minute
	sparseMost  = 256 // messages in a pause
)

// Sparse returns a LogFunc for faults that clients can cause again and again. It drops a message that it has passed on
// in the last minute, and all others after 256 in a minute.
func Sparse(log LogFunc) LogFunc { return sparse(log, clock.Now) }

func sparse(log LogFunc, now func() time.Duration) LogFunc {
	var mu sync.Mutex
	passed := map[string]time.Duration{}
	return func(level Level, logger, message string) {
		mu.Lock()
		at := now()
		maps.DeleteFunc(passed, func(_ string, then time.Duration) bool { return at-then >= sparsePause })
		_, again := passed[message]
		full := len(passed) == sparseMost
		if !again && !full {
			passed[message] = at
		}
		mu.Unlock()
		if !again && !full {
			log(level, logger, message)
		}
	}
}
