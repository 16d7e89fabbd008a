package serve

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"mcp-bash/pkg/project"
)

// recordLine has the members of a line of a record that tests compare.
type recordLine struct {
	ID   string `json:"audit_id"`
	Type string
	Data map[string]any

	Metadata struct{ Extra map[string]any }
}

// recordedLines returns the lines of a record of a type.
func recordedLines(t *testing.T, file, kind string) (list []recordLine) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		var l recordLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if l.Type == kind {
			list = append(list, l)
		}
	}
	return list
}

// AUD-9: a recorded call has a trace, and its script has its own span in it. A call without a trace begins one.
func TestTraceOfRecord(t *testing.T) {
	record := filepath.Join(t.TempDir(), "audit.jsonl")
	p := startHTTP(t, files(t, map[string]string{
		"tools/hello/tool.sh": `echo "<$TRACEPARENT $TRACESTATE>"`, "tools/hello/tool.meta.json": helloMeta,
	}), project.Env{"MCPBASH_AUDIT": record})
	const first, second = "0af7651916cd43dd8448eb211c80319c", "11111111111111111111111111111111"
	const parent, other = "b7ad6b7169203331", "2222222222222222"
	session := p.openSession()
	header := maps.Clone(session)
	header["Traceparent"], header["Tracestate"] = "00-"+second+"-"+other+"-00", "a=1"
	meta := `,"_meta":{"traceparent":"00-` + first + "-" + parent + `-01"}`
	cases := []struct {
		meta    string
		headers map[string]string
		want    map[string]any
		end     string // of TRACEPARENT, and TRACESTATE
	}{
		{"", session, map[string]any{}, "-01 "},
		{"", header, map[string]any{"trace_id": second, "parent_span_id": other}, "-00 a=1"},
		{meta, session, map[string]any{"trace_id": first, "parent_span_id": parent}, "-01 "},
		{meta, header, map[string]any{
			"trace_id": first, "parent_span_id": parent, "link_trace_id": second, "link_span_id": other,
		}, "-01 "},
	}
	var got []string
	for _, c := range cases {
		_, body := p.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hello"`+c.meta+`}}`, c.headers)
		got = append(got, regexp.MustCompile(`<(00-.*?)>`).FindString(body))
	}
	p.signals <- syscall.SIGTERM
	p.ended(143)
	lines := recordedLines(t, record, "mcp_tool_call")
	for i, c := range cases {
		extra := lines[i].Metadata.Extra
		span, _ := extra["span_id"].(string)
		if c.want["trace_id"] == nil {
			c.want["trace_id"] = lines[i].ID
		}
		if want := "<00-" + c.want["trace_id"].(string) + "-" + span + c.end + ">"; len(span) != 16 || got[i] != want {
			t.Errorf("%d: the script got %s, want %s", i, got[i], want)
		}
		for _, name := range []string{"trace_id", "parent_span_id", "link_trace_id", "link_span_id", "span_trace_id"} {
			if extra[name] != c.want[name] {
				t.Errorf("%d: %s is %v, want %v", i, name, extra[name], c.want[name])
			}
		}
	}
}

// AUD-1, AUD-2, AUD-16: the option wins over the variable. A server that must record needs its receiver at the start.
func TestRecordOption(t *testing.T) {
	dir := t.TempDir()
	record, other := filepath.Join(dir, "record.jsonl"), filepath.Join(dir, "other.jsonl")
	p := startHTTP(t, t.TempDir(), project.Env{"MCPBASH_AUDIT": other}, func(o *Options) { o.Audit = record })
	p.signals <- syscall.SIGTERM
	p.ended(143)
	if lines := recordedLines(t, record, "mcpbash_start"); len(lines) != 1 {
		t.Error(lines)
	}
	if _, err := os.Stat(other); err == nil {
		t.Error("the record of the variable exists")
	}
	for to, want := range map[string]string{
		"unix:":              "MCPBASH_AUDIT: unix: must be followed by the path of a socket",
		"unix:" + dir + "/s": "the audit record cannot be written",
	} {
		p := beginHTTP(t, t.TempDir(), project.Env{"MCPBASH_AUDIT": to, "MCPBASH_AUDIT_MODE": "required"})
		p.ended(1)
		if got := p.stderr.String(); !strings.Contains(got, want) {
			t.Errorf("%s: %s", to, got)
		}
	}
}
