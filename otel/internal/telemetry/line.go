// Package telemetry translates lines of audit records into spans, log records and metrics of OpenTelemetry.
//
// OpenTelemetry's conventions for MCP have the names. Other names begin with "mcpbash.". The same line
// always becomes the same spans, so that a line that is sent twice can be recognised.
package telemetry

import (
	"encoding/hex"
	"encoding/json"
	"net"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/events/metrics"
	"mcp-bash/pkg/events/trail"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/mcp"
)

// A line is an entry with its other members.
type line struct {
	*trail.Entry
	source, extra, data, subjects json.RawMessage
	component, replica            string
	failure                       string // error.type
	trace                         trace.TraceID
	span                          trace.SpanID
}

func newLine(e *trail.Entry) *line {
	l := &line{Entry: e, source: rawjson.Get(e.Raw, "source"), data: rawjson.Get(e.Raw, "data"),
		extra: rawjson.Path(e.Raw, "metadata", "extra"), subjects: rawjson.Get(e.Raw, "subjects"),
		component: rawjson.TextOf(e.Raw, "component")}
	l.replica = rawjson.TextOf(l.extra, "replica")
	code, _ := strconv.Atoi(e.Code)
	if l.isRequest() {
		l.failure = metrics.FailureOf(code, e.Outcome, mcp.Cause(e.Reason))
	}
	l.trace = traceID(rawjson.TextOf(l.extra, "trace_id"))
	if !l.trace.IsValid() { // as the server does
		l.trace = traceID(e.ID)
	}
	copy(l.span[:], e.Hash[:])
	return l
}

// isRequest reports whether a line is about a request of MCP.
func (l *line) isRequest() bool { return l.Method != "" && strings.HasPrefix(string(l.Type), "mcp_") }

// ended returns when the answer was ready.
func (l *line) ended() time.Time { return l.Began.Add(l.Took) }

func traceID(text string) (id trace.TraceID) {
	decode(id[:], text)
	return id
}

func spanID(text string) (id trace.SpanID) {
	decode(id[:], text)
	return id
}

// decode reads an id in hexadecimal. It leaves an invalid one zero.
func decode(dst []byte, text string) {
	if len(text) != 2*len(dst) {
		return
	}
	if n, err := hex.Decode(dst, []byte(text)); err != nil {
		clear(dst[:n])
	}
}

// operation returns the attributes of spans and of the histogram: those with few values. tool is the name to use.
func (l *line) operation(tool string) (list []attribute.KeyValue) {
	add := func(name, value string) {
		if value != "" {
			list = append(list, attribute.String(name, value))
		}
	}
	add("mcp.method.name", l.Method)
	add("error.type", l.failure)
	switch l.Type {
	case events.ToolCall:
		add("gen_ai.tool.name", tool)
		add("gen_ai.operation.name", "execute_tool")
	case events.PromptGet:
		add("gen_ai.prompt.name", tool)
	}
	if strings.HasPrefix(l.failure, "-") {
		add("rpc.response.status_code", l.failure)
	}
	return append(list, l.network()...)
}

// network returns the attributes of the connection, which requests and sessions have.
func (l *line) network() (list []attribute.KeyValue) {
	if version := rawjson.TextOf(l.extra, "mcp_version"); version != "" {
		list = append(list, attribute.String("mcp.protocol.version", version))
	}
	switch rawjson.TextOf(l.extra, "transport") {
	case "stdio":
		list = append(list, attribute.String("network.transport", "pipe"))
	case "http":
		list = append(list, attribute.String("network.transport", "tcp"), attribute.String("network.protocol.name", "http"))
	}
	return list
}

// request returns the attributes of one request.
func (l *line) request() []attribute.KeyValue {
	list := l.operation(l.Target)
	add := func(name, value string) {
		if value != "" {
			list = append(list, attribute.String(name, value))
		}
	}
	extra := rawjson.Get(l.source, "extra")
	id := rawjson.Get(extra, "request_id")
	if text, isText := rawjson.Text(id); isText {
		add("jsonrpc.request.id", text)
	} else if string(id) != "null" {
		add("jsonrpc.request.id", string(id))
	}
	if l.Type == events.ResourceRead {
		add("mcp.resource.uri", rawjson.TextOf(rawjson.Get(l.Raw, "target"), "uri"))
	}
	add("mcp.session.id", rawjson.TextOf(extra, "session_id"))
	if host, port, err := net.SplitHostPort(l.Address); err == nil {
		add("client.address", host)
		if n, err := strconv.ParseUint(port, 10, 16); err == nil {
			list = append(list, attribute.Int64("client.port", int64(n)))
		}
	} else {
		add("client.address", l.Address)
	}
	add("user_agent.original", rawjson.TextOf(extra, "user_agent"))
	if user := rawjson.TextOf(l.subjects, "user"); user != "anonymous" {
		add("user.name", user)
		add("user.id", rawjson.TextOf(l.subjects, "user_id"))
	}
	add("mcpbash.client.name", l.Client)
	add("mcpbash.client.version", rawjson.TextOf(l.subjects, "client_version"))
	add("mcpbash.token", rawjson.TextOf(l.data, "token"))
	return append(list, l.outcome()...)
}

// outcome returns the attributes that every line has.
func (l *line) outcome() []attribute.KeyValue {
	list := []attribute.KeyValue{attribute.String("mcpbash.outcome", string(l.Outcome))}
	if l.ID != "" {
		list = append(list, attribute.String("mcpbash.audit_id", l.ID))
	}
	if l.Reason != "" {
		list = append(list, attribute.String("mcpbash.reason", l.Reason))
	}
	return list
}
