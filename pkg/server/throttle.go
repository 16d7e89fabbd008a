package server

import "time"

// A throttle lets n events pass in any window of a minute (protocol P-1500).
type throttle struct {
	limit int // 0: none
	past  []time.Time
}

const throttleWindow = time.Minute

func (t *throttle) allow(now time.Time) bool {
	if t.limit == 0 {
		return true
	}
	keep := 0
	for keep < len(t.past) && now.Sub(t.past[keep]) >= throttleWindow {
		keep++
	}
	t.past = t.past[keep:]
	if len(t.past) >= t.limit {
		return false
	}
	t.past = append(t.past, now)
	return true
}
