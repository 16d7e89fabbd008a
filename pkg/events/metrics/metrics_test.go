package metrics

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/wire/mcp"
)

// emit gives an event to metrics. A request that took no time has another type than a request of MCP.
func emit(m *Metrics, method, name string, cause mcp.Cause, w events.Work) {
	m.Emit(&events.Event{
		Type: events.TypeOf(method), Cause: cause, Work: w,
		Target: events.Target{Method: method, Name: name},
	})
}

// AUD-41: the text has the counts, with the buckets of the conventions.
func TestText(t *testing.T) {
	m := New(`1"0`)
	ran := events.Work{Took: 3 * time.Millisecond, Queued: time.Millisecond, Ended: true}
	ran.Processor, ran.Peak = 2*time.Second, 4096
	emit(m, "tools/call", "hello", mcp.CauseNone, ran)
	ran.Took, ran.Peak = time.Hour, 1024
	emit(m, "tools/call", "hello", mcp.CauseStatus, ran)
	emit(m, "tools/call", "helo", mcp.CauseNotFound, events.Work{Code: mcp.CodeInvalidParams})
	emit(m, "resources/read", "file:///x", mcp.CauseNone, events.Work{Took: 10 * time.Millisecond})
	m.Emit(&events.Event{
		Type: events.HTTPRequest, Cause: mcp.CauseCredential, Count: 4, Target: events.Target{Method: "GET"},
	})
	m.Emit(&events.Event{Type: events.TokenChanged, Cause: mcp.CauseInternal, Target: events.Target{Kind: "token_file"}})
	m.SessionEnded(time.Minute)
	text := string(m.AppendText(nil, Reading{
		Uses: []Use{{"sessions", 3, 10}}, Queued: 2, Missed: 7, Threads: 4, Scans: 9,
	}))
	const hello = `mcp_method_name="tools/call",gen_ai_tool_name="hello"`
	for _, want := range []string{
		`mcp_server_operation_duration_seconds_bucket{` + hello + `,le="0.002"} 0`,
		`mcp_server_operation_duration_seconds_bucket{` + hello + `,le="0.005"} 1`,
		`mcp_server_operation_duration_seconds_sum{` + hello + `} 0.003`,
		`mcp_server_operation_duration_seconds_bucket{` + hello + `,error_type="tool_error",le="300"} 0`,
		`mcp_server_operation_duration_seconds_bucket{` + hello + `,error_type="tool_error",le="+Inf"} 1`,
		`mcp_server_operation_duration_seconds_count{mcp_method_name="tools/call",gen_ai_tool_name="_OTHER",` +
			`error_type="-32602"} 1`,
		`mcp_server_operation_duration_seconds_bucket{mcp_method_name="resources/read",le="0.01"} 1`,
		`mcp_server_session_duration_seconds_bucket{le="60"} 1`,
		`mcp_server_session_duration_seconds_count 1`,
		`mcpbash_queue_duration_seconds_count 4`,
		`mcpbash_failures_total{cause="credential"} 5`,
		`mcpbash_failures_total{cause="timeout"} 0`,
		`mcpbash_failures_total{cause="internal"} 0`,
		`mcpbash_script_processor_seconds_total 4`,
		`mcpbash_script_peak_memory_bytes 4096`,
		`mcpbash_used{limit="sessions"} 3`,
		`mcpbash_limit{limit="sessions"} 10`,
		`mcpbash_queued_requests 2`,
		`mcpbash_audit_missed_total 7`,
		`mcpbash_confinement_threads 4`,
		`mcpbash_registry_scans_total 9`,
		`mcpbash_build_info{version="1\"0"} 1`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no line %s in\n%s", want, text)
		}
	}
}

// AUD-42: the number of series has a bound, and no label has a text of a client.
func TestLabelsAreBounded(t *testing.T) {
	m := New("1")
	random := rand.New(rand.NewPCG(1, 2))
	methods := []string{"tools/call", "resources/read", "prompts/get", "completion/complete", "GET", "evil"}
	causes := append([]mcp.Cause{"", "evil"}, mcp.Causes()...)
	for i := range 20_000 {
		cause := causes[random.IntN(len(causes))]
		work := events.Work{Code: random.IntN(40_000) - 33_000}
		name := fmt.Sprintf("evil%d", i)
		if random.IntN(4) == 0 { // a tool of the project
			name, work.Ended = fmt.Sprintf("tool%d", random.IntN(maxTools)), true
		} else if cause == "" {
			cause = mcp.CauseNotFound
		}
		if random.IntN(2) == 0 {
			work.Code = 0
		}
		emit(m, methods[random.IntN(len(methods))], name, cause, work)
	}
	text := string(m.AppendText(nil, Reading{}))
	if strings.Contains(text, "evil") {
		t.Error("a label has a text of a client")
	}
	failures := map[string]bool{}
	for _, found := range regexp.MustCompile(`error_type="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		failures[found[1]] = true
	}
	if most := 1 + 5 + 23 + 2 + len(mcp.Causes()); len(failures) > most {
		t.Errorf("%d values of error_type, more than %d", len(failures), most)
	}
}

// AUD-42: tools above the limit share a label.
func TestMostTools(t *testing.T) {
	m := New("1")
	for i := range maxTools + 5 {
		emit(m, "tools/call", fmt.Sprintf("tool%d", i), mcp.CauseNone, events.Work{Ended: true})
	}
	text := string(m.AppendText(nil, Reading{}))
	if !strings.Contains(text, `_count{mcp_method_name="tools/call",gen_ai_tool_name="_OTHER"} 5`+"\n") ||
		strings.Count(text, "operation_duration_seconds_count") != maxTools+1 {
		t.Error("tools above the limit have series of their own")
	}
}

// The list of causes has each cause once, and Outcome knows that it is a failure.
func TestCauses(t *testing.T) {
	seen := map[mcp.Cause]bool{}
	for _, c := range mcp.Causes() {
		if seen[c] || c == mcp.CauseNone || (&events.Event{Cause: c}).Outcome() == events.Success {
			t.Errorf("%q", c)
		}
		seen[c] = true
	}
}
