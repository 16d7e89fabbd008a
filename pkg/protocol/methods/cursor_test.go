package methods

import (
	"strings"
	"testing"
	"time"
)

func FuzzCursor(f *testing.F) {
	f.Add(encodeCursor("tools", 50, "h", time.Unix(0, 0)))
	f.Add("e30=")
	f.Add("e30\n")
	f.Fuzz(func(t *testing.T, cursor string) {
		offset, err := decodeCursor(cursor, "tools", "h")
		if err == nil && (offset < 0 || strings.ContainsAny(cursor, "\r\n")) {
			t.Fatal(offset)
		}
	})
}

// P-2003: a cursor is base64url, with padding or without.
func TestSpellingOfCursors(t *testing.T) {
	for _, hash := range []string{"h", "hh", "hhh"} {
		cursor := encodeCursor("tools", 50, hash, time.Unix(0, 0))
		if offset, err := decodeCursor(cursor, "tools", hash); offset != 50 || err != nil {
			t.Fatal(offset, err)
		}
		for _, other := range []string{"=" + cursor, cursor + "\n", cursor + "=\n", cursor[:9] + "\r\n" + cursor[9:]} {
			if offset, err := decodeCursor(other, "tools", hash); err != errCursor {
				t.Errorf("%q: %d, %v", other, offset, err)
			}
		}
	}
}
