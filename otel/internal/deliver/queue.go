package deliver

import (
	"context"
	"net/http"
	"slices"
	"time"

	"mcp-bash/pkg/cli"
)

// The first and the longest wait for a collector that accepts nothing.
const (
	minWait = 250 * time.Millisecond
	maxWait = 30 * time.Second
)

// A Queue sends items of one signal. A nil Queue sends nothing. It is for one goroutine.
type Queue[T any] struct {
	signal signal
	export func(context.Context, []T) error
	last   *replies
	report func(format string, args ...any)

	proven  bool // the collector has accepted something
	away    bool // it accepted nothing the last time
	refused int64
}

// Send sends items. It waits for the collector until ctx ends, but does not end a request that has begun.
func (q *Queue[T]) Send(ctx context.Context, items []T) error {
	for wait := minWait; ; wait = min(2*wait, maxWait) {
		var err error
		if items, err = q.Try(items); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(max(wait, q.last.after)):
		}
	}
}

// Try sends items once, and returns those that the collector did not take.
func (q *Queue[T]) Try(items []T) (rest []T, err error) {
	if q == nil || len(items) == 0 {
		return nil, nil
	}
	rest, err = q.send(items)
	switch {
	case err != nil:
		failure := q.failure(err)
		if !q.away {
			q.report("%s", cli.Lines(failure.Error()))
		}
		q.away, err = true, failure
	case q.away:
		q.away = false
		q.report("the collector takes %s again", q.signal)
	}
	return rest, err
}

// send sends items, in halves if the collector refuses them because of their content. An item that it refuses alone
// is left out. But nothing is left out before the collector has accepted an item, because it may be another program.
func (q *Queue[T]) send(items []T) (rest []T, err error) {
	err = q.request(items)
	switch status := q.last.status; {
	case err == nil:
		q.proven = true
		return nil, nil
	case status/100 == 2: // it took the others
		q.proven = true
		q.report("the collector refused some %s: %v", q.signal, err)
		return nil, nil
	case !q.refusesContent(status), len(items) == 1 && !q.proven:
		return items, err
	case len(items) == 1:
		q.refused++
		q.report("the collector refused one of the %s, which is left out: %v", q.signal, err)
		return nil, nil
	case !q.proven:
		for _, probe := range [][]T{items[:1], items[len(items)-1:]} {
			q.proven = q.proven || q.request(probe) == nil
		}
		if !q.proven {
			return items, err
		}
	}
	half := len(items) / 2
	if rest, err = q.send(items[:half]); err != nil {
		return slices.Concat(rest, items[half:]), err
	}
	return q.send(items[half:])
}

func (q *Queue[T]) request(items []T) error {
	q.last.status, q.last.after = 0, 0
	return q.export(context.Background(), items)
}

func (q *Queue[T]) refusesContent(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge ||
		status == http.StatusUnprocessableEntity
}

// Refused returns the number of items that the collector refused.
func (q *Queue[T]) Refused() int64 {
	if q == nil {
		return 0
	}
	return q.refused
}

// failure returns the error of a collector, with a remedy.
func (q *Queue[T]) failure(err error) *cli.Error {
	e := &cli.Error{Code: cli.CodeNetwork, Op: "send " + q.signal.String(), Cause: err}
	switch q.last.status {
	case 0:
		return e.WithHint("start the collector, or name it in OTEL_EXPORTER_OTLP_ENDPOINT; everything waits until then")
	case http.StatusUnauthorized, http.StatusForbidden:
		return e.WithHint("add credentials in OTEL_EXPORTER_OTLP_HEADERS, such as authorization=Bearer%%20TOKEN")
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return e.WithHint("the collector is busy; everything waits until it is not")
	}
	return e.WithHint("check OTEL_EXPORTER_OTLP_ENDPOINT, or set OTEL_%s_EXPORTER=none", string(q.signal))
}
