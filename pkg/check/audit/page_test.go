package audit

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/events/trail"
)

func pageOf(t *testing.T, entries ...*trail.Entry) string {
	t.Helper()
	p := &Page{}
	for _, e := range entries {
		p.Add(e)
	}
	return written(t, p)
}

func written(t *testing.T, p *Page) string {
	t.Helper()
	var b strings.Builder
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// AUD-34: the page has the figures of all requests, and the number of requests that it does not list.
func TestPage(t *testing.T) {
	denied := call("backup", "ada", events.Denied, 250*time.Millisecond)
	denied.Reason, denied.Queued = "scope", 200*time.Millisecond
	ran := call("hello", "bob", events.Success, time.Second)
	ran.Ran = 750 * time.Millisecond
	ran.Time = ran.Time.Add(time.Hour)
	goesOn := call("ask", "bob", events.Success, time.Second)
	goesOn.Interim = true
	page := pageOf(t, denied, goesOn, ran, &trail.Entry{Type: events.Seal})
	for _, want := range []string{
		"<dt>requests</dt><dd>2</dd>", "<dt>refused</dt><dd>1</dd>", "<dt>failed</dt><dd>0</dd>",
		"one bar for each 1m4s", `aria-label="Refused: at most 1"`, `aria-label="Longest wait: at most 200.0 ms"`,
		`aria-label="Longest script: at most 750.0 ms"`, "2 of 2 pairs", "1 of 1 requests", "2 of 2 requests",
		`<td data-name="OUTCOME">⊘ denied</td>`, `<td data-name="OUTCOME">✓ success</td>`,
		`<td data-name="WHY">scope</td>`, `width="75"`, `fill="url(#wait)" width="20"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(page, "ask") {
		t.Error("the page has a request that goes on")
	}
	refused := call("/mcp", "", events.Denied, time.Second)
	refused.Count = 8
	if page := pageOf(t, refused); !strings.Contains(page, "9 of 9 requests") {
		t.Error("refusals without a line are not counted")
	}
	if empty := pageOf(t); !strings.Contains(empty, "No request was chosen.") || strings.Contains(empty, "<svg") {
		t.Error("a page without requests")
	}
}

// AUD-34: texts that clients choose never become markup.
func TestHostilePage(t *testing.T) {
	const evil = `</td></style><script>alert(1)</script>"'><img src=x onerror=alert(1)>{{.}}` + "\u202e\x1b[31m\n"
	e := call(evil, evil, evil, time.Second)
	e.Client, e.Address, e.Reason, e.Status, e.Method = evil, evil, evil, evil, evil
	exits := call(evil, "", events.Denied, time.Second)
	exits.Client, exits.Reason, exits.Status = evil, "exit_status", evil
	page := pageOf(t, e, exits)
	usual := call("a", "", events.Denied, time.Second)
	usual.Client = "a"
	harmless := pageOf(t, call("a", "a", events.Denied, time.Second), usual)
	for _, of := range []string{"<script", "<img", "</style>", "</td>", "\u202e", "\x1b"} {
		if got, want := strings.Count(page, of), strings.Count(harmless, of); got != want {
			t.Errorf("%q is there %d times, want %d", of, got, want)
		}
	}
	for _, of := range []string{"http:", "https:", "src=", "href=", "@import", "javascript"} {
		if strings.Contains(harmless, of) {
			t.Errorf("the page has %s", of)
		}
	}
}

// AUD-34: neither the page nor its memory grows with the record, whatever the record contains.
func TestPageIsBounded(t *testing.T) {
	const requests = 20_000
	long := strings.Repeat("<", 1100)
	p := &Page{}
	add := func(from, to int) {
		for i := from; i < to; i++ {
			e := call(fmt.Sprint(i, long[:200]), fmt.Sprint(i), events.Denied, time.Duration(i)*time.Millisecond)
			e.Outcome, e.Reason, e.Address = events.Outcome(long), long, long
			e.Raw, e.Arguments = make([]byte, 64), make([]byte, 64)
			e.Time = e.Time.Add(time.Duration(i) * time.Second)
			p.Add(e)
		}
	}
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	add(0, maxGroups)
	first, before := len(written(t, p)), heap()
	add(maxGroups, requests)
	page := written(t, p)
	if grown := heap() - before; grown > 1<<20 {
		t.Errorf("the memory grew by %d bytes", grown)
	}
	if len(page) > first+first/10 || len(page) > 1<<20 {
		t.Errorf("the page has %d bytes after %d", len(page), first)
	}
	for _, want := range []string{"100 of 20000 requests", "100 of 2001 pairs", "<dd>20000</dd>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if bars := strings.Count(page, "<title>") - 1; bars > maxIntervals*len(figureNames) {
		t.Errorf("%d bars", bars)
	}
	runtime.KeepAlive(p)
}

// A timeline counts every request, even before its beginning and at extreme times.
func TestTimeline(t *testing.T) {
	var tl timeline
	begin := time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)
	for _, at := range []time.Time{
		begin, begin.Add(-time.Hour), begin.Add(90 * time.Second), begin.Add(96 * time.Second), begin.AddDate(1000, 0, 0), {},
	} {
		tl.add(&trail.Entry{Time: at, Outcome: events.Success, Queued: time.Duration(tl.used)})
	}
	sum := int64(0)
	for _, f := range tl.parts {
		sum += f[0]
	}
	if sum != 6 || tl.used > maxIntervals || tl.parts[0][0] != 5 {
		t.Errorf("%d requests, %d of %d intervals used, %d in the first", sum, tl.used, maxIntervals, tl.parts[0][0])
	}
}
