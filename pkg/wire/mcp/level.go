package mcp

import (
	"maps"
	"sync"
	"time"

	"mcp-bash/pkg/clock"
	"mcp-bash/pkg/text/ascii"
)

// A Level is the severity of a log message (P-1300). A higher level is more severe.
type Level int8

// The eight levels of RFC 5424 that the protocol uses.
const (
	Debug Level = iota
	Info
	Notice
	Warning
	Err
	Critical
	Alert
	Emergency
)

var levelNames = [...]string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// String returns the name of the level in the protocol.
func (l Level) String() string { return levelNames[l] }

// ParseLevel parses one of the eight names, in any case.
func ParseLevel(name string) (l Level, ok bool) {
	for i, n := range levelNames {
		if ascii.EqualFold(n, name) {
			return Level(i), true
		}
	}
	return Info, false
}

// ParseLevelSetting parses a level of the environment: a name in any case, or true or 1 for
// debug. Everything else is info (P-1301).
func ParseLevelSetting(value string) Level {
	switch ascii.Lower(value) {
	case "true", "1":
		return Debug
	}
	l, _ := ParseLevel(value)
	return l
}

// A LogFunc logs a message of the server. The log is sent to the client, or to standard error in
// a command. logger is one of the names of P-1305.
type LogFunc func(level Level, logger, message string)

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
