package suite

import (
	"strings"
	"testing"

	"mcp-bash/pkg/runtool/cases"
)

// CLI-2104: texts of several lines are compared line by line, and control characters are escaped.
func TestDetails(t *testing.T) {
	long := strings.Repeat("x", maxShown)
	for _, tc := range []struct {
		d    cases.Difference
		want string
	}{
		{cases.Difference{What: "text", Want: "a", Got: "b\x1b[2J"}, "text\n  - a\n  + b\\u001b[2J\n"},
		{cases.Difference{What: "text", Want: "", Got: "b"}, "text\n  - \n  + b\n"},
		{cases.Difference{What: "the call failed", Got: "a\nb"}, "the call failed\n  + a\n  + b\n"},
		{cases.Difference{What: "text", Want: "a\nb\nc", Got: "a\nc"}, "text\n   a\n  -b\n   c\n"},
		{cases.Difference{What: "text", Want: "a", Got: "a\nb"}, "text\n   a\n  +b\n"},
		{cases.Difference{What: "failed", Got: long}, "failed\n  + " + long + "\n"},
		{cases.Difference{What: "failed", Got: long + "y"}, "failed\n  + " + long + "…\n"},
	} {
		r := &result{differences: []cases.Difference{tc.d}}
		if got := string(r.details("")); got != tc.want {
			t.Errorf("%.80q\nwant\n%.80q", got, tc.want)
		}
	}
}
