package server

import "time"

// A window counts the events of the time that has just gone by.
type window struct {
	length time.Duration
	events []time.Time
}

// count returns how many events lie in the window that ends now.
func (w *window) count(now time.Time) int {
	past := 0
	for past < len(w.events) && now.Sub(w.events[past]) >= w.length {
		past++
	}
	w.events = w.events[past:]
	return len(w.events)
}

// add counts an event.
func (w *window) add(now time.Time) { w.events = append(w.events, now) }

// A throttle lets so many events pass in any minute; 0 for any number (P-1500).
type throttle struct {
	limit int
	past  window
}

func newThrottle(limit int) throttle {
	return throttle{limit: limit, past: window{length: time.Minute}}
}

// allow reports whether one more event may pass, and counts it if so.
func (t *throttle) allow(now time.Time) bool {
	if t.limit == 0 {
		return true
	}
	if t.past.count(now) >= t.limit {
		return false
	}
	t.past.add(now)
	return true
}
