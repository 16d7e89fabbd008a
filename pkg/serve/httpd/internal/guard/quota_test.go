package guard

import (
	"strings"
	"testing"
	"time"
)

// H-225: clients cannot fill the log.
func TestQuota(t *testing.T) {
	now := time.Now()
	var lines []string
	q := NewQuota(func(line string) { lines = append(lines, line) })
	q.now = func() time.Time { return now }
	for range 10_000 {
		q.Write([]byte("http: TLS handshake error\n"))
	}
	if len(lines) != quotaBurst || lines[0] != "http: TLS handshake error" {
		t.Errorf("%d lines: %q", len(lines), lines[0])
	}
	now = now.Add(quotaPace)
	q.Line(strings.Repeat("é", quotaLine))
	q.Line("not this one")
	if last := lines[len(lines)-1]; len(lines) != quotaBurst+1 || len(last) > quotaLine+64 ||
		!strings.HasSuffix(last, "é (shortened) (9940 similar lines left out)") {
		t.Errorf("%d lines: %q", len(lines), last)
	}
	now = now.Add(quotaPace)
	if q.Line("two"); lines[len(lines)-1] != "two (1 similar lines left out)" {
		t.Errorf("%q", lines[len(lines)-1])
	}
	now = now.Add(2 * quotaPace)
	q.Line("three")
	if q.Line("four"); lines[len(lines)-1] != "four" {
		t.Errorf("%q", lines[len(lines)-1])
	}
}
