package telemetry

import (
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/events/trail"
	"mcp-bash/pkg/json/rawjson"
)

// scope is the source of the spans, metrics and log records.
var scope = instrumentation.Scope{Name: "mcp-bash", Version: cli.Version}

// Spans returns the spans of an entry: none, the span of the request, or the spans of the request and its script.
// They are made here because a tracer of the SDK would choose other ids.
func (r *Resources) Spans(e *trail.Entry) []sdktrace.ReadOnlySpan {
	l := newLine(e)
	if !l.isRequest() || !l.trace.IsValid() {
		return nil
	}
	res := r.of(l)
	name := l.Method
	attributes := l.request()
	if l.Target != "" && rawjson.TextOf(rawjson.Get(e.Raw, "target"), "uri") == "" {
		name += " " + l.Target
	}
	own := contextOf(l.trace, l.span, false)
	request := tracetest.SpanStub{
		Name: name, SpanContext: own, SpanKind: trace.SpanKindServer, StartTime: l.Began, EndTime: l.ended(),
		Parent:     contextOf(l.trace, spanID(rawjson.TextOf(l.extra, "parent_span_id")), true),
		Attributes: append(attributes, attribute.Float64("mcpbash.queue.duration", l.Queued.Seconds())),
		Links: links(contextOf(traceID(rawjson.TextOf(l.extra, "link_trace_id")),
			spanID(rawjson.TextOf(l.extra, "link_span_id")), true)),
		Status: l.status(), Resource: res, InstrumentationScope: scope,
	}
	spans := tracetest.SpanStubs{request}
	if l.Ran > 0 && !rawjson.True(rawjson.Get(l.data, "interim")) {
		spans[0].ChildSpanCount = 1
		spans = append(spans, l.script(own, res))
	}
	return spans.Snapshots()
}

// script returns the span of the script that a request ran. A script that asked its client belongs to the trace of the
// first request, whose span another line has.
func (l *line) script(request trace.SpanContext, res *resource.Resource) tracetest.SpanStub {
	id := spanID(rawjson.TextOf(l.extra, "span_id"))
	if !id.IsValid() {
		copy(id[:], l.Hash[len(id):])
	}
	in := traceID(rawjson.TextOf(l.extra, "span_trace_id"))
	s := tracetest.SpanStub{
		Name: "script " + l.Target, SpanKind: trace.SpanKindInternal, Parent: request,
		StartTime: l.ended().Add(-l.Ran), EndTime: l.ended(), Resource: res, InstrumentationScope: scope,
		SpanContext: contextOf(request.TraceID(), id, false),
	}
	if in.IsValid() && in != request.TraceID() {
		s.SpanContext, s.Parent, s.Links = contextOf(in, id, false), trace.SpanContext{}, links(request)
	}
	for _, a := range []struct{ name, number string }{
		{"process.exit.code", l.Entry.Status}, {"mcpbash.script.signal", l.Signal},
	} {
		n, err := strconv.ParseInt(a.number, 10, 64)
		if err != nil {
			continue
		}
		s.Attributes = append(s.Attributes, attribute.Int64(a.name, n))
		if n != 0 {
			s.Status = sdktrace.Status{Code: codes.Error}
		}
	}
	return s
}

func (l *line) status() sdktrace.Status {
	if l.failure == "" {
		return sdktrace.Status{}
	}
	return sdktrace.Status{Code: codes.Error, Description: l.Reason}
}

func contextOf(id trace.TraceID, span trace.SpanID, remote bool) trace.SpanContext {
	if !span.IsValid() {
		return trace.SpanContext{}
	}
	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: id, SpanID: span, TraceFlags: trace.FlagsSampled, Remote: remote,
	})
}

func links(c trace.SpanContext) []sdktrace.Link {
	if !c.IsValid() {
		return nil
	}
	return []sdktrace.Link{{SpanContext: c}}
}

// timeOf returns the time of a line, or the current time if the line has no time.
func (l *line) timeOf() time.Time {
	if l.Time.IsZero() {
		return time.Now()
	}
	return l.Time
}
