package tomledit

import (
	"fmt"
	"strings"
	"testing"
)

// repeated writes lines, each with its number.
func repeated(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// CLI-711: a file has a bounded number of keys, however they are written, because the decoder's work grows with the
// square of it. A file beyond the bound is refused before it is decoded.
func TestMaxKeys(t *testing.T) {
	for _, tc := range []struct {
		name, before, each, after string
		keys                      int // of each
	}{
		{"pairs", "", "k%d = 1\n", "", 1},
		{"tables", "", "[k%d]\n", "", 1},
		{"pairs of tables", "", "[k%d]\na = 1\n", "", 2},
		{"tables of a table", "", "[t.k%d]\n", "", 2},
		{"tables of an array", "", "[[t]]\nk%d = 1\n", "", 2},
		{"dotted keys", "", "t.k%d.x.y = 1\n", "", 4},
		{"an inline table", "t = {", "k%d = 1, ", "a.b.c = 1}\n", 1},
		{"inline tables", "t = [", "{k%d = 1}, ", "[[]]]\n", 2},
	} {
		text := func(n int) []byte { return []byte(tc.before + repeated(tc.each, n) + tc.after) }
		fits := (maxKeys - 5) / tc.keys
		if tc.after == "" {
			fits = maxKeys / tc.keys
		}
		if _, err := Open(text(fits)); err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
		for _, n := range []int{fits + 2, 4 * fits} {
			if _, err := Open(text(n)); err == nil || !strings.HasSuffix(err.Error(), ": more than 5000 keys") {
				t.Errorf("%s: %v", tc.name, err)
			}
		}
	}
	// Values in arrays do not count.
	if _, err := Open([]byte("a = [" + repeated("%d, ", 4*maxKeys) + "]\n")); err != nil {
		t.Error(err)
	}
}
