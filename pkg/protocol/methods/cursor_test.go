package methods

import (
	"testing"
	"time"
)

func FuzzCursor(f *testing.F) {
	f.Add(encodeCursor("tools", 50, "h", time.Unix(0, 0)))
	f.Add("e30=")
	f.Fuzz(func(t *testing.T, cursor string) {
		if offset, err := decodeCursor(cursor, "tools", "h"); err == nil && offset < 0 {
			t.Fatal(offset)
		}
	})
}
