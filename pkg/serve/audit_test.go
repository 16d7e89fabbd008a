//go:build unix

package serve

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"mcp-bash/pkg/auth/tokenfile"
	"mcp-bash/pkg/events/seal"
	"mcp-bash/pkg/project"
	"mcp-bash/test/record"
)

// recordLine has the members of a line of a record that tests compare.
type recordLine struct {
	ID      string `json:"audit_id"`
	Type    string
	Outcome string
	Data    map[string]any

	Source struct {
		Type, Value string
		Extra       struct {
			Session string `json:"session_id"`
		}
	}
	Subjects, Target map[string]string
	Metadata         struct{ Extra map[string]any }
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
		if err := record.Check([]byte(line)); err != nil {
			t.Error(err)
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

// AUD-3: a call that becomes a task is one request in the record, also if its client does not know tasks.
func TestTaskInRecord(t *testing.T) {
	dir := t.TempDir()
	record, gate := filepath.Join(dir, "audit.jsonl"), filepath.Join(dir, "gate")
	p := startHTTP(t, files(t, map[string]string{
		"tools/hello/tool.sh":        waitAt(gate),
		"tools/hello/tool.meta.json": `{"name":"hello","description":"x","longRunning":{"after":1}}`,
	}), project.Env{"MCPBASH_AUDIT": record})
	_, body := p.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hello"}}`, p.openSession())
	if !strings.Contains(body, "still runs in the background") {
		t.Error(body)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.await("the end of the task", func() bool { return len(recordedLines(t, record, "mcp_tool_call")) == 2 })
	lines := recordedLines(t, record, "mcp_tool_call")
	if lines[0].ID != lines[1].ID || lines[0].Data["interim"] != true || lines[1].Data["interim"] != nil {
		t.Errorf("%+v", lines)
	}
}

// AUD-3: a call has one line with its outcome, also if it could become a task, or ended while its client was asked.
func TestOneOutcomeInRecord(t *testing.T) {
	dir := t.TempDir()
	record, gate := filepath.Join(dir, "audit.jsonl"), filepath.Join(dir, "gate")
	c := start(t, files(t, map[string]string{
		"tools/quick/tool.sh":        "exit 3",
		"tools/quick/tool.meta.json": `{"name":"quick","description":"x","longRunning":{"after":1}}`,
		"tools/ask/tool.sh": `printf '{"r":{"method":"roots/list"}}' >"$MCP_INPUT_DIR/tmp"` + "\n" +
			`mv "$MCP_INPUT_DIR/tmp" "$MCP_INPUT_DIR/batch.request"` + "\n" + waitAt(gate) + "exit 4",
	}), project.Env{"MCPBASH_AUDIT": record, "MCPBASH_LOG_LEVEL": "debug"})
	c.callFor(canAll, "quick")
	r := asked(t, c.callFor(canAll, "ask"))
	openGate(t, gate)
	c.awaitStderr("Complete tool=ask exit=4", 1)
	answer := c.retry(r, "ask", `{"r":{"roots":[]}}`) // the call may end a moment later
	c.finish()
	got := ""
	lines := recordedLines(t, record, "mcp_tool_call")
	for _, l := range lines {
		got += fmt.Sprint(l.Target["name"], " ", l.Data["interim"], " ", l.Data["exit_status"], " ", l.Outcome, "; ")
	}
	if got != "quick <nil> 3 application_error; ask true <nil> success; ask <nil> 4 application_error; " {
		t.Error(got)
	}
	if last := lines[len(lines)-1].ID; !strings.Contains(answer, `"mcpbash/requestId":"`+last+`"`) {
		t.Error(last, answer)
	}
}

// AUD-3: a call that ends while its client is asked has a last line, also if its script ended by itself before.
func TestSuspendedEndInRecord(t *testing.T) {
	record := filepath.Join(t.TempDir(), "audit.jsonl")
	leave := filepath.Join(t.TempDir(), "leave")
	c := start(t, files(t, map[string]string{
		"tools/ask/tool.sh":   asking + `ask '{"r":{"method":"roots/list"}}'`,
		"tools/leave/tool.sh": asking + `ask '{"r":{"method":"roots/list"}}' & ` + waitAt(leave) + `kill $!; exit 7`,
	}), project.Env{"MCPBASH_AUDIT": record, "MCPBASH_LOG_LEVEL": "debug"})
	asked(t, c.callFor(canAll, "leave", `"arguments":{"n":1},`))
	openGate(t, leave)
	c.awaitStderr("Complete tool=leave exit=7", 1)
	asked(t, c.callFor(canAll, "ask"))
	c.finish()
	got := ""
	for _, l := range recordedLines(t, record, "mcp_tool_call") {
		got += fmt.Sprint(l.Target["name"], " ", l.Data["interim"], " ", l.Data["reason"], " ", l.Data["exit_status"], " ",
			l.Data["arguments"], "; ")
	}
	want := "leave true <nil> <nil> map[n:1]; ask true <nil> <nil> map[]; " +
		"leave <nil> cancelled 7 map[n:1]; ask <nil> cancelled 143 map[]; "
	if got != want {
		t.Error(got)
	}
}

// AUD-3 to AUD-5: a line has the item as the client named it, the precise cause, and the revision and the name of a
// stateless client.
func TestItemsAndCausesInRecord(t *testing.T) {
	record := filepath.Join(t.TempDir(), "audit.jsonl")
	c := start(t, files(t, map[string]string{
		"tools/long/tool.sh":        "",
		"tools/long/tool.meta.json": `{"name":"long","description":"x","longRunning":{"after":1}}`,
	}), project.Env{"MCPBASH_AUDIT": record, "MCPBASH_ENABLE_HTTPS_PROVIDER": "true"})
	const name = `,"io.modelcontextprotocol/clientInfo":{"name":"cl","version":"1"}`
	list := []struct{ method, params, want string }{
		{"resources/read", `"name":"nope"`, "name nope: failure not_found"},
		{"resources/read", `"uri":"file:///etc/passwd"`, "uri file:///etc/passwd: denied policy"},
		{"resources/read", `"uri":"https://192.0.2.1/"`, "uri https://192.0.2.1/: denied policy"},
		{"prompts/get", `"name":"nope"`, "name nope: failure not_found"},
		{"completion/complete", `"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a"}`, "name p: success <nil>"},
		{"completion/complete", `"ref":{"type":"ref/resource","uri":"x://a"},"argument":{"name":"a"}`,
			"name x://a: success <nil>"},
		{"tools/call", `"name":"task_status"`, "name task_status: failure invalid_arguments"},
		{"tools/call", `"name":"task_status","arguments":{"taskId":"x"}`, "name task_status: failure not_found"},
	}
	for _, r := range list {
		c.ask(r.method, r.params, name)
	}
	c.request("tools/call", `{"name":"long","_meta":{"io.modelcontextprotocol/protocolVersion":"1900-01-01"`+name+`}}`)
	c.finish()
	text, _ := os.ReadFile(record)
	i := 0
	for line := range strings.Lines(string(text)) {
		var l recordLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		if l.Target["method"] == "" {
			continue
		}
		if l.Subjects["client_name"] != "cl" || l.Metadata.Extra["mcp_version"] != "2026-07-28" {
			t.Error(line)
		}
		got, want := "", "name long: failure invalid_request"
		for _, kind := range []string{"name", "uri"} {
			if l.Target[kind] != "" {
				got = fmt.Sprintf("%s %s: %s %v", kind, l.Target[kind], l.Outcome, l.Data["reason"])
			}
		}
		if i < len(list) {
			want = list[i].want
		}
		if i++; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if i != len(list)+1 {
		t.Error(i)
	}
}

// AUD-3: every refusal of a request has a line, with the tool if its message was read.
func TestRefusalsInRecord(t *testing.T) {
	dir := t.TempDir()
	record, gate := filepath.Join(dir, "audit.jsonl"), filepath.Join(dir, "gate")
	running, isRunning := mark(t, dir, "running")
	p := startHTTP(t, files(t, map[string]string{
		"tools/hello/tool.sh": ": >" + running + "\n" + waitAt(gate), "tools/hello/tool.meta.json": helloMeta,
	}), project.Env{"MCPBASH_AUDIT": record, "MCPBASH_HTTP_MAX_SESSIONS": "1", "MCPBASH_HTTP_MAX_BODY": "4096"})
	const call = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"hello","arguments":{"a":"open-sesame"}}}`
	const start = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`
	session := p.openSession()
	ended := make(chan bool)
	go func() {
		p.post(call, session)
		close(ended)
	}()
	isRunning()
	for _, c := range []struct {
		body    string
		headers map[string]string
		want    string // status, method and name of the target, cause
	}{
		{"{", nil, "400 POST /mcp invalid_request"},
		{"{", map[string]string{"Traceparent": "00-" + strings.Repeat("1", 32) + "-" + strings.Repeat("2", 16) + "-01"},
			"400 POST /mcp invalid_request"},
		{strings.Repeat(" ", 5000), nil, "413 POST /mcp invalid_request"},
		{call, nil, "400 tools/call hello invalid_request"},
		{call, map[string]string{"User-Agent": strings.Repeat("x", 240) + " ghp_0123456789abcdefghijABCDEFGHIJ012345"},
			"400 tools/call hello invalid_request"},
		{call, map[string]string{"Mcp-Session-Id": "other"}, "404 tools/call hello invalid_request"},
		{call, map[string]string{"Content-Type": "text/plain"}, "415 POST /mcp invalid_request"},
		{call, map[string]string{"Mcp-Session-Id": session["Mcp-Session-Id"], "Mcp-Protocol-Version": "2020-01-01"},
			"400 tools/call hello invalid_request"},
		{start, nil, "503 initialize  busy"},
	} {
		before := len(recordedLines(t, record, "http_request"))
		answer, _ := p.post(c.body, c.headers)
		lines := recordedLines(t, record, "http_request")[before:]
		got := fmt.Sprint(answer.StatusCode)
		for _, l := range lines {
			got += fmt.Sprintf(" %s %s %v", l.Target["method"], l.Target["name"], l.Data["reason"])
			if l.Source.Type != "local" || l.Source.Value != "" {
				t.Errorf("the source of a client of a socket file: %+v", l.Source)
			}
			trace := l.ID
			if c.headers["Traceparent"] != "" {
				trace = strings.Repeat("1", 32)
			}
			if got := l.Metadata.Extra["trace_id"]; got != trace {
				t.Errorf("%v: trace %v", c.headers, got)
			}
		}
		if got != c.want {
			t.Errorf("%s %v: %s, want %s", c.body, c.headers, got, c.want)
		}
	}
	if text, _ := os.ReadFile(record); strings.Contains(string(text), "sesame") || strings.Contains(string(text), "ghp_") {
		t.Errorf("%s", text)
	}
	openGate(t, gate)
	<-ended
}

// AUD-20: no line of a call has a value that the schema calls writeOnly, even if the server does not know the schema.
func TestSecretsOfRefusedCalls(t *testing.T) {
	record := filepath.Join(t.TempDir(), "audit.jsonl")
	c := start(t, files(t, map[string]string{
		"tools/hello/tool.sh": "echo hi", "tools/hello/tool.meta.json": `{"name":"hello","description":"x","inputSchema":` +
			`{"type":"object","properties":{"phrase":{"type":"string","writeOnly":true}}}}`,
	}), project.Env{"MCPBASH_AUDIT": record})
	const arguments = `{"phrase":"open-sesame"}`
	c.call("hello", arguments) // before the handshake
	c.handshake("2025-11-25", "{}")
	c.call("hello", arguments)
	c.call("none", arguments)
	refused := message("1", "tools/call", `{"name":"hello","arguments":`+arguments+`}`)
	c.send("[" + refused + "," + message("2", "ping", "") + "," + refused + "]")
	c.next()
	lines := recordedLines(t, record, "mcp_tool_call")
	var got []string
	for _, l := range lines {
		got = append(got, fmt.Sprint(l.Data["reason"], " ", l.Data["arguments"], " ", l.Data["arguments_sha256"] != nil, " ",
			l.Data["count"]))
	}
	want := []string{
		"invalid_request <nil> true <nil>", "<nil> map[phrase:[redacted]] false <nil>", "not_found <nil> true <nil>",
		"invalid_request <nil> true 1", // a batch
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if text, _ := os.ReadFile(record); strings.Contains(string(text), "sesame") {
		t.Errorf("%s", text)
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
		"":                   "MCPBASH_AUDIT_MODE=required needs MCPBASH_AUDIT or --audit",
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

// postAs sends a message with a token.
func (p *httpProcess) postAs(token, body string, headers map[string]string) (*http.Response, string) {
	p.t.Helper()
	all := maps.Clone(headers)
	if all == nil {
		all = map[string]string{}
	}
	all["Authorization"] = "Bearer " + token
	return p.post(body, all)
}

// AUD-3: a record has the begin and the end of a session, and changes of lists, also failed ones, and of tokens.
func TestChangesInRecord(t *testing.T) {
	record := filepath.Join(t.TempDir(), "audit.jsonl")
	tokens := filepath.Join(t.TempDir(), "tokens.json")
	create := func(name string) string {
		secret, err := tokenfile.Create(t.Context(), tokens, tokenfile.Token{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		return secret
	}
	ada := create("ada")
	root := files(t, map[string]string{"tools/hello/tool.sh": "echo", "tools/hello/tool.meta.json": helloMeta})
	p := startHTTP(t, root, project.Env{"MCPBASH_AUDIT": record, "MCP_TOOLS_TTL": "0"}, func(o *Options) {
		o.HTTP.Access.TokenFile = tokens
	})
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":{},"clientInfo":{"name":"tester","version":"7"}}}`
	answer, body := p.postAs(ada, initialize, nil)
	session := map[string]string{"Mcp-Session-Id": answer.Header.Get("Mcp-Session-Id")}
	if answer.StatusCode != 200 || session["Mcp-Session-Id"] == "" {
		t.Fatal(body)
	}
	p.postAs(ada, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, session)
	list := func() string {
		_, body := p.postAs(ada, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, session)
		return body
	}
	list()
	addFiles(t, root, map[string]string{
		"tools/second/tool.sh": "echo", "tools/second/tool.meta.json": `{"name":"second"}`,
	})
	if got := list(); !strings.Contains(got, `"second"`) {
		t.Fatal(got)
	}
	addFiles(t, root, map[string]string{"server.d/register.json": `{"tools":7}`})
	list()
	list()
	os.Remove(filepath.Join(root, "server.d", "register.json"))
	list()
	bob := create("bob")
	p.await("token", func() bool { answer, _ := p.postAs(bob, initialize, nil); return answer.StatusCode == 200 })
	request, _ := http.NewRequestWithContext(t.Context(), "DELETE", "http://x/mcp", nil)
	request.Header.Set("Mcp-Session-Id", session["Mcp-Session-Id"])
	request.Header.Set("Authorization", "Bearer "+ada)
	if answer, err := p.client.Do(request); err != nil || answer.Body.Close() != nil || answer.StatusCode != 204 {
		t.Fatal(answer, err)
	}
	p.signals <- syscall.SIGTERM
	p.ended(143)

	for kind, want := range map[string][]string{
		"mcp_initialize": {
			"ada tester 7 2025-06-18 initialize success", "bob tester 7 2025-06-18 initialize success",
		},
		"mcpbash_session_end":    {"ada tester 7 2025-06-18 success", "bob tester 7 2025-06-18 success"},
		"mcpbash_reload":         {"tools added=[second] success", "tools internal error", "tools success"},
		"mcpbash_token_changed":  {"token_file added=[bob] success"},
		"mcpbash_key_changed":    nil,
		"mcpbash_something_else": nil,
	} {
		var got []string
		for _, l := range recordedLines(t, record, kind) {
			got = append(got, l.summary())
			if l.Subjects != nil && l.Metadata.Extra["duration_ms"] == nil {
				t.Errorf("%s has no duration", kind)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
	if content, err := os.ReadFile(record); err != nil || strings.Contains(string(content), ada) ||
		strings.Contains(string(content), session["Mcp-Session-Id"]) {
		t.Error("the record has a credential", err)
	}
	begin, end := recordedLines(t, record, "mcp_initialize")[0], recordedLines(t, record, "mcpbash_session_end")[0]
	if begin.Source.Extra.Session == "" || begin.Source.Extra.Session != end.Source.Extra.Session {
		t.Errorf("%+v, %+v", begin, end)
	}
}

// summary returns what tests compare of a line: who, what, and how it ended.
func (l *recordLine) summary() string {
	parts := []string{
		l.Subjects["user"], l.Subjects["client_name"], l.Subjects["client_version"],
		asText(l.Metadata.Extra["mcp_version"]), l.Target["method"], l.Target["type"],
	}
	for _, name := range []string{"added", "removed", "changed"} {
		if l.Data[name] != nil {
			parts = append(parts, fmt.Sprint(name, "=", l.Data[name]))
		}
	}
	parts = append(parts, asText(l.Data["reason"]), l.Outcome)
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

func asText(v any) string {
	s, _ := v.(string)
	return s
}

// AUD-5: a failing script and a refusal do not count as failures of the server, so no client can cause its alert.
func TestCausesInRecord(t *testing.T) {
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	c := start(t, files(t, map[string]string{
		"providers/p.sh":        `case $1 in *wait) sleep 9;; *long) printf '%2000s';; esac; exit "${1##*/}"`,
		"completions/fails.sh":  `exit 1`,
		"completions/waits.sh":  `sleep 9`,
		"completions/writes.sh": `printf '%2000s'`,
		"completions/wrong.sh":  `echo '{"suggestions":1}'`,
		"resources/t.meta.json": `{"name":"t","uriTemplate":"p://{x}","provider":"p"}`,
		"server.d/register.json": `{"version":1,"completions":[{"name":"fails","path":"completions/fails.sh"},` +
			`{"name":"waits","path":"completions/waits.sh","timeoutSecs":1},` +
			`{"name":"writes","path":"completions/writes.sh"},{"name":"wrong","path":"completions/wrong.sh"}]}`,
	}), project.Env{
		"MCPBASH_AUDIT": file, "MCPBASH_MAX_RESOURCE_BYTES": "1000", "MCPBASH_MAX_TOOL_OUTPUT_SIZE": "1000",
		"MCPBASH_PROVIDER_TIMEOUT": "1",
	})
	c.handshake("2025-11-25", "{}")
	for uri, want := range map[string]string{
		"p://wait": "timeout application_error", "file:///etc/passwd": "policy denied",
		"p://2": "policy denied", "p://3": "not_found failure",
		"p://5": "tool_error application_error", "p://6": "answer_too_large application_error",
		"p://long": "answer_too_large application_error", "p://1": "tool_error application_error",
		"nothing://x": "not_found failure",
	} {
		c.request("resources/read", `{"uri":"`+uri+`"}`)
		lines := recordedLines(t, file, "mcp_resource_read")
		l := lines[len(lines)-1]
		if got := asText(l.Data["reason"]) + " " + l.Outcome; got != want || l.Target["uri"] != uri {
			t.Errorf("%s: %s, want %s", uri, got, want)
		}
	}
	for name, want := range map[string]string{
		"fails": "tool_error", "waits": "timeout", "writes": "output_too_large", "wrong": "tool_error",
	} {
		c.request("completion/complete", completing(ofPrompt(name), ""))
		lines := recordedLines(t, file, "mcp_completion")
		l := lines[len(lines)-1]
		if got := asText(l.Data["reason"]); got != want || l.Target["name"] != name {
			t.Errorf("%s: %s, want %s (%s)", name, got, want, l.Target["name"])
		}
	}
}

// AUD-19, AUD-22: a line has what ran, the size of the answer, and the answers of the client without secrets.
func TestRunInRecord(t *testing.T) {
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	const script = asking + `
ask '{"e":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}}'`
	const meta = `{"name":"asks","inputSchema":{"type":"object"}}`
	const single = `printf '{"message":"m"}' >"$MCP_INPUT_DIR/t"; mv "$MCP_INPUT_DIR/t" "$MCP_ELICIT_REQUEST_FILE"
until [ -e "$MCP_ELICIT_RESPONSE_FILE" ]; do sleep 0.02; done`
	root := files(t, map[string]string{
		"tools/asks/tool.sh": script, "tools/asks/tool.meta.json": meta, "tools/single/tool.sh": single,
	})
	c := start(t, root, project.Env{"MCPBASH_AUDIT": file, "MCP_TOOLS_TTL": "0"})
	c.handshake("2025-11-25", `{"elicitation":{}}`)
	for i, answer := range []string{
		`{"action":"accept","content":{"name":"Ada","api_key":"sesame"}}`, `{"action":"decline"}`, `{"action":"cancel"}`,
	} {
		if i == 2 {
			addFiles(t, root, map[string]string{"tools/asks/tool.sh": script + "\n# changed"})
		}
		tool := []string{"asks", "single", "asks"}[i]
		c.send(message(fmt.Sprint(100+i), "tools/call", `{"name":"`+tool+`"}`))
		question := c.await("question", func(line string) bool { return strings.Contains(line, "elicitation/create") })
		var of struct{ ID json.RawMessage }
		if err := json.Unmarshal([]byte(question), &of); err != nil {
			t.Fatal(err)
		}
		c.send(`{"jsonrpc":"2.0","id":` + string(of.ID) + `,"result":` + answer + `}`)
		c.response(fmt.Sprint(100 + i))
	}
	c.end()
	scripts := map[any]bool{}
	lines := recordedLines(t, file, "mcp_tool_call")
	for i, want := range []string{
		`{"method":"elicitation/create","result":{"action":"accept","content":{"api_key":"**redacted**","name":"Ada"}}}`,
		`{"method":"elicitation/create","result":{"action":"decline"}}`,
		`{"method":"elicitation/create","result":{"action":"cancel"}}`,
	} {
		l := lines[i]
		if got, _ := json.Marshal(l.Data["answers"]); string(got) != "["+want+"]" {
			t.Errorf("%d: %s", i, got)
		}
		if l.Metadata.Extra["response_size_bytes"] == nil {
			t.Errorf("%d: %+v", i, l)
		}
		scripts[l.Data["script_sha256"]] = true
	}
	if a, b := lines[0].Data["metadata_sha256"], lines[2].Data["metadata_sha256"]; a == nil || a != b {
		t.Error(a, b)
	}
	content := []byte("#!/bin/bash\n" + script + "\n")
	if !scripts[fmt.Sprintf("%x", sha256.Sum256(content))] || len(scripts) != 3 {
		t.Error(scripts)
	}
}

// AUD-2, AUD-18: an unusable key ends the start. The key is in no log, in no variable of a tool and not in the record.
func TestSealingKey(t *testing.T) {
	dir := t.TempDir()
	record, key := filepath.Join(dir, "audit.jsonl"), filepath.Join(dir, "key")
	first, err := seal.Create(key)
	if err != nil {
		t.Fatal(err)
	}
	env := project.Env{"MCPBASH_AUDIT": record, "MCPBASH_AUDIT_KEY": key, "MCPBASH_LOG_LEVEL": "debug"}
	p := startHTTP(t, files(t, map[string]string{
		"tools/hello/tool.sh": "env", "tools/hello/tool.meta.json": helloMeta,
	}), env)
	_, body := p.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hello"}}`, p.openSession())
	p.signals <- syscall.SIGTERM
	p.ended(143)
	content, err := os.ReadFile(record)
	if err != nil || !strings.Contains(body, "MCPBASH_") || strings.Contains(body, "MCPBASH_AUDIT") {
		t.Error(err, body)
	}
	last, err := seal.Read(key)
	if err != nil {
		t.Fatal(err)
	}
	for k := first; k.Epoch <= last.Epoch; k = k.Next() {
		secret := strings.Fields(k.Text())[4]
		if strings.Contains(string(content)+body+p.stderr.String(), secret) {
			t.Errorf("the key of epoch %d is visible", k.Epoch)
		}
	}
	if lines := recordedLines(t, record, "mcpbash_seal"); len(lines) < 2 || lines[0].Data["note"] != "start" ||
		lines[len(lines)-1].Data["note"] != "stop" {
		t.Error(lines)
	}
	os.WriteFile(key, []byte("x"), 0o600)
	p = beginHTTP(t, t.TempDir(), env)
	p.ended(1)
	if got := p.stderr.String(); !strings.Contains(got, key+": it is not a key of mcp-bash audit keygen") {
		t.Error(got)
	}
}
