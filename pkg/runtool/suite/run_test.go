package suite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/events"
)

// AUD-35: a record has at most so many requests.
func TestRecordedIsBounded(t *testing.T) {
	e := &events.Event{
		Type: events.ToolCall, Target: events.Target{Method: "tools/call", Name: "look"},
		Work: events.Work{Arguments: []byte("{}")},
	}
	line := string(e.AppendLine(nil, time.Now(), events.Link{})) + "\n"
	file := filepath.Join(t.TempDir(), "audit.jsonl.000001")
	if !isRecord(file) || isRecord("tests/audit.yaml") || isRecord("-") {
		t.Error("records have another name")
	}
	for _, row := range []struct {
		requests int
		want     string
	}{
		{maxRecorded, ""}, {maxRecorded + 1, "more than 10000 requests; choose some with mcp-bash audit"},
	} {
		if err := os.WriteFile(file, []byte(strings.Repeat(line, row.requests)), 0o600); err != nil {
			t.Fatal(err)
		}
		tests, err := loadRecord(file)
		if got := ""; err != nil {
			if got = err.Error(); got != row.want {
				t.Errorf("%q, want %q", got, row.want)
			}
		} else if row.want != "" || len(tests) != row.requests {
			t.Errorf("%d tests of %d requests", len(tests), row.requests)
		}
	}
}
