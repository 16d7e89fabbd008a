package throttle

import (
	"testing"
	"time"
)

// P-1500.
func TestAllow(t *testing.T) {
	at := time.Unix(0, 0)
	two := New(2)
	for i, want := range []bool{true, true, false, false, true, false, true} {
		if got := two.Allow(at.Add([]time.Duration{0, 30, 31, 59, 60, 89, 90}[i] * time.Second)); got != want {
			t.Errorf("event %d: %v", i, got)
		}
	}
	unlimited := New(0)
	for range 10 {
		if !unlimited.Allow(at) {
			t.Error("an unlimited throttle drops an event")
		}
	}
}
