// Package metrics counts events, and writes the counts as text for Prometheus.
//
// [Metrics] is a sink of events, next to the record. Labels have values of closed lists only, and the names of tools
// that have answered. So no client can choose a text or add series without end.
package metrics

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/wire/mcp"
)

// maxTools is the maximum number of tools with their own series.
const maxTools = 200

// other is the label of all values without a separate label.
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
	if e.Target.Method == "" { // not a request
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.failures[e.Cause]; known {
		m.failures[e.Cause] += 1 + e.Count // an event can stand for several others
	}
	if e.Type == events.HTTPRequest || events.TypeOf(e.Target.Method) == "" { // not a request that MCP answered
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

// toolOf returns the label of a tool. Names that no tool has answered to are left out, because a client can send any
// text.
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

// A Reading has the values that are read at the time of a request for metrics, because no event counts them.
type Reading struct {
	Uses    []Use
	Queued  int // requests that wait for a slot
	Missed  int // events that the record lacks
	Threads int // that start confined scripts
	Scans   int // of the directories of a kind
}

// A Use is the part of a limit that is in use.
type Use struct {
	Limit      string
	Used, Most int
}

// AppendText appends all metrics in the text format of Prometheus.
func (m *Metrics) AppendText(dst []byte, r Reading) []byte {
	t := text{dst}
	m.mu.Lock()
	defer m.mu.Unlock()
	t.head("mcp_server_operation_duration_seconds", "histogram", "Time from the arrival of a request to its answer.")
	byLabels := func(a, b operation) int {
		return cmp.Or(cmp.Compare(a.method, b.method), cmp.Compare(a.tool, b.tool), cmp.Compare(a.failure, b.failure))
	}
	for _, o := range slices.SortedFunc(maps.Keys(m.operations), byLabels) {
		labels := label("mcp_method_name", o.method) + label("gen_ai_tool_name", o.tool) + label("error_type", o.failure)
		t.histogram("mcp_server_operation_duration_seconds", labels, m.operations[o])
	}
	t.head("mcp_server_session_duration_seconds", "histogram", "Time from the begin of a session to its end.")
	t.histogram("mcp_server_session_duration_seconds", "", &m.sessions)
	t.head("mcpbash_queue_duration_seconds", "histogram", "Time that a request waited for a slot.")
	t.histogram("mcpbash_queue_duration_seconds", "", &m.queued)
	t.head("mcpbash_failures_total", "counter", "Requests without success, by cause.")
	for _, c := range slices.Sorted(maps.Keys(m.failures)) {
		t.sample("mcpbash_failures_total", label("cause", string(c)), float64(m.failures[c]))
	}
	t.head("mcpbash_script_processor_seconds_total", "counter", "Processor time of the scripts of tools.")
	t.sample("mcpbash_script_processor_seconds_total", "", m.scripts.processor.Seconds())
	t.head("mcpbash_script_peak_memory_bytes", "gauge", "The largest memory of a process of a tool's script.")
	t.sample("mcpbash_script_peak_memory_bytes", "", float64(m.scripts.peak))
	t.head("mcpbash_used", "gauge", "How much of a limit is in use.")
	for _, u := range r.Uses {
		t.sample("mcpbash_used", label("limit", u.Limit), float64(u.Used))
	}
	t.head("mcpbash_limit", "gauge", "The limit.")
	for _, u := range r.Uses {
		t.sample("mcpbash_limit", label("limit", u.Limit), float64(u.Most))
	}
	t.head("mcpbash_queued_requests", "gauge", "Requests that wait for a slot.")
	t.sample("mcpbash_queued_requests", "", float64(r.Queued))
	t.head("mcpbash_confinement_threads", "gauge", "Threads that start confined scripts.")
	t.sample("mcpbash_confinement_threads", "", float64(r.Threads))
	t.head("mcpbash_registry_scans_total", "counter", "Scans of the directories of tools, resources or prompts.")
	t.sample("mcpbash_registry_scans_total", "", float64(r.Scans))
	t.head("mcpbash_audit_missed_total", "counter", "Events that the record lacks.")
	t.sample("mcpbash_audit_missed_total", "", float64(r.Missed))
	t.head("mcpbash_build_info", "gauge", "The version of the server.")
	t.sample("mcpbash_build_info", label("version", m.Version), 1)
	return t.dst
}

// A text is in the text format of Prometheus.
type text struct{ dst []byte }

func (t *text) head(name, kind, help string) {
	t.dst = append(t.dst, "# HELP "+name+" "+help+"\n# TYPE "+name+" "+kind+"\n"...)
}

// sample writes a line. labels is a result of label, or several.
func (t *text) sample(name, labels string, value float64) {
	t.dst = append(t.dst, name...)
	if labels != "" {
		t.dst = append(append(append(t.dst, '{'), strings.TrimSuffix(labels, ",")...), '}')
	}
	t.dst = append(strconv.AppendFloat(append(t.dst, ' '), value, 'f', -1, 64), '\n')
}

func (t *text) histogram(name, labels string, h *histogram) {
	sum := 0
	for i, n := range h.buckets {
		sum += n
		end := "+Inf"
		if i < len(bounds) {
			end = strconv.FormatFloat(bounds[i], 'f', -1, 64)
		}
		t.sample(name+"_bucket", labels+label("le", end), float64(sum))
	}
	t.sample(name+"_sum", labels, h.sum.Seconds())
	t.sample(name+"_count", labels, float64(sum))
}

// escape is for values of labels.
var escape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// label returns a label with a comma. It returns "" for an empty value, which Prometheus takes as no label.
func label(name, value string) string {
	if value == "" {
		return ""
	}
	return name + `="` + escape.Replace(strings.ToValidUTF8(value, "�")) + `",`
}
