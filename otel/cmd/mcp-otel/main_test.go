package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mcp-bash/otel/internal/receiver"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/events"
	"mcp-bash/pkg/wire/mcp"
)

const asProgram = "BE_MCP_OTEL"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" { // a test has started itself as mcp-otel
		main()
	}
	os.Exit(m.Run())
}

// A running is a process of mcp-otel.
type running struct {
	t      *testing.T
	cmd    *exec.Cmd
	stderr *text
	ended  chan struct{}
}

// A text is written by a process and read by a test.
type text struct {
	mu  sync.Mutex
	b   bytes.Buffer
	got chan struct{} // closed at the next write
}

func (x *text) Write(p []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	close(x.got)
	x.got = make(chan struct{})
	return x.b.Write(p)
}

func (x *text) String() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.b.String()
}

// wait returns when the text contains another one.
func (x *text) wait(t *testing.T, part string) {
	t.Helper()
	for {
		x.mu.Lock()
		got, has := x.got, strings.Contains(x.b.String(), part)
		x.mu.Unlock()
		if has {
			return
		}
		select {
		case <-got:
		case <-time.After(5 * time.Minute):
			t.Fatalf("%q does not come: %s", part, x)
		}
	}
}

// start starts mcp-otel with an input, which may be nil.
func start(t *testing.T, in io.Reader, to *receiver.Receiver, env []string, args ...string) *running {
	t.Helper()
	p := &running{t: t, stderr: &text{got: make(chan struct{})}, ended: make(chan struct{})}
	p.cmd = exec.Command(os.Args[0], args...)
	p.cmd.Env = append(os.Environ(), asProgram+"=1", "OTEL_METRIC_EXPORT_INTERVAL=50", "MCPBASH_AUDIT=",
		"OTEL_EXPORTER_OTLP_TIMEOUT=60000")
	if to != nil {
		p.cmd.Env = append(p.cmd.Env, "OTEL_EXPORTER_OTLP_ENDPOINT="+to.URL())
	}
	p.cmd.Env = append(p.cmd.Env, env...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = in, os.Stdout, p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		<-p.ended
	})
	return p
}

// end waits for the end of a process and returns its exit code.
func (p *running) end() int {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(5 * time.Minute):
		p.t.Fatalf("does not end: %s", p.stderr)
	}
	return p.cmd.ProcessState.ExitCode()
}

func (p *running) stop() int {
	p.cmd.Process.Signal(syscall.SIGTERM)
	return p.end()
}

// once runs mcp-otel --once.
func once(t *testing.T, to *receiver.Receiver, env []string, args ...string) (code int, stderr string) {
	t.Helper()
	p := start(t, nil, to, env, append([]string{"--once"}, args...)...)
	return p.end(), p.stderr.String()
}

// A record writes lines as a server does.
type record struct {
	t    *testing.T
	path string
	link events.Link
	now  time.Time
	last []byte
}

func newRecord(t *testing.T, path string) *record {
	return &record{t: t, path: path, now: time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)}
}

// call is the event of a call of a tool.
func call(tool string, took time.Duration) *events.Event {
	return &events.Event{Type: events.ToolCall, ID: events.NewID(), Component: "disk-tools",
		Source: events.Source{Transport: "stdio", Revision: "2025-11-25", RequestID: []byte("7")},
		Target: events.Target{Method: "tools/call", Name: tool},
		Work:   events.Work{Took: took, Ran: took / 2, Ended: true}}
}

// line returns the next line.
func (r *record) line(e *events.Event) []byte {
	r.now = r.now.Add(time.Millisecond)
	e.Began = r.now
	line := e.AppendLine(nil, r.now, r.link)
	r.link = events.Link{Seq: r.link.Seq + 1, Prev: events.HashOf(line)}
	r.last = line
	return append(line, '\n')
}

// add appends the lines of events to the file.
func (r *record) add(all ...*events.Event) {
	r.t.Helper()
	for _, e := range all {
		r.write(r.line(e))
	}
}

// calls appends calls of a tool.
func (r *record) calls(n int) {
	r.t.Helper()
	var all bytes.Buffer
	for range n {
		all.Write(r.line(call("du", time.Millisecond)))
	}
	r.write(all.Bytes())
}

