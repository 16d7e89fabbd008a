package deliver

import (
	"context"
	"errors"

	"github.com/go-logr/logr/funcr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"mcp-bash/pkg/cli"
)

// A Collector has a queue for each signal. The queue of a signal that is not wanted is nil.
type Collector struct {
	Spans   *Queue[sdktrace.ReadOnlySpan]
	Logs    *Queue[sdklog.Record]
	Metrics *Queue[metricdata.ResourceMetrics] // takes one at a time

	Temporality metricdata.Temporality
}

// Open returns the collector that the variables OTEL_… describe. It does not connect. It calls report with messages
// for the operator.
func Open(report func(format string, args ...any)) (*Collector, error) {
	// The exporters write faults of their variables to a log, and go on without them.
	var fault error
	otel.SetLogger(funcr.New(func(_, text string) { fault = errors.New(text) }, funcr.Options{}))
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { report("%v", err) }))
	c := &Collector{}
	err := errors.Join(c.openSpans(report), c.openLogs(report), c.openMetrics(report))
	switch {
	case err != nil:
		return nil, err
	case fault != nil:
		return nil, (&cli.Error{Code: cli.CodeInvalid, Cause: fault}).WithHint("correct the variables OTEL_EXPORTER_OTLP_…")
	case c.Spans == nil && c.Logs == nil && c.Metrics == nil:
		return nil, cli.Failf(cli.CodeInvalid, "there is nothing to send").
			WithHint("remove one of OTEL_TRACES_EXPORTER, OTEL_LOGS_EXPORTER, OTEL_METRICS_EXPORTER and OTEL_SDK_DISABLED")
	}
	otel.SetLogger(funcr.New(func(_, text string) { report("%s", text) }, funcr.Options{}))
	return c, nil
}

// open returns the queue of a signal without its exporter, or nil if the signal is not wanted.
func open[T any](s signal, report func(string, ...any)) (*Queue[T], error) {
	if wanted, err := s.wanted(); err != nil || !wanted {
		return nil, err
	}
	return &Queue[T]{signal: s, last: &replies{}, report: report}, s.check()
}

func (c *Collector) openSpans(report func(string, ...any)) (err error) {
	if c.Spans, err = open[sdktrace.ReadOnlySpan](traces, report); err != nil || c.Spans == nil {
		return err
	}
	client, err := traces.client(c.Spans.last)
	if err != nil {
		return err
	}
	exporter, err := otlptrace.New(context.Background(), otlptracehttp.NewClient(otlptracehttp.WithHTTPClient(client),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{})))
	if err == nil {
		c.Spans.export = exporter.ExportSpans
	}
	return err
}

func (c *Collector) openLogs(report func(string, ...any)) (err error) {
	if c.Logs, err = open[sdklog.Record](logs, report); err != nil || c.Logs == nil {
		return err
	}
	client, err := logs.client(c.Logs.last)
	if err != nil {
		return err
	}
	exporter, err := otlploghttp.New(context.Background(), otlploghttp.WithHTTPClient(client),
		otlploghttp.WithRetry(otlploghttp.RetryConfig{}))
	if err == nil {
		c.Logs.export = exporter.Export
	}
	return err
}

func (c *Collector) openMetrics(report func(string, ...any)) (err error) {
	if c.Metrics, err = open[metricdata.ResourceMetrics](metrics, report); err != nil || c.Metrics == nil {
		return err
	}
	client, err := metrics.client(c.Metrics.last)
	if err != nil {
		return err
	}
	exporter, err := otlpmetrichttp.New(context.Background(), otlpmetrichttp.WithHTTPClient(client),
		otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{}))
	if err != nil {
		return err
	}
	c.Temporality = exporter.Temporality(metric.InstrumentKindHistogram)
	c.Metrics.export = func(ctx context.Context, one []metricdata.ResourceMetrics) error {
		return exporter.Export(ctx, &one[0])
	}
	return nil
}
