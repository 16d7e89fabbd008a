package metrics

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A Reading has what is not counted, but read when somebody asks.
type Reading struct {
	Uses    []Use
	Queued  int // requests that wait for a slot
	Missed  int // events that the record lacks
	Threads int // that start confined scripts
	Scans   int // of the directories of a kind
}

// A Use is how much of a limit is in use.
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
