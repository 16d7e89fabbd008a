package main

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"mcp-bash/otel/internal/deliver"
	"mcp-bash/otel/internal/source"
	"mcp-bash/otel/internal/state"
	"mcp-bash/otel/internal/telemetry"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/events/trail"
)

// An exporter sends lines from a source to a collector. It has files or a pipe.
type exporter struct {
	options    *options
	report     func(format string, args ...any)
	collector  *deliver.Collector
	resources  *telemetry.Resources
	histograms *telemetry.Histograms
	every      time.Duration // between two exports of metrics

	files *source.Files
	file  *state.File
	state state.State
	pipe  *source.Pipe

	sent    int
	lost    int       // lines of a pipe that the collector did not take
	unread  string    // the last error of reading that was reported
	counted bool      // the metrics have changed since their last export
	next    time.Time // of the next export of metrics
}

// batch bounds the lines in memory.
var batch = source.Budget{Lines: 500, Bytes: 4 << 20}

// pollEvery is the time between two checks for new lines.
const pollEvery = 200 * time.Millisecond

// run sends lines until the source or ctx ends.
func (x *exporter) run(ctx context.Context) (err error) {
	x.next = time.Now().Add(x.every)
	defer func() { err = x.finish(err) }()
	for {
		done := x.options.once
		if x.pipe != nil {
			done, err = x.pipe.Done()
		}
		budget := batch
		lines, errRead := x.read(&budget)
		if errRead != nil && x.options.once {
			return errRead
		}
		if err := x.send(ctx, lines); err != nil {
			return err
		}
		if time.Now().After(x.next) {
			if err := x.sendMetrics(); err != nil {
				return err
			}
		}
		switch ended := ctx.Err() != nil; {
		case budget.Empty() && (!ended || x.pipe != nil): // a pipe is read to the end of its queue
			continue
		case ended, done:
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(pollEvery):
		}
	}
}

func (x *exporter) read(b *source.Budget) (lines []*trail.Entry, err error) {
	if x.pipe != nil {
		return x.pipe.Read(b), nil
	}
	if lines, err = x.files.Read(b); err != nil {
		if text := err.Error(); text != x.unread {
			x.unread = text
			x.report("%s; it is read as soon as that is possible", text)
		}
		err = &cli.Error{Code: cli.CodeInternal, Op: "read", Cause: err}
	}
	return lines, err
}

// send sends lines, and then saves the position after them. After a failure it saves nothing, so that a later run sends
// the lines again.
func (x *exporter) send(ctx context.Context, lines []*trail.Entry) error {
	if len(lines) == 0 {
		return nil
	}
	if ctx.Err() == nil && x.options.once {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx) // one attempt
		cancel()
	}
	if x.collector.Spans != nil {
		var spans []sdktrace.ReadOnlySpan
		for _, e := range lines {
			spans = append(spans, x.resources.Spans(e)...)
		}
		if err := x.collector.Spans.Send(ctx, spans); err != nil {
			return x.unsent(len(lines))
		}
	}
	if x.collector.Logs != nil {
		if err := x.collector.Logs.Send(ctx, x.resources.Logs(lines)); err != nil {
			return x.unsent(len(lines))
		}
	}
	for _, e := range lines {
		x.histograms.Add(e)
	}
	x.sent += len(lines)
	x.counted = x.collector.Metrics != nil
	return x.save()
}

// unsent returns the error of a run whose last lines the collector did not accept. The queue has reported why. Files
// still have the lines, so a run that reads files fails only with --once.
func (x *exporter) unsent(lines int) error {
	if x.pipe != nil {
		x.lost = lines
		return cli.ExitCode(cli.ExitFailed)
	}
	if x.options.once {
		return cli.ExitCode(cli.ExitFailed)
	}
	return errKept
}

// errKept ends a run that a signal ended while the collector was unavailable.
var errKept = errors.New("the lines are kept")

func (x *exporter) save() error {
	if x.file == nil {
		return nil
	}
	x.state.Records, x.state.Histograms = x.files.Positions(), x.histograms
	if err := x.file.Save(x.state); err != nil {
		return (&cli.Error{Code: cli.CodeInternal, Op: "save the position", Cause: err}).
			WithHint("make room, or name another file with --state")
	}
	return nil
}

// sendMetrics sends the metrics once. If the collector does not accept them, they are sent the next time.
func (x *exporter) sendMetrics() error {
	x.next = time.Now().Add(x.every)
	if x.collector.Metrics == nil {
		return nil
	}
	for _, data := range x.histograms.Data(x.resources, x.collector.Temporality, time.Now()) {
		if _, err := x.collector.Metrics.Try([]metricdata.ResourceMetrics{data.ResourceMetrics}); err != nil {
			return nil
		}
		if x.collector.Temporality == metricdata.DeltaTemporality {
			x.histograms.Forget(data)
		}
	}
	x.counted = false
	return x.save()
}

// finish sends the last metrics, and reports what was left out.
func (x *exporter) finish(err error) error {
	if err == nil && x.counted {
		err = x.sendMetrics()
	}
	counts := x.counts()
	counts.Dropped += int64(x.lost)
	refused := x.collector.Spans.Refused() + x.collector.Logs.Refused() + x.collector.Metrics.Refused()
	lost := counts.Dropped+refused > 0
	if x.options.once || lost || counts.Skipped > 0 {
		x.report("%d lines sent, %d skipped, %d dropped, %d spans and records refused", x.sent, counts.Skipped,
			counts.Dropped, refused)
	}
	if err == errKept {
		err = nil
	}
	if err == nil && (lost || x.options.once && x.counted) {
		err = cli.ExitCode(cli.ExitFailed)
	}
	return err
}

func (x *exporter) counts() source.Counts {
	if x.pipe != nil {
		return x.pipe.Counts()
	}
	return x.files.Counts()
}
