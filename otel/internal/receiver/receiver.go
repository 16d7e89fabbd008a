// Package receiver is a collector for tests. It reads requests with the modules of OpenTelemetry's collector.
package receiver

import (
	"compress/gzip"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

// A Receiver keeps the requests that it accepts.
type Receiver struct {
	t       testing.TB
	address string

	mu      sync.Mutex
	server  *http.Server
	answer  func(path string, body []byte) int
	got     chan struct{} // closed at the next request that it takes
	spans   []ptrace.ResourceSpans
	records []plog.ResourceLogs
	metrics []pmetric.ResourceMetrics
	headers []http.Header
}

// New starts a receiver.
func New(t testing.TB) *Receiver {
	r := &Receiver{t: t, address: "127.0.0.1:0", got: make(chan struct{})}
	r.Start()
	t.Cleanup(r.Stop)
	return r
}

// URL returns the address for OTEL_EXPORTER_OTLP_ENDPOINT. It stays the same.
func (r *Receiver) URL() string { return "http://" + r.address }

// Start listens, also again after Stop.
func (r *Receiver) Start() {
	l, err := net.Listen("tcp", r.address)
	if err != nil {
		r.t.Fatal(err)
	}
	r.address = l.Addr().String()
	server := &http.Server{Handler: r}
	r.mu.Lock()
	r.server = server
	r.mu.Unlock()
	go server.Serve(l)
}

// Stop closes the listener and all connections.
func (r *Receiver) Stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.server.Close()
}

// Answer sets a function that returns the status for a request. 0 means 200.
func (r *Receiver) Answer(f func(path string, body []byte) int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = f
}

// ServeHTTP implements [http.Handler].
func (r *Receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body := io.Reader(request.Body)
	if request.Header.Get("Content-Encoding") == "gzip" {
		body, _ = gzip.NewReader(body)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return // the client is gone
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	keep, err := r.read(request.URL.Path, text)
	if err != nil {
		r.t.Errorf("%s: %v", request.URL, err)
	}
	if r.answer != nil {
		if status := r.answer(request.URL.Path, text); status != 0 && status != http.StatusOK {
			w.WriteHeader(status)
			return
		}
	}
	keep()
	r.headers = append(r.headers, request.Header)
	close(r.got)
	r.got = make(chan struct{})
}

// read parses a request. keep keeps what is in it.
func (r *Receiver) read(path string, text []byte) (keep func(), err error) {
	switch path {
	case "/v1/traces":
		request := ptraceotlp.NewExportRequest()
		err = request.UnmarshalProto(text)
		return func() {
			for _, s := range request.Traces().ResourceSpans().All() {
				r.spans = append(r.spans, s)
			}
		}, err
	case "/v1/logs":
		request := plogotlp.NewExportRequest()
		err = request.UnmarshalProto(text)
		return func() {
			for _, l := range request.Logs().ResourceLogs().All() {
				r.records = append(r.records, l)
			}
		}, err
	}
	request := pmetricotlp.NewExportRequest()
	err = request.UnmarshalProto(text)
	return func() {
		for _, m := range request.Metrics().ResourceMetrics().All() {
			r.metrics = append(r.metrics, m)
		}
	}, err
}

// A Span is a span with its service.
type Span struct {
	ptrace.Span
	Service string
}

// A Record is a log record with its service.
type Record struct {
	plog.LogRecord
	Service string
}

// A Point is a point of a histogram.
type Point struct {
	pmetric.HistogramDataPoint
	Service, Name string
	Temporality   pmetric.AggregationTemporality
}

// Spans returns all spans until now.
func (r *Receiver) Spans() (all []Span) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rs := range r.spans {
		for _, ss := range rs.ScopeSpans().All() {
			for _, s := range ss.Spans().All() {
				all = append(all, Span{s, service(rs.Resource())})
			}
		}
	}
	return all
}

// Records returns all log records until now.
func (r *Receiver) Records() (all []Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rl := range r.records {
		for _, sl := range rl.ScopeLogs().All() {
			for _, l := range sl.LogRecords().All() {
				all = append(all, Record{l, service(rl.Resource())})
			}
		}
	}
	return all
}

// Points returns all points of histograms until now.
func (r *Receiver) Points() (all []Point) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rm := range r.metrics {
		for _, sm := range rm.ScopeMetrics().All() {
			for _, m := range sm.Metrics().All() {
				h := m.Histogram()
				for _, p := range h.DataPoints().All() {
					all = append(all, Point{p, service(rm.Resource()), m.Name(), h.AggregationTemporality()})
				}
			}
		}
	}
	return all
}

// Headers returns the headers of all requests that were taken.
func (r *Receiver) Headers() []http.Header {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.headers
}

func service(r pcommon.Resource) string {
	name, _ := r.Attributes().Get("service.name")
	return name.AsString()
}

// Wait returns when a condition holds, which it checks after each request.
func (r *Receiver) Wait(what string, holds func() bool) {
	r.t.Helper()
	for {
		r.mu.Lock()
		got := r.got
		r.mu.Unlock()
		if holds() {
			return
		}
		select {
		case <-got:
		case <-time.After(5 * time.Minute):
			r.t.Fatalf("%s does not come", what)
		}
	}
}
