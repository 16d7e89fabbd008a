package tool

import (
	"encoding/json"
	"fmt"
	"time"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/settings"
)

// A clock decides when a script has used its time (T-150 to T-160). It is stopped while a question
// to the client is open (T-126).
type clock struct {
	limit    time.Duration // 0: none
	secs     int           // limit in seconds, for messages
	progress bool          // limit counts from the last progress report
	max      time.Duration // limit for the whole run if progress is set
	maxSecs  int
	option   string // the setting whose default the limit is; "": it is of the tool or the caller

	ran    time.Duration // time counted so far
	idle   time.Duration // time counted since the last progress report
	start  time.Time     // of the script
	last   time.Time     // time of the last tick
	silent bool          // no progress was reported
}

func newClock(calls *project.Calls, e *entry, override int, start time.Time) *clock {
	c := &clock{start: start, last: start, silent: true}
	c.secs = effectiveTimeout(calls, e, override)
	if override <= 0 && e.timeout <= 0 && c.secs > 0 {
		if c.option = "MCPBASH_DEFAULT_TOOL_TIMEOUT"; e.longRunning {
			c.option = "MCPBASH_TASK_TIMEOUT"
		}
	}
	c.limit = settings.Seconds(c.secs)
	c.progress = e.progressExtends || calls.ProgressExtends
	c.maxSecs = calls.MaxTimeout
	if e.maxTimeout > 0 {
		c.maxSecs = e.maxTimeout
	}
	c.max = settings.Seconds(c.maxSecs)
	return c
}

// effectiveTimeout returns the time limit of a call in seconds, or 0: of the request, the tool or
// the settings, in this order (T-150).
func effectiveTimeout(calls *project.Calls, e *entry, override int) int {
	switch {
	case override > 0:
		return override
	case e.timeout > 0:
		return e.timeout
	case e.longRunning:
		return calls.LongTimeout
	}
	return calls.Timeout
}

// EffectiveTimeout returns the time limit of a call in seconds, or 0 for no limit (T-150). item is
// the tool's registry entry. override is the limit of the request, or 0.
func EffectiveTimeout(calls *project.Calls, item json.RawMessage, override int) int {
	e := parseEntry(item)
	return effectiveTimeout(calls, &e, override)
}

// tick advances the clock. active means that the script reported progress since the last tick.
// paused means that this time does not count.
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

type timeoutError struct {
	clock   *clock
	reason  string
	message string
}

func (e *timeoutError) Error() string { return e.message }
