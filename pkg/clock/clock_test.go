package clock

import "testing"

// The zero value of a shared time is before all others.
func TestNow(t *testing.T) {
	before := Now()
	if before <= 0 {
		t.Error(before)
	}
	if after := Now(); after < before {
		t.Errorf("%v after %v", after, before)
	}
}
