package trail

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/events/seal"
	"mcp-bash/pkg/wire/mcp"
)

// The reader understands every member that the server writes.
func TestReadsWhatIsWritten(t *testing.T) {
	began := time.Date(2026, 11, 28, 9, 0, 0, 123000, time.UTC)
	e := &events.Event{
		Type: events.ResourceRead, Cause: mcp.CauseScope, Began: began, ID: "01",
		Source:  events.Source{Transport: "http", Address: "10.0.0.7:80", RequestID: []byte(`"a"`)},
		Subject: events.Subject{User: "ada", Client: "c"}, Target: events.Target{Method: "resources/read", Name: "file:///a"},
		Work: events.Work{Took: 1500 * time.Microsecond, Queued: time.Millisecond, Ran: 2 * time.Second, Ended: true,
			Status: 3, Code: -32602, Arguments: []byte(`{"a":1}`)},
	}
	line := e.AppendLine(nil, began.Add(time.Second), events.Link{Seq: 7, Prev: events.Hash{9}})
	var got *Entry
	if err := Read(bytes.NewReader(append(line, '\n')), func(e *Entry) error { got = e; return nil }); err != nil {
		t.Fatal(err)
	}
	if got.Broken != nil || got.Type != e.Type || got.Outcome != events.Denied || got.Reason != "scope" ||
		got.Caller() != "ada" || got.Target != "file:///a" || got.Took != e.Work.Took || got.Queued != e.Work.Queued ||
		got.Ran != e.Work.Ran || got.Status != "3" || got.Code != "-32602" || string(got.Arguments) != `{"a":1}` ||
		!got.Began.Equal(began) || got.Link.Seq != 7 || got.Address != "10.0.0.7:80" || got.Hash != events.HashOf(line) {
		t.Errorf("%+v\n%s", got, line)
	}
}

// A log has lines of others, and a collector puts text before each line. The chain goes through the events.
func TestReadLog(t *testing.T) {
	var link events.Link
	event := func(cause mcp.Cause, interim bool) string {
		e := &events.Event{Type: events.ToolCall, Cause: cause, Interim: interim}
		line := e.AppendLine(nil, time.Now(), link)
		link = events.Link{Seq: link.Seq + 1, Prev: events.HashOf(line)}
		return string(line)
	}
	log := strings.Join([]string{
		"mcp-bash: serving http://0.0.0.0:8000/mcp", event("", true), "", "[pod/tools-0/mcp-bash] " + event("", false),
		`{"level":"info"}`, "2026-11-28T09:00:00Z stderr F " + event(mcp.CauseScope, false),
		strings.Repeat("x", events.MaxLine+1), "Nov 28 09:00:00 host mcp-bash[7]: info: {", "",
	}, "\n")
	var v Verifier
	var got []string
	err := ReadLog(strings.NewReader(log), func(e *Entry) error {
		if fault := v.Add(e); fault != nil {
			t.Errorf("%+v", *fault)
		}
		switch {
		case e.Broken == ErrOther:
			got = append(got, "-")
		case e.Interim:
			got = append(got, "goes on")
		default:
			got = append(got, string(e.Outcome))
		}
		return nil
	})
	if want := "- goes on - success - denied - -"; err != nil || strings.Join(got, " ") != want {
		t.Errorf("%q, want %q, %v", got, want, err)
	}
	if v.Head() != link.Prev {
		t.Error("the chain has another end")
	}
	forged := strings.Replace(log, `"outcome":"success"`, `"outcome":"denied"`, 1)
	fault := (*Fault)(nil)
	v = Verifier{}
	ReadLog(strings.NewReader(forged), func(e *Entry) error {
		if found := v.Add(e); fault == nil {
			fault = found
		}
		return nil
	})
	if fault == nil || fault.Kind != Changed || fault.Line != 4 {
		t.Errorf("%+v", fault)
	}
}

