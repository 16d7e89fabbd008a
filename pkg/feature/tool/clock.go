package tool

import (
	"encoding/json"
	"fmt"
	"time"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/settings"
)

// A clock says when a script has had its time (T-150 to T-160). It stands
// still while a question to the client is open (T-126).
type clock struct {
	limit    time.Duration // 0: none
	secs     int           // limit, as the messages give it
	progress bool          // the limit counts from the last sign of life
	max      time.Duration // and this from the start, when progress is set
	maxSecs  int
	byOption bool // the limit is the operator's default, not the tool's or the caller's

	ran    time.Duration // time counted so far
	idle   time.Duration // time counted since the last sign of life
	last   time.Time     // when tick was last called
	silent bool          // no progress was ever reported
}

func newClock(calls *project.Calls, e *entry, override int, start time.Time) *clock {
	c := &clock{last: start, silent: true}
	c.secs = effectiveTimeout(calls, e, override)
	c.byOption = override <= 0 && e.timeout <= 0 && c.secs > 0
	c.limit = settings.Seconds(c.secs)
	c.progress = e.progressExtends || calls.ProgressExtends
	c.maxSecs = calls.MaxTimeout
	if e.maxTimeout > 0 {
		c.maxSecs = e.maxTimeout
	}
	c.max = settings.Seconds(c.maxSecs)
	return c
}

// effectiveTimeout returns the time a call has, in seconds, 0 for no limit: the first
// that is given by the request, the tool and the settings (T-150).
func effectiveTimeout(calls *project.Calls, e *entry, override int) int {
	switch {
	case override > 0:
		return override
	case e.timeout > 0:
		return e.timeout
	}
	return calls.Timeout
}

// EffectiveTimeout is how long a call of a tool may take, in seconds; 0: as
// long as it likes (T-150). item is its registry entry, override what the
// caller asks for or 0.
func EffectiveTimeout(calls *project.Calls, item json.RawMessage, override int) int {
	e := parseEntry(item)
	return effectiveTimeout(calls, &e, override)
}

// tick advances the clock. active says that the script has shown a sign of life
// since the last tick, paused that the time since then does not count.
func (c *clock) tick(now time.Time, active, paused bool) error {
	passed := now.Sub(c.last)
	c.last = now
	if active {
		c.idle, c.silent = 0, false
	} else if !paused {
		c.idle += passed
	}
	if !paused {
		c.ran += passed
	}
	switch {
	case c.limit <= 0:
		return nil
	case !c.progress && c.ran >= c.limit:
		return &timeoutError{c, "fixed", fmt.Sprintf("Tool timed out after %ds", c.secs)}
	case c.progress && c.idle >= c.limit:
		return &timeoutError{c, "idle", fmt.Sprintf("Tool timed out after %ds (no progress reported)", c.secs)}
	case c.progress && c.ran >= c.max:
		return &timeoutError{c, "max_exceeded", fmt.Sprintf("Tool exceeded maximum runtime of %ds", c.maxSecs)}
	}
	return nil
}

// A timeoutError ends a script whose time is over.
type timeoutError struct {
	clock   *clock
	reason  string
	message string
}

func (e *timeoutError) Error() string { return e.message }
