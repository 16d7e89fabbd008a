package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/trace"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/events/trail"
)

// Logs returns the log records of entries. The body of a record is the line, byte for byte, so that its chain can be
// checked at the other end, too.
func (r *Resources) Logs(entries []*trail.Entry) []sdklog.Record {
	var all collected
	loggers := map[*resource.Resource]log.Logger{}
	for _, e := range entries {
		l := newLine(e)
		res := r.of(l)
		if loggers[res] == nil {
			loggers[res] = sdklog.NewLoggerProvider(sdklog.WithProcessor(&all), sdklog.WithResource(res),
				sdklog.WithAttributeCountLimit(-1), sdklog.WithAttributeValueLengthLimit(-1)).
				Logger(scope.Name, log.WithInstrumentationVersion(scope.Version))
		}
		l.emit(loggers[res])
	}
	return all.records
}

// emit gives the record of a line to a logger. A request has the attributes and the context of its span.
func (l *line) emit(to log.Logger) {
	var record log.Record
	record.SetEventName(string(l.Type))
	record.SetTimestamp(l.timeOf())
	record.SetBody(attribute.StringValue(string(l.Raw)))
	severity := l.severity()
	record.SetSeverity(severity)
	record.SetSeverityText(severity.String())
	attributes := []attribute.KeyValue{
		attribute.String("log.record.uid", l.Hash.String()), attribute.Int64("mcpbash.chain.seq", l.Link.Seq),
	}
	ctx := context.Background()
	if l.isRequest() {
		attributes = append(attributes, l.request()...)
		ctx = trace.ContextWithSpanContext(ctx, contextOf(l.trace, l.span, false))
	} else {
		attributes = append(attributes, l.outcome()...)
	}
	record.AddAttributes(attributes...)
	to.Emit(ctx, record)
}

func (l *line) severity() log.Severity {
	switch {
	case l.Outcome == events.Error:
		return log.SeverityError
	case l.Outcome != events.Success:
		return log.SeverityWarn
	}
	return log.SeverityInfo
}

// collected is a processor that keeps the records, because only the SDK can make one with a resource.
type collected struct{ records []sdklog.Record }

func (c *collected) Enabled(context.Context, sdklog.EnabledParameters) bool { return true }

func (c *collected) OnEmit(_ context.Context, r *sdklog.Record) error {
	c.records = append(c.records, r.Clone())
	return nil
}

func (c *collected) Shutdown(context.Context) error   { return nil }
func (c *collected) ForceFlush(context.Context) error { return nil }
