package audit

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/events/trail"
)

func call(tool, caller string, outcome events.Outcome, took time.Duration) *trail.Entry {
	return &trail.Entry{
		Type: events.ToolCall, Method: "tools/call", Target: tool, User: caller, Outcome: outcome, Took: took,
		Time: time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC),
	}
}

// AUD-30: the summary has the times within which 50 % and 99 % of the requests were answered. A request counts once,
// and refusals without a line count.
func TestSummary(t *testing.T) {
	var s Summary
	for i := range 100 {
		s.Add(call("hello", "ada", events.Success, time.Duration(i+1)*time.Millisecond))
	}
	goesOn := call("hello", "ada", events.Success, time.Hour)
	goesOn.Interim = true
	s.Add(goesOn)
	s.Add(call("hello", "bob", events.ApplicationError, 1234567*time.Nanosecond))
	refused := call("/mcp", "", events.Denied, time.Microsecond)
	refused.Type, refused.Count = events.HTTPRequest, 8
	s.Add(refused)
	batch := call("hello", "bob", events.Failure, 1234567*time.Nanosecond)
	batch.Count = 1
	s.Add(batch)
	s.Add(&trail.Entry{Type: events.Seal})
	const want = `{"target":"hello","caller":"ada","calls":100,"refused":0,"failed":0,"p50Ms":51,"p99Ms":100}
{"target":"/mcp","caller":"anonymous","calls":9,"refused":9,"failed":0,"p50Ms":0.001,"p99Ms":0.001}
{"target":"hello","caller":"bob","calls":3,"refused":0,"failed":3,"p50Ms":1.2,"p99Ms":1.2}
`
	if got := string(s.AppendJSON(nil)); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// The summary stays bounded although clients choose names and records can contain any duration.
func TestSummaryIsBounded(t *testing.T) {
	var s Summary
	for i := range 3 * maxGroups {
		s.Add(call("hello", fmt.Sprint("client", i), events.Success, time.Second))
	}
	if len(s.groups) != maxGroups+1 || s.groups[others].Calls != 2*maxGroups {
		t.Errorf("%d groups, %d other calls", len(s.groups), s.groups[others].Calls)
	}
	const most = `{"target":"(others)","caller":"(others)","calls":4000,`
	if text := string(s.AppendJSON(nil)); !strings.HasPrefix(text, most) {
		t.Errorf("%.200s", text)
	}
	s = Summary{}
	for d := time.Duration(1); d < 1<<60; d += 1 + d/1000 {
		s.Add(call("hello", "ada", events.Success, d))
	}
	if n := len(s.groups[[2]string{"hello", "ada"}].took); n > 1300 {
		t.Errorf("%d different durations", n)
	}
}

// AUD-30: with --all, sessions belong to their callers, and other events to the server.
func TestCallerOfEvents(t *testing.T) {
	session := &trail.Entry{Type: events.Initialize, Method: "initialize", User: "ada"}
	seal := &trail.Entry{Type: events.Seal}
	for name, e := range map[string]*trail.Entry{"ada initialize": session, "server seal": seal} {
		row := Row(e)
		if got := row[1] + " " + row[2]; got != name {
			t.Errorf("%s, want %s", got, name)
		}
		if s := (Selection{All: true, Caller: row[1]}); !s.Has(e) {
			t.Errorf("--caller %s does not choose %s", row[1], row[2])
		}
	}
}

// AUD-30: rows of --follow have the same columns, however long their cells are.
func TestAligned(t *testing.T) {
	want := strings.Index(Aligned(Columns()), "OUTCOME")
	for _, name := range []string{"hello", strings.Repeat("x", 900), "a\nb\x1b"} {
		row := Aligned(Row(call(name, name, events.Denied, 0)))
		got := strings.Index(strings.ReplaceAll(row, "…", "."), "denied")
		if got != want || strings.ContainsAny(row, "\n\x1b") {
			t.Errorf("%q", row)
		}
	}
}

// AUD-3: the row of a refusal has the number of other refusals that were left out.
func TestRowOfRefusals(t *testing.T) {
	e := call("/mcp", "", events.Denied, 0)
	e.Type, e.Reason, e.Count = events.HTTPRequest, "credential", 149
	if got := Row(e)[4]; got != "credential (149 more)" {
		t.Error(got)
	}
}

// A call that continues is not shown as finished.
func TestRowOfInterim(t *testing.T) {
	e := call("hello", "ada", events.Success, 0)
	e.Interim = true
	if got := Row(e)[4]; got != "goes on" {
		t.Error(got)
	}
}
