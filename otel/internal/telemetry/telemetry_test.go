package telemetry

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/events/trail"
	"mcp-bash/pkg/wire/mcp"
)

// entries reads lines.
func entries(t testing.TB, text []byte) (all []*trail.Entry) {
	err := trail.Read(bytes.NewReader(text), func(e *trail.Entry) error {
		if e.Broken == nil {
			all = append(all, e)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func resources(t testing.TB) *Resources {
	r, err := NewResources()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A script that asked its client belongs to the trace of its first request, and only its last line has its span.
func TestScriptOfAnotherTrace(t *testing.T) {
	e := &events.Event{Type: events.ToolCall, ID: events.NewID(), Target: events.Target{Method: "tools/call", Name: "ask"},
		Trace: events.Trace{ID: strings.Repeat("2", 32)},
		Work: events.Work{Took: time.Millisecond, Ran: time.Second, Trace: strings.Repeat("1", 32),
			Span: strings.Repeat("3", 16)}}
	for _, interim := range []bool{true, false} {
		e.Interim = interim
		spans := resources(t).Spans(entries(t, append(e.AppendLine(nil, time.Now(), events.Link{}), '\n'))[0])
		if interim {
			if len(spans) != 1 {
				t.Errorf("interim: %d spans", len(spans))
			}
			continue
		}
		request, script := spans[0].SpanContext(), spans[1]
		if script.SpanContext().TraceID().String() != e.Work.Trace || script.SpanContext().SpanID().String() != e.Work.Span ||
			script.Parent().IsValid() || len(script.Links()) != 1 || !script.Links()[0].SpanContext.Equal(request) ||
			script.EndTime().Sub(script.StartTime()) != time.Second {
			t.Errorf("%+v", script)
		}
	}
}

// Texts of clients and of hostile lines cannot add series or resources without end.
func TestBounds(t *testing.T) {
	h, r := NewHistograms(), resources(t)
	for i := range 3000 {
		e := &events.Event{Type: events.ToolCall, Component: fmt.Sprint("server ", i), Cause: mcp.CauseNotListed,
			Target: events.Target{Method: "tools/call", Name: fmt.Sprint("tool ", i)}, Work: events.Work{Code: -32602}}
		if i >= 500 {
			e.Component = "one server"
		}
		if i >= 1000 {
			e.Cause, e.Work = mcp.CauseNone, events.Work{Ended: true}
		}
		entry := entries(t, append(e.AppendLine(nil, time.Now(), events.Link{}), '\n'))[0]
		h.Add(entry)
		r.Spans(entry)
	}
	if len(h.Series) > maxSeries+maxOther || len(r.all) > maxResources+1 {
		t.Errorf("%d series, %d resources", len(h.Series), len(r.all))
	}
	others := 0
	for _, s := range h.Series {
		for _, l := range s.Labels {
			if l == [2]string{"gen_ai.tool.name", otherTool} && s.Server.Component == "one server" {
				others++
			}
		}
	}
	if others != 2 { // unknown tools that were refused, and those above the bound
		t.Errorf("%d series of other tools", others)
	}
}

// Histograms that the file of another version has are not continued.
func TestCheck(t *testing.T) {
	for _, h := range []*Histograms{{}, {Series: map[string]*series{"x": nil}}, {Series: map[string]*series{"x": {}}}} {
		if h.Check() == nil {
			t.Errorf("%+v", h)
		}
	}
	if err := NewHistograms().Check(); err != nil {
		t.Error(err)
	}
}

// Any line becomes the same spans and records each time.
func FuzzLine(f *testing.F) {
	e := &events.Event{Type: events.ToolCall, ID: events.NewID(), Component: "c", Replica: "r",
		Source:  events.Source{Transport: "http", Address: "[::1]:80", RequestID: []byte(`"x"`)},
		Subject: events.Subject{User: "ada"}, Target: events.Target{Method: "tools/call", Name: "t"},
		Work: events.Work{Took: time.Second, Ran: time.Second, Ended: true, Status: 3, Span: strings.Repeat("1", 16)}}
	f.Add(e.AppendLine(nil, time.Now(), events.Link{}))
	end := &events.Event{Type: events.SessionEnd, Work: events.Work{Took: time.Second}}
	f.Add(end.AppendLine(nil, time.Now(), events.Link{}))
	e.Type, e.Target = events.ResourceRead, events.Target{Method: "resources/read", Name: "file:///x"}
	f.Add(e.AppendLine(nil, time.Now(), events.Link{Seq: 1}))
	f.Add([]byte(`{"msg":"audit_event","type":"mcp_","target":{"method":"\u0000"},"metadata":{"extra":{"trace_id":"0"}},` +
		`"chain":{"seq":1,"prev":"` + strings.Repeat("0", 64) + `"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		all := entries(t, append(text, '\n'))
		r, h := resources(t), NewHistograms()
		if len(r.Logs(all)) != len(all) {
			t.Error("a line without a log record")
		}
		for _, e := range all {
			first, again := r.Spans(e), r.Spans(e)
			if !reflect.DeepEqual(first, again) {
				t.Errorf("%v, then %v", first, again)
			}
			h.Add(e)
		}
		h.Data(r, metricdata.CumulativeTemporality, time.Now())
		if err := h.Check(); err != nil {
			t.Error(err)
		}
	})
}