// Lines of any length are read in bounded memory.
func TestLongLine(t *testing.T) {
	text := strings.Repeat("x", 3*events.MaxLine) + "\n{}\n" + strings.Repeat("y", events.MaxLine/2)
	var broken []string
	size := int64(0)
	err := Read(strings.NewReader(text), func(e *Entry) error {
		broken = append(broken, e.Broken.Error())
		size += e.Size
		return nil
	})
	want := errLong.Error() + "; " + events.ErrForm.Error() + "; " + ErrTorn.Error()
	if got := strings.Join(broken, "; "); err != nil || got != want {
		t.Errorf("%v: %s", err, got)
	}
	if size != int64(len(text)) {
		t.Errorf("the lines have %d bytes, not %d", size, len(text))
	}
}

// A gap without a seal, and a clock that goes back, are faults.
func TestTimes(t *testing.T) {
	at := time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)
	for _, row := range []struct {
		kind  events.Type
		after time.Duration
		want  Kind
	}{
		{events.ToolCall, time.Minute, ""}, {events.ToolCall, time.Hour, Unsealed}, {events.Start, time.Hour, ""},
		{events.ToolCall, -time.Second, ""}, {events.ToolCall, -time.Minute, Backward},
	} {
		first := (&events.Event{Type: events.Seal}).AppendLine(nil, at, events.Link{})
		second := (&events.Event{Type: row.kind}).AppendLine(nil, at.Add(row.after),
			events.Link{Seq: 1, Prev: events.HashOf(first)})
		var v Verifier
		var got Kind
		Read(bytes.NewReader(bytes.Join([][]byte{first, second, nil}, []byte("\n"))), func(e *Entry) error {
			if fault := v.Add(e); fault != nil {
				got = fault.Kind
			}
			return nil
		})
		if got != row.want {
			t.Errorf("%s after %s: %q, want %q", row.kind, row.after, got, row.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	e := &events.Event{Type: events.ToolCall, Target: events.Target{Method: "tools/call", Name: "x"}}
	f.Add(append(e.AppendLine(nil, time.Now(), events.Link{}), '\n'))
	f.Add([]byte(`{"msg":"audit_event","chain":{"seq":1,"prev":"00"}}` + "\n"))
	f.Add([]byte(`[pod/a/b] {"msg":"audit_event","chain":{"seq":1,"prev":"00"}}` + "\nother\n{"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, read := range []func(io.Reader, func(*Entry) error) error{Read, ReadLog} {
			var v Verifier
			lines := 0
			read(bytes.NewReader(text), func(e *Entry) error {
				v.Add(e)
				lines++
				return nil
			})
			if want := len(bytes.Split(text, []byte("\n"))); lines > want {
				t.Errorf("%d lines of %d", lines, want)
			}
		}
	})
}

// A sealedLine is a line of a test.
type sealedLine struct {
	kind  events.Type
	note  string
	after time.Duration // the line before
	epoch int           // of its key; 0: no seal
}

func call(after time.Duration) sealedLine { return sealedLine{events.ToolCall, "", after, 0} }

func sealAt(epoch int, after time.Duration, note string) sealedLine {
	return sealedLine{events.Seal, note, after, epoch}
}

// AUD-32: each epoch has its seal, in time, and lines have times of their epoch.
func TestSeals(t *testing.T) {
	first, err := seal.Create(filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	const m, h = time.Minute, time.Hour
	start, stop := sealAt(1, 0, "start"), sealAt(3, m, "stop")
	for name, row := range map[string]struct {
		lines   []sealedLine
		current int
		want    string
	}{
		"whole":               {[]sealedLine{start, call(1), sealAt(2, m, ""), call(1), stop}, 4, ""},
		"a stop and a start":  {[]sealedLine{start, sealAt(2, m, "stop"), sealAt(3, h, "start"), call(1)}, 4, ""},
		"a kill and a start":  {[]sealedLine{start, call(m), sealAt(2, h, "start"), stop}, 4, ""},
		"a kill at a seal":    {[]sealedLine{start, sealAt(2, m, ""), sealAt(2, m, "start"), stop}, 4, ""},
		"before the key":      {[]sealedLine{call(0), call(h), sealAt(1, h, "start"), sealAt(2, m, ""), stop}, 4, ""},
		"oldest files gone":   {[]sealedLine{call(0), sealAt(2, m, ""), stop}, 4, ""},
		"no seal at all":      {[]sealedLine{call(0)}, 0, "no line is sealed"},
		"a gap":               {[]sealedLine{start, stop}, 4, "seal number 3 follows seal number 1"},
		"twice":               {[]sealedLine{start, sealAt(2, m, ""), sealAt(2, m, ""), stop}, 4, "number 2 follows"},
		"twice, with lines":   {[]sealedLine{start, sealAt(2, m, ""), call(1), sealAt(2, m, "start")}, 3, "2 follows"},
		"late":                {[]sealedLine{start, sealAt(2, h, "")}, 3, "there is no seal for 1h0m0s"},
		"a late line":         {[]sealedLine{start, call(h), sealAt(2, 1, "start")}, 3, "there is no seal for 1h0m0s"},
		"an early line":       {[]sealedLine{start, sealAt(2, m, ""), call(-m)}, 3, "before that of the last seal"},
		"after a stop":        {[]sealedLine{start, sealAt(2, m, "stop"), call(1)}, 3, "had stopped before it"},
		"older than its seal": {[]sealedLine{call(0), call(h), sealAt(2, 1, "start"), stop}, 4, "before it are missing"},
		"too large a number":  {[]sealedLine{start, {events.Seal, "", m, maxEpoch + 1}}, 0, "follows seal number 1"},
		"too large at first":  {[]sealedLine{{events.Seal, "", m, maxEpoch + 1}}, 0, "too large"},
		"cut to a stop":       {[]sealedLine{start, sealAt(2, m, "stop")}, 9, "up to number 8"},
		"cut":                 {[]sealedLine{start, call(1), sealAt(2, -4*h, "")}, 0, "before that of the last seal"},
	} {
		t.Run(name, func(t *testing.T) {
			at := time.Now().Add(-4 * h)
			s := Seals{Key: first}
			got := ""
			for _, l := range row.lines {
				at = at.Add(l.after)
				line := (&events.Event{Type: l.kind, Note: l.note}).AppendLine(nil, at, events.Link{})
				if l.epoch > 0 {
					key := first
					for key.Epoch < min(l.epoch, 10) {
						key = key.Next()
					}
					key.Epoch = l.epoch
					line = key.Seal(line)
				}
				if fault := s.Add(parse(line)); fault != nil && got == "" {
					got = fault.Text
				}
			}
			if fault := s.End(at, row.current); fault != nil && got == "" {
				got = fault.Text
			}
			if got != row.want && (row.want == "" || !strings.Contains(got, row.want)) {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
}

// AUD-32: a record whose last seal is old, and not that of a stop, is cut or of a killed server.
func TestOldSeal(t *testing.T) {
	first, _ := seal.Create(filepath.Join(t.TempDir(), "key"))
	at := time.Now()
	s := Seals{Key: first}
	s.Add(parse(first.Seal((&events.Event{Type: events.Seal, Note: "start"}).AppendLine(nil, at, events.Link{}))))
	for after, want := range map[time.Duration]bool{allowed: false, allowed + time.Second: true} {
		if got := s.End(s.Until.Add(after), 2) != nil; got != want {
			t.Errorf("after %s: a fault %t", after, got)
		}
	}
}

// The seals of any record are checked in bounded time.
func FuzzSeals(f *testing.F) {
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	first, err := seal.Create(filepath.Join(dir, "key"))
	if err != nil {
		f.Fatal(err)
	}
	e := events.Event{Type: events.Seal, Note: "start"}
	f.Add(append(first.Seal(e.AppendLine(nil, time.Now(), events.Link{})), '\n'))
	f.Add([]byte(`{"msg":"audit_event","chain":{"seq":1,"prev":"` + strings.Repeat("0", 64) + `","epoch":9,"hmac":"0"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := Seals{Key: first}
		Read(bytes.NewReader(text), func(e *Entry) error {
			if e.Broken != nil || s.First == 0 && e.Epoch > 1000 {
				return nil
			}
			if fault := s.Add(e); fault == nil && e.Epoch > 0 && !s.last.Made(e.Raw) {
				t.Errorf("%s", e.Raw)
			}
			return nil
		})
		s.End(time.Now(), 0)
	})
}
