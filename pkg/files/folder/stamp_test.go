package folder

import (
	"testing"
	"time"
)

func TestSettled(t *testing.T) {
	at := time.Unix(1000, 123456789)
	for _, tc := range []struct {
		name  string
		ctime time.Time
		want  bool
	}{
		{"long ago", at.Add(-time.Hour), true},
		{"in the future", at.Add(time.Hour), false},
		{"now", at, false},
		{"within a tick", at.Add(-fineStep + time.Nanosecond), false},
		{"a tick ago", at.Add(-fineStep - time.Nanosecond), true},
		{"round, a second ago", time.Unix(999, 0), false},
		{"round, three seconds ago", time.Unix(997, 0), true},
	} {
		s := Stamp{Ino: 1, Ctime: tc.ctime.UnixNano()}
		if s.Settled(at) != tc.want {
			t.Error(tc.name)
		}
	}
	if (Stamp{Ino: 1, Mtime: 5}).Settled(at) {
		t.Error("believed a file without time of change")
	}
	if !(Stamp{}).Settled(at) {
		t.Error("absence is no fact")
	}
}
