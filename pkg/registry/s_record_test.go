package registry

import (
	"testing"
	"time"
)

// a directory is believed by its stamp, but not by one that is
// too young or too coarse to tell.
func TestDirectoryStamps(t *testing.T) {
	now := time.Unix(1000, 5)
	old, young := now.Add(-time.Hour).UnixNano(), now.UnixNano()
	for _, tc := range []struct {
		self stamp
		kept bool
	}{
		{stamp{ino: 1, ctime: old}, true},
		{stamp{ino: 1, ctime: young}, false},
		{stamp{ino: 1, ctime: old - 5}, false}, // whole milliseconds
		{stamp{ino: 1}, false},                 // no such time at all
	} {
		r := record{self: tc.self}
		r.settle(now)
		if r.self.exists() != tc.kept || r.unsure { // a listing still tells
			t.Errorf("%+v", r)
		}
	}
}
