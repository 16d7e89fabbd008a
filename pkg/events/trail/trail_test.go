package trail

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/wire/mcp"
)

// The reader understands every member that the server writes.
func TestReadsWhatIsWritten(t *testing.T) {
	began := time.Date(2026, 11, 28, 9, 0, 0, 123000, time.UTC)
	e := &events.Event{
		Type: events.ResourceRead, Cause: mcp.CauseScope, Began: began, ID: events.ID{1},
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
