package cli

import (
	"math"
	"strconv"
	"time"
)

// Span parses a whole number of hours, days or weeks, such as 8h, 90d or 12w. It returns false for another text, and
// for more than a Duration can have.
func Span(text string) (d time.Duration, ok bool) {
	units := map[string]time.Duration{"h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}
	at := max(len(text)-1, 0)
	unit := units[text[at:]]
	n, err := strconv.ParseUint(text[:at], 10, 16)
	if unit == 0 || err != nil || n > uint64(math.MaxInt64/unit) {
		return 0, false
	}
	return time.Duration(n) * unit, true
}
