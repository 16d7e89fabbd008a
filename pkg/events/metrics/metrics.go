// Package metrics counts events, and writes the counts as text for Prometheus.
//
// [Metrics] is a sink of events, next to the record. Labels have values of closed lists only, and the names of tools
// that have answered. So no client can choose a text or add series without end.
package metrics

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/wire/mcp"
)

// maxTools is the number of tools with their own series.
const maxTools = 200

// other is the label of everything without another one.
const other = "_OTHER"

// Metrics has the counts of a process. A nil Metrics counts nothing. All methods are safe for concurrent use.
type Metrics struct {
	Version string // of the server

	mu         sync.Mutex
	tools      map[string]bool
	operations map[operation]*histogram
	sessions   histogram
	queued     histogram
	failures   map[mcp.Cause]int
	scripts    struct {
		processor time.Duration
		peak      int64 // bytes
	}
}

// An operation has the labels of requests.
type operation struct{ method, tool, failure string }

// New returns Metrics of a server with a version.
func New(version string) *Metrics {
	m := &Metrics{
		Version: version, tools: map[string]bool{}, operations: map[operation]*histogram{}, failures: map[mcp.Cause]int{},
	}
	for _, c := range mcp.Causes() {
		m.failures[c] = 0 // so that the first failure is an increase
	}
	return m
}

// Emit implements [events.Sink].
func (m *Metrics) Emit(e *events.Event) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.failures[e.Cause]; known {
		m.failures[e.Cause] += 1 + e.Count // of events that stand for others
	}
	if events.TypeOf(e.Target.Method) == "" { // not a request of MCP
		return nil
	}
	o := operation{method: e.Target.Method, failure: FailureOf(e.Work.Code, e.Outcome(), e.Cause)}
	if e.Type == events.ToolCall {
		o.tool = m.toolOf(e)
	}
	h := m.operations[o]
	if h == nil {
		h = new(histogram)
		m.operations[o] = h
	}
	h.add(e.Work.Took)
	m.queued.add(e.Work.Queued)
	m.scripts.processor += e.Work.Processor
	m.scripts.peak = max(m.scripts.peak, e.Work.Peak)
	return nil
}

// Ready implements [events.Sink].
func (m *Metrics) Ready() error { return nil }

// toolOf returns the label of a tool. A name that no tool has answered to can be any text of a client.
func (m *Metrics) toolOf(e *events.Event) string {
	name := e.Target.Name
	switch {
	case m.tools[name]:
		return name
	case (e.Work.Ended || e.Outcome() == events.Success) && len(m.tools) < maxTools:
		name = strings.Clone(name)
		m.tools[name] = true
		return name
	}
	return other
}

// FailureOf returns the label error.type: the code of an error of JSON-RPC, or a word. It is "" for success.
func FailureOf(code int, outcome events.Outcome, cause mcp.Cause) string {
	switch {
	case code == 0 && outcome == events.Success:
		return ""
	case code == mcp.CodeParse, code >= mcp.CodeInternal && code <= mcp.CodeInvalidRequest,
		code >= mcp.CodeUnsupportedVersion && code <= mcp.CodeNotInitialized:
		return strconv.Itoa(code)
	case code == 0 && outcome == events.ApplicationError:
		return "tool_error"
	case code == 0 && slices.Contains(mcp.Causes(), cause):
		return string(cause)
	}
	return other
}

// SessionEnded counts a session.
func (m *Metrics) SessionEnded(lasted time.Duration) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sessions.add(lasted)
}

// bounds are the upper ends of the buckets, in seconds. OpenTelemetry's conventions begin at 10 ms.
// Most calls take less.
var bounds = [...]float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300}

// Bounds returns the upper ends of the buckets of all histograms, in seconds.
func Bounds() []float64 { return bounds[:] }

// A histogram counts durations.
type histogram struct {
	buckets [len(bounds) + 1]int
	sum     time.Duration
}

func (h *histogram) add(d time.Duration) {
	d = max(d, 0)
	i := 0
	for i < len(bounds) && d.Seconds() > bounds[i] {
		i++
	}
	h.buckets[i]++
	h.sum += d
}
