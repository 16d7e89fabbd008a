package mcp

import (
	"strconv"
	"testing"
	"time"
)

// CF-4: a fault is logged again after a minute, and there are at most 256 faults in a minute.
func TestSparse(t *testing.T) {
	var now time.Duration
	var got []string
	log := sparse(func(_ Level, _, message string) { got = append(got, message) }, func() time.Duration { return now })
	for _, step := range []struct {
		at      time.Duration
		message string
		passes  bool
	}{
		{0, "a", true}, {0, "a", false}, {time.Second, "b", true}, {sparsePause - 1, "a", false}, {sparsePause, "a", true},
		{sparsePause, "b", false}, {2*sparsePause - 1, "a", false},
	} {
		now = step.at
		before := len(got)
		log(Err, "l", step.message)
		if passes := len(got) > before; passes != step.passes {
			t.Errorf("%q at %s: %t", step.message, step.at, passes)
		}
	}
	now = time.Hour
	before := len(got)
	for i := range 2 * sparseMost {
		log(Err, "l", strconv.Itoa(i))
	}
	if n := len(got) - before; n != sparseMost {
		t.Errorf("%d messages in a minute, want %d", n, sparseMost)
	}
}
