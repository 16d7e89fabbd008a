// Package throttle limits how many events happen in a minute.
package throttle

import "time"

// A Throttle lets a number of events pass in any minute. It is not safe for concurrent use.
type Throttle struct {
	limit  int // 0: any number
	passed []time.Time
}

// New returns a Throttle for limit events a minute. With limit 0, all events pass.
func New(limit int) Throttle { return Throttle{limit: limit} }

// Allow reports whether one more event may pass, and counts it if so.
func (t *Throttle) Allow(now time.Time) bool {
	if t.limit == 0 {
		return true
	}
	old := 0
	for old < len(t.passed) && now.Sub(t.passed[old]) >= time.Minute {
		old++
	}
	if t.passed = t.passed[old:]; len(t.passed) >= t.limit {
		return false
	}
	t.passed = append(t.passed, now)
	return true
}
