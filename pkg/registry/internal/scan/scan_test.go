package scan

import (
	"testing"
	"time"

	"mcp-bash/pkg/files/folder"
)

// the stamp of a directory shows whether it has changed, unless the stamp is too recent or too coarse.
func TestDirectoryStamps(t *testing.T) {
	now := time.Unix(1000, 5)
	old, young := now.Add(-time.Hour).UnixNano(), now.UnixNano()
	for _, tc := range []struct {
		self folder.Stamp
		kept bool
	}{
		{folder.Stamp{Ino: 1, Ctime: old}, true},
		{folder.Stamp{Ino: 1, Ctime: young}, false},
		{folder.Stamp{Ino: 1, Ctime: old - 5}, false}, // whole milliseconds
		{folder.Stamp{Ino: 1}, false},                 // no time of a change
	} {
		r := record{self: tc.self}
		r.settle(now)
		if r.self.Exists() != tc.kept || r.unsure { // without a stamp, the listing is compared
			t.Errorf("%+v", r)
		}
	}
}
