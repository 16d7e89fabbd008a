package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/otel/internal/receiver"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/test/checkout"
)

// traceparent is what the client sends: a trace and the span of its call.
const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// A client speaks to a server over its standard input and output.
type client struct {
	t   *testing.T
	in  io.WriteCloser
	out *bufio.Reader
}

// call sends a request and returns the result.
func (c *client) call(request string) []byte {
	c.t.Helper()
	fmt.Fprintln(c.in, request)
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		c.t.Fatalf("%s: %v", request, err)
	}
	if rawjson.Get(line, "result") == nil {
		c.t.Fatalf("%s: %s", request, line)
	}
	return rawjson.Get(line, "result")
}

// serve starts a shell command with a server of a project that has one tool. The tool prints its trace context.
func serve(t *testing.T, env []string, command string) (c *client, wait func()) {
	t.Helper()
	dir := t.TempDir()
	if err := checkout.Build(dir, "mcp-bash/cmd/mcp-bash"); err != nil {
		t.Fatal(err)
	}
	project := t.TempDir()
	for name, text := range map[string]string{
		"server.d/server.meta.json":  `{"name":"lab","version":"1.0.0"}`,
		"tools/trace/tool.meta.json": `{"name":"trace","description":"Prints its trace context."}`,
		"tools/trace/tool.sh":        "#!/bin/sh\necho \"$TRACEPARENT\"\n",
	} {
		file := filepath.Join(project, name)
		os.MkdirAll(filepath.Dir(file), 0o755)
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("bash", "-c", command)
	cmd.Env = append(os.Environ(), "MCPBASH_PROJECT_ROOT="+project, "MCPBASH_TOOL_ALLOWLIST=*",
		"SERVER="+filepath.Join(dir, "mcp-bash"),
		"OTEL="+os.Args[0], asProgram+"=1")
	cmd.Env = append(cmd.Env, env...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	c = &client{t, in, bufio.NewReader(out)}
	c.call(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
		`"clientInfo":{"name":"lab-client","version":"1"}}}`)
	fmt.Fprintln(c.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c, func() {
		in.Close()
		io.Copy(io.Discard, out)
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
}

// trace calls the tool and returns the TRACEPARENT that its script got.
func (c *client) trace() string {
	c.t.Helper()
	result := c.call(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"trace","arguments":{},` +
		`"_meta":{"traceparent":"` + traceparent + `"}}}`)
	for content := range rawjson.Elements(rawjson.Get(result, "content")) {
		return strings.TrimSpace(rawjson.TextOf(content, "text"))
	}
	c.t.Fatalf("no content: %s", result)
	return ""
}

// checkTrace checks the spans of the call: the caller's, the request's and the script's are one line.
func checkTrace(t *testing.T, to *receiver.Receiver, script string) {
	t.Helper()
	to.Wait("the spans", func() bool { return len(to.Spans()) >= 3 })
	spans := map[string]receiver.Span{}
	for _, s := range to.Spans() {
		spans[s.Name()] = s
	}
	request, child := spans["tools/call trace"], spans["script trace"]
	if len(spans) != 3 || spans["initialize"].Service != "lab" || request.Service != "lab" ||
		request.ParentSpanID().String() != traceparent[36:52] ||
		child.ParentSpanID() != request.SpanID() {
		t.Fatalf("%+v", spans)
	}
	got := fmt.Sprintf("00-%s-%s-01", child.TraceID(), child.SpanID())
	if got != script || child.TraceID() != request.TraceID() {
		t.Errorf("the script got %s, and its span is %s", script, got)
	}
	if client := request.Attributes().AsRaw()["mcpbash.client.name"]; client != "lab-client" {
		t.Errorf("client %v", client)
	}
}

// ended reports whether the last line of a server has arrived, after its stop.
func ended(to *receiver.Receiver) bool {
	all := lines(to)
	return len(all) > 2 && strings.Contains(all[len(all)-2], `"type":"mcpbash_stop"`) &&
		strings.Contains(all[len(all)-1], `"type":"mcpbash_seal"`)
}

// counted returns how many requests or sessions the last export of a metric has.
func counted(to *receiver.Receiver, metric string) int {
	last := map[string]uint64{}
	for _, p := range to.Points() {
		if p.Name == metric {
			last[fmt.Sprint(p.Attributes().AsRaw())] = p.Count()
		}
	}
	sum := 0
	for _, n := range last {
		sum += int(n)
	}
	return sum
}

// A server and mcp-otel, which share a folder.
func TestServer(t *testing.T) {
	t.Parallel()
	to := receiver.New(t)
	records := t.TempDir()
	c, wait := serve(t, []string{"MCPBASH_AUDIT=" + records}, `exec "$SERVER"`)
	p := start(t, nil, to, nil, records)
	checkTrace(t, to, c.trace())
	wait()
	to.Wait("the end", func() bool { return ended(to) })
	to.Wait("the session", func() bool { return counted(to, "mcp.server.session.duration") == 1 })
	if n := counted(to, "mcp.server.operation.duration"); n != 2 {
		t.Errorf("%d requests", n)
	}
	if code := p.stop(); code != 0 || p.stderr.String() != "" {
		t.Errorf("%d: %s", code, p.stderr)
	}
	for _, line := range lines(to) {
		if !strings.Contains(line, `"component":"lab"`) {
			t.Error(line)
		}
	}
}

// A server and mcp-otel, which share a pipe.
func TestServerPipe(t *testing.T) {
	t.Parallel()
	to := receiver.New(t)
	c, wait := serve(t, []string{"MCPBASH_AUDIT=stderr", "OTEL_EXPORTER_OTLP_ENDPOINT=" + to.URL()},
		`exec "$SERVER" 2> >("$OTEL" -)`)
	checkTrace(t, to, c.trace())
	wait()
	to.Wait("the end", func() bool { return ended(to) })
}