func (r *record) write(text []byte) {
	r.t.Helper()
	f, err := os.OpenFile(r.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err == nil {
		_, err = f.Write(text)
		f.Close()
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// rotate ends the file, as a server does.
func (r *record) rotate(n int) {
	r.t.Helper()
	if err := os.Rename(r.path, fmt.Sprintf("%s.%06d", r.path, n)); err != nil {
		r.t.Fatal(err)
	}
	r.write(nil)
}

// lines returns the bodies of all log records, in order and without repetitions.
func lines(r *receiver.Receiver) (all []string) {
	seen := map[string]bool{}
	for _, record := range r.Records() {
		if body := record.Body().Str(); !seen[body] {
			seen[body] = true
			all = append(all, body)
		}
	}
	return all
}

// sequence checks that the collector has the lines of a record from a number on, each once and in order.
func sequence(t *testing.T, r *receiver.Receiver, from, to int64) {
	t.Helper()
	got := lines(r)
	if len(got) != int(to-from) {
		t.Errorf("%d lines, not %d", len(got), to-from)
	}
	for i, line := range got {
		if _, link, err := events.Parse([]byte(line)); err != nil || link.Seq != from+int64(i) {
			t.Fatalf("line %d has number %d, %v", i, link.Seq, err)
		}
	}
}

// AUD-50: everything of a request arrives: its span, that of its script, the log record and the metrics.
func TestSignals(t *testing.T) {
	t.Parallel()
	to := receiver.New(t)
	r := newRecord(t, filepath.Join(t.TempDir(), "audit.jsonl"))
	const traceID, caller = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	failed := call("du", 3*time.Millisecond)
	failed.Trace = events.Trace{ID: traceID, Parent: caller, Link: strings.Repeat("a", 32),
		LinkSpan: strings.Repeat("b", 16)}
	failed.Source = events.Source{Transport: "http", Address: "10.0.0.7:4711", RequestID: []byte(`"r-1"`), Session: "s",
		Revision: "2025-11-25"}
	failed.Subject = events.Subject{User: "ada", Client: "claude"}
	failed.Cause, failed.Work.Status, failed.Work.Span = mcp.CauseStatus, 3, strings.Repeat("c", 16)
	refused := &events.Event{Type: events.ResourceRead, ID: events.NewID(), Component: "disk-tools",
		Source: events.Source{Transport: "stdio"},
		Target: events.Target{Method: "resources/read", Name: "file:///x", IsURI: true}, Cause: mcp.CauseSchema,
		Work: events.Work{Took: 100 * time.Millisecond, Code: -32602}}
	r.add(&events.Event{Type: events.Start, Component: "disk-tools"}, failed, refused, call("free", 10*time.Millisecond))
	code, stderr := once(t, to, []string{"OTEL_RESOURCE_ATTRIBUTES=deployment.environment.name=lab"}, r.path)
	if code != 0 || stderr != "mcp-otel: 4 lines sent, 0 skipped, 0 dropped, 0 spans and records refused\n" {
		t.Fatalf("%d: %s", code, stderr)
	}

	spans := map[string]receiver.Span{}
	for _, s := range to.Spans() {
		spans[s.Name()] = s
	}
	if len(spans) != 5 {
		t.Fatalf("%d spans: %v", len(spans), spans)
	}
	s := spans["tools/call du"]
	if s.Service != "disk-tools" || s.TraceID().String() != traceID || s.ParentSpanID().String() != caller ||
		s.Kind().String() != "Server" || s.Status().Code().String() != "Error" ||
		s.EndTimestamp()-s.StartTimestamp() != 3_000_000 || s.Links().Len() != 1 ||
		s.Links().At(0).SpanID().String() != strings.Repeat("b", 16) {
		t.Errorf("%s: %+v", s.Name(), s)
	}
	attributes := s.Attributes().AsRaw()
	for name, want := range map[string]any{"mcp.method.name": "tools/call", "gen_ai.tool.name": "du",
		"gen_ai.operation.name": "execute_tool", "error.type": "tool_error", "jsonrpc.request.id": "r-1",
		"network.transport": "tcp", "network.protocol.name": "http", "client.address": "10.0.0.7",
		"client.port": int64(4711), "mcp.session.id": "s", "mcp.protocol.version": "2025-11-25", "user.name": "ada",
		"mcpbash.client.name": "claude", "mcpbash.outcome": "application_error", "mcpbash.reason": string(mcp.CauseStatus)} {
		if attributes[name] != want {
			t.Errorf("%s is %v, not %v", name, attributes[name], want)
		}
	}
	script := spans["script du"]
	if script.ParentSpanID() != s.SpanID() || script.SpanID().String() != failed.Work.Span ||
		script.EndTimestamp()-script.StartTimestamp() != 1_500_000 ||
		script.Attributes().AsRaw()["process.exit.code"] != int64(3) {
		t.Errorf("script: %+v", script)
	}
	read := spans["resources/read"]
	if raw := read.Attributes().AsRaw(); raw["rpc.response.status_code"] != "-32602" || raw["error.type"] != "-32602" ||
		raw["mcp.resource.uri"] != "file:///x" || read.TraceID().String() != refused.ID {
		t.Errorf("%v", raw)
	}
	if free := spans["tools/call free"]; free.Status().Code().String() != "Unset" ||
		free.Attributes().AsRaw()["jsonrpc.request.id"] != "7" || free.Attributes().AsRaw()["network.transport"] != "pipe" {
		t.Errorf("%+v", free)
	}

	sequence(t, to, 0, 4)
	record := to.Records()[1]
	if record.EventName() != "mcp_tool_call" || record.SeverityText() != "WARN" || record.SpanID() != s.SpanID() ||
		record.TraceID() != s.TraceID() || record.Service != "disk-tools" {
		t.Errorf("%+v", record)
	}
	buckets := map[string]int{}
	for _, p := range to.Points() {
		tool := ""
		if v, ok := p.Attributes().Get("gen_ai.tool.name"); ok {
			tool = v.Str()
		}
		for i, n := range p.BucketCounts().AsRaw() {
			if n > 0 && i < p.ExplicitBounds().Len() {
				buckets[fmt.Sprintf("%s %s %g", p.Name, tool, p.ExplicitBounds().At(i))] = int(n)
			}
		}
	}
	const name = "mcp.server.operation.duration "
	want := map[string]int{name + "du 0.005": 1, name + "free 0.01": 1, name + " 0.1": 1}
	if fmt.Sprint(buckets) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", buckets, want)
	}
}

// The position survives: another run sends only what is new, and the metrics go on.
func TestPlace(t *testing.T) {
	t.Parallel()
	to := receiver.New(t)
	r := newRecord(t, filepath.Join(t.TempDir(), "audit.jsonl"))
	for i := range 3 {
		r.calls(10)
		if code, stderr := once(t, to, nil, r.path); code != 0 || !strings.HasPrefix(stderr, "mcp-otel: 10 lines sent") {
			t.Fatalf("run %d: %d: %s", i, code, stderr)
		}
	}
	if n := len(to.Records()); n != 30 {
		t.Errorf("%d records", n)
	}
	points := to.Points()
	last := points[len(points)-1]
	if last.Count() != 30 || last.Temporality.String() != "Cumulative" ||
		last.StartTimestamp() != points[0].StartTimestamp() {
		t.Errorf("%+v", last)
	}
	info, err := os.Stat(r.path + ".mcp-otel.json")
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// With OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=delta, each export has what is new.
func TestDelta(t *testing.T) {
	t.Parallel()
	to := receiver.New(t)
	r := newRecord(t, filepath.Join(t.TempDir(), "audit.jsonl"))
	for range 2 {
		r.calls(10)
		once(t, to, []string{"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=delta"}, r.path)
	}
	points := to.Points()
	if len(points) != 2 || points[0].Count() != 10 || points[1].Count() != 10 {
		t.Errorf("%+v", points)
	}
}

// A folder has a record for each server, and new ones appear. --new leaves out what is there.
func TestFolder(t *testing.T) {
	t.Parallel()
	to := receiver.New(t)
	dir := t.TempDir()
	a, b := newRecord(t, filepath.Join(dir, "a.jsonl")), newRecord(t, filepath.Join(dir, "b.jsonl"))
	a.calls(5)
	p := start(t, nil, to, []string{"OTEL_METRICS_EXPORTER=none", "OTEL_TRACES_EXPORTER=none"}, "--new", dir)
	for { // until the position is kept
		if _, err := os.Stat(filepath.Join(dir, "mcp-otel.json")); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	a.calls(2)
	b.calls(3)
	to.Wait("the new lines", func() bool { return len(lines(to)) == 5 })
	if code := p.stop(); code != 0 || len(to.Spans())+len(to.Points()) != 0 {
		t.Errorf("%d, %d spans, %d points", code, len(to.Spans()), len(to.Points()))
	}
}

// AUD-51: a collector that is away gets everything later, also after a restart.
func TestAway(t *testing.T) {
	t.Parallel()
	to := receiver.New(t)
	to.Stop()
	r := newRecord(t, filepath.Join(t.TempDir(), "audit.jsonl"))
	r.calls(1200)
	if code, stderr := once(t, to, nil, r.path); code != 1 ||
		!strings.Contains(stderr, "connection refused\nstart the collector, or name it in OTEL_EXPORTER_OTLP_ENDPOINT") {
		t.Errorf("%d: %s", code, stderr)
	}
	p := start(t, nil, to, nil, r.path)
	p.stderr.wait(t, "start the collector")
	r.calls(10)
	if code := p.stop(); code != 0 {
		t.Errorf("SIGTERM: %d: %s", code, p.stderr)
	}
	p = start(t, nil, to, nil, r.path)
	p.stderr.wait(t, "start the collector")
	to.Start()
	to.Wait("all lines", func() bool { return len(lines(to)) == 1210 })
	p.stderr.wait(t, "the collector takes traces again")
	p.stop()
	sequence(t, to, 0, 1210)
}

// AUD-52: a collector that is busy, or refuses the credentials, gets everything later. One that refuses single lines
// gets the others. One that refuses everything may not be a collector, so nothing is left out.
func TestRefused(t *testing.T) {
	t.Parallel()
	to := receiver.New(t)
	logsOnly := []string{"OTEL_TRACES_EXPORTER=none", "OTEL_METRICS_EXPORTER=none",
		"OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20x", "OTEL_EXPORTER_OTLP_COMPRESSION=none"}
	answers := []int{http.StatusServiceUnavailable, http.StatusUnauthorized, http.StatusBadRequest}
	to.Answer(func(string, []byte) (status int) {
		if len(answers) > 0 {
			status, answers = answers[0], answers[1:]
		}
		return status
	})
	r := newRecord(t, filepath.Join(t.TempDir(), "audit.jsonl"))
	r.calls(1)
	p := start(t, nil, to, logsOnly, r.path)
	to.Wait("the line", func() bool { return len(lines(to)) == 1 })
	if got := to.Headers()[0].Get("Authorization"); got != "Bearer x" {
		t.Errorf("%q", got)
	}
	p.stop()

	to.Answer(func(_ string, body []byte) int {
		if bytes.Contains(body, []byte("poison")) {
			return http.StatusBadRequest
		}
		return 0
	})
	r.add(call("poison", 0), call("a", 0), call("poison", 0), call("b", 0), call("c", 0), call("poison", 0), call("d", 0))
	if code, stderr := once(t, to, logsOnly, r.path); code != 1 || len(lines(to)) != 5 ||
		!strings.Contains(stderr, "7 lines sent, 0 skipped, 0 dropped, 3 spans and records refused") {
		t.Errorf("%d, %d lines: %s", code, len(lines(to)), stderr)
	}

	to.Answer(func(string, []byte) int { return http.StatusBadRequest })
	r.calls(3)
	if code, stderr := once(t, to, logsOnly, r.path); code != 1 ||
		!strings.Contains(stderr, "check OTEL_EXPORTER_OTLP_ENDPOINT") {
		t.Errorf("%d: %s", code, stderr)
	}
	to.Answer(nil)
	if code, stderr := once(t, to, logsOnly, r.path); code != 0 || !strings.Contains(stderr, "3 lines sent") {
		t.Errorf("%d: %s", code, stderr)
	}
}

// Killed during any request, before or after the collector took it, mcp-otel loses no line. Spans that arrive twice
// have the same ids, and the metrics count each request once.
func TestKilled(t *testing.T) {
	t.Parallel()
	to := receiver.New(t)
	r := newRecord(t, filepath.Join(t.TempDir(), "audit.jsonl"))
	const each = 700 // two batches
	runs := 0
	for at := 1; at <= 7; at++ {
		for _, status := range []int{http.StatusOK, http.StatusInternalServerError} {
			r.calls(each)
			runs++
			var p *running
			request := 0
			started := make(chan struct{})
			to.Answer(func(string, []byte) int {
				<-started
				if request++; request < at {
					return 0
				}
				p.cmd.Process.Kill()
				return status
			})
			p = start(t, nil, to, nil, r.path)
			close(started)
			p.end()
		}
	}
	to.Answer(nil)
	if code, stderr := once(t, to, nil, r.path); code != 0 {
		t.Fatalf("%d: %s", code, stderr)
	}
	sequence(t, to, 0, int64(runs*each))
	ids := map[string]bool{}
	for _, s := range to.Spans() {
		ids[s.TraceID().String()+s.SpanID().String()] = true
	}
	if len(ids) != 2*runs*each { // of the call and of its script
		t.Errorf("%d spans, not %d", len(ids), 2*runs*each)
	}
	points := to.Points()
	if last := points[len(points)-1]; last.Count() != uint64(runs*each) {
		t.Errorf("the metrics count %d requests, not %d", last.Count(), runs*each)
	}
	if len(to.Records()) == runs*each {
		t.Error("no line was sent twice, so the test tests nothing")
	}
}

// A file that rotates while mcp-otel is away, or at work, is read to its end. Files that are removed meanwhile are
// counted.
func TestRotation(t *testing.T) {
	t.Parallel()
	to := receiver.New(t)
	r := newRecord(t, filepath.Join(t.TempDir(), "audit.jsonl"))
	r.calls(5)
	once(t, to, nil, r.path)
	r.calls(5) // the end of a file that has its number at the next start
	r.rotate(1)
	r.calls(5)
	r.rotate(2)
	p := start(t, nil, to, nil, r.path)
	to.Wait("the ended files", func() bool { return len(lines(to)) == 15 })
	for n := 3; n < 40; n++ {
		r.calls(20)
		r.rotate(n)
	}
	r.calls(20)
	to.Wait("all files", func() bool { return len(lines(to)) == 15+38*20 })
	p.stop()
	sequence(t, to, 0, 15+38*20)
	if code := p.end(); code != 0 || p.stderr.String() != "" {
		t.Errorf("%d: %s", code, p.stderr)
	}

	for n := 40; n < 43; n++ { // 60 lines, of which the server keeps 40
		r.calls(20)
		r.rotate(n)
	}
	for n := 1; n <= 40; n++ {
		os.Remove(fmt.Sprintf("%s.%06d", r.path, n))
	}
	code, stderr := once(t, to, nil, r.path)
	want := fmt.Sprintf("mcp-otel: %s: 20 lines from number 775 on were removed before they were read\n"+
		"mcp-otel: 40 lines sent, 0 skipped, 20 dropped, 0 spans and records refused\n", r.path)
	if code != 1 || stderr != want {
		t.Errorf("%d: %s, not %s", code, stderr, want)
	}
}

// Lines that no server wrote are skipped and counted. They do not end the run or reach the terminal as they are.
func TestHostile(t *testing.T) {
	t.Parallel()
	to := receiver.New(t)
	r := newRecord(t, filepath.Join(t.TempDir(), "audit\x1b[31m.jsonl"))
	r.calls(1)
	hostile := []string{strings.Repeat("x", 3*events.MaxLine), "{", "\x1b[2J\x00\xff", `{"msg":"audit_event"}`, "",
		`{"msg":"audit_event","chain":{"seq":-1,"prev":"` + strings.Repeat("0", 64) + `"}}`,
		strings.Repeat("[", 100_000)}
	r.write([]byte(strings.Join(hostile, "\n") + "\n"))
	for range 2000 { // more than a batch
		r.write([]byte("{}\n"))
	}
	r.calls(1)
	strange := call("du", 0) // a line with the right form and strange values
	strange.Target.Name = "\x1b]0;x\x07\u202e"
	strange.Source.Address, strange.Source.RequestID = "]:[::", []byte(`{"a":[1e999]}`)
	strange.Trace = events.Trace{ID: "xyz", Parent: strings.Repeat("0", 16)}
	r.add(strange)
	timeless := fmt.Sprintf(`{"msg":"audit_event","type":"mcp_tool_call","audit_id":"%s",`+
		`"component":"disk-tools","target":{"method":"tools/call"},"metadata":{"extra":{"duration_ms":1e300}},`+
		`"chain":{"seq":3,"prev":"%s"}}`, strange.ID, r.link.Prev)
	r.write([]byte(timeless + "\n"))
	r.write([]byte("{\"torn"))
	code, stderr := once(t, to, nil, r.path)
	if code != 0 || !strings.Contains(stderr, "4 lines sent, 2007 skipped, 0 dropped") ||
		strings.Contains(stderr, "\x1b") {
		t.Errorf("%d: %q", code, stderr)
	}
	sequence(t, to, 0, 4)
	if n := len(to.Spans()); n != 6 { // no script ran for 0 s
		t.Errorf("%d spans", n)
	}
}

// A changed record is reported, and read on.
func TestChanged(t *testing.T) {
	t.Parallel()
	to := receiver.New(t)
	r := newRecord(t, filepath.Join(t.TempDir(), "audit.jsonl"))
	r.calls(1)
	first := int64(len(r.last) + 1)
	r.calls(2)
	r.link.Prev[0]++
	r.calls(1)
	code, stderr := once(t, to, nil, r.path)
	if code != 0 || !strings.Contains(stderr, "line number 3 does not follow the line before it") {
		t.Errorf("%d: %s", code, stderr)
	}
	os.Truncate(r.path, first)
	if code, stderr := once(t, to, nil, r.path); !strings.Contains(stderr, "shorter than what was read") {
		t.Errorf("cut: %d: %s", code, stderr)
	}
	other := newRecord(t, r.path)
	os.Remove(r.path)
	other.calls(2)
	if code, stderr := once(t, to, nil, r.path); code != 0 || !strings.Contains(stderr, "another record begins") ||
		!strings.Contains(stderr, "2 lines sent") {
		t.Errorf("replaced: %d: %s", code, stderr)
	}
}

// From a pipe, other lines go to standard error. With --once nothing is dropped.
func TestPipe(t *testing.T) {
	t.Parallel()
	to := receiver.New(t)
	r := newRecord(t, "")
	var in bytes.Buffer
	for range 11_000 { // more than wait in memory
		in.Write(r.line(call("du", time.Millisecond)))
	}
	in.WriteString("mcp-bash: listening\n")
	p := start(t, &in, to, []string{"OTEL_TRACES_EXPORTER=none"}, "--once", "-")
	if code := p.end(); code != 0 || p.stderr.String() != "mcp-bash: listening\n"+
		"mcp-otel: 11000 lines sent, 1 skipped, 0 dropped, 0 spans and records refused\n" {
		t.Errorf("%d: %s", code, p.stderr)
	}
	sequence(t, to, 0, 11_000)
}

// The writer of a pipe never waits: lines above the limit are dropped and counted. mcp-otel ends with the pipe, after
// it has sent its queue.
func TestPipeOverflow(t *testing.T) {
	t.Parallel()
	to := receiver.New(t)
	to.Stop()
	r := newRecord(t, "")
	in, out := io.Pipe()
	p := start(t, in, to, []string{"OTEL_TRACES_EXPORTER=none"}, "-")
	out.Write(r.line(call("du", time.Millisecond)))
	p.stderr.wait(t, "start the collector") // one line is being sent, and the others wait
	for range 10_007 {
		if _, err := out.Write(r.line(call("du", time.Millisecond))); err != nil {
			t.Fatal(err)
		}
	}
	io.WriteString(out, "the last line\n") // it is read after the others
	p.stderr.wait(t, "the last line\n")
	if want := "10000 lines wait for the collector; newer ones are dropped until there is room"; !strings.Contains(
		p.stderr.String(), want) {
		t.Errorf("%s, without %s", p.stderr, want)
	}
	to.Start()
	to.Wait("what waited", func() bool { return len(lines(to)) == 10_001 })
	out.Close()
	if code := p.end(); code != 1 || !strings.Contains(p.stderr.String(), "10001 lines sent, 1 skipped, 7 dropped") {
		t.Errorf("%d: %s", code, p.stderr)
	}
	sequence(t, to, 0, 10_001)
}

// Errors name the cause and a remedy.
func TestErrors(t *testing.T) {
	t.Parallel()
	r := newRecord(t, filepath.Join(t.TempDir(), "audit.jsonl"))
	r.calls(1)
	broken := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(broken, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		code       int
		env, args  string
		cause, fix string
	}{
		{2, "", "", "name a file or a folder, or - for standard input", "--help"},
		{2, "MCPBASH_AUDIT=journald", "", "since MCPBASH_AUDIT names none", "--help"},
		{2, "", "--state x -", "for files, not for standard input", "--help"},
		{1, "", "missing.jsonl", "missing.jsonl: no such file", "start the server with MCPBASH_AUDIT=missing.jsonl"},
		{1, "OTEL_EXPORTER_OTLP_PROTOCOL=grpc", r.path, "only http/protobuf", "4318"},
		{1, "OTEL_EXPORTER_OTLP_LOGS_PROTOCOL=http/json", r.path, "OTEL_EXPORTER_OTLP_LOGS_PROTOCOL=http/json: only", "4318"},
		{1, "OTEL_EXPORTER_OTLP_ENDPOINT=collector:4318", r.path, "not an HTTP address", "http://collector:4318"},
		{1, "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT=10s", r.path, "not a number of milliseconds", "10000"},
		{1, "OTEL_EXPORTER_OTLP_CERTIFICATE=missing.pem", r.path, "missing.pem: ", "in PEM"},
		{1, "OTEL_EXPORTER_OTLP_HEADERS=a b=c", r.path, "invalid", "correct the variables"},
		{1, "OTEL_METRICS_EXPORTER=prometheus", r.path, "no such exporter", "otlp or none"},
		{1, "OTEL_SDK_DISABLED=true", r.path, "nothing to send", "remove one of"},
		{1, "OTEL_RESOURCE_ATTRIBUTES=a", r.path, "OTEL_RESOURCE_ATTRIBUTES", "name=value"},
		{1, "", "--state " + broken + " " + r.path, "not a state of mcp-otel", "remove it"},
		{1, "", "--state /proc/none/x " + r.path, "no such file", "--state"},
	} {
		var env []string
		if row.env != "" {
			env = []string{row.env}
		}
		p := start(t, nil, nil, env, append([]string{"--once"}, strings.Fields(row.args)...)...)
		if code := p.end(); code != row.code || !strings.Contains(p.stderr.String(), row.cause) ||
			!strings.Contains(p.stderr.String(), row.fix) {
			t.Errorf("%s mcp-otel %s: %d: %s", row.env, row.args, code, p.stderr)
		}
	}
}

// Two processes do not share a position.
func TestLocked(t *testing.T) {
	t.Parallel()
	to := receiver.New(t)
	r := newRecord(t, filepath.Join(t.TempDir(), "audit.jsonl"))
	r.calls(1)
	p := start(t, nil, to, nil, r.path)
	to.Wait("the line", func() bool { return len(lines(to)) == 1 })
	if code, stderr := once(t, to, nil, r.path); code != 1 || !strings.Contains(stderr, "another mcp-otel uses it") {
		t.Errorf("%d: %s", code, stderr)
	}
	p.stop()
}

// The help begins with examples, after one sentence.
func TestHelp(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if code := command().Main(cli.Streams{Out: &out, Err: &out}, name, []string{"--help"}); code != 0 ||
		strings.Index(out.String(), "Examples:") > strings.Index(out.String(), "Usage:") {
		t.Errorf("%d: %s", code, &out)
	}
}
