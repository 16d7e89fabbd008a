//go:build unix

package httpd

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/pkg/project"
)

// H-12, H-13, H-27: an answer that nothing precedes is JSON, with a status.
func TestStatelessAnswers(t *testing.T) {
	files := tools(map[string]string{"hello": "echo hi", "needs": "echo x"})
	files["tools/needs/tool.meta.json"] = `{"name":"needs","description":"d",` +
		`"inputSchema":{"type":"object"},"requires":["sampling"]}`
	s := serve(t, files, nil)
	for _, c := range []struct {
		name, id, method, members string
		status                    int
		want                      string
	}{
		{"a list", "1", "tools/list", "", 200, `"name":"hello"`},
		{"a call", `"a"`, "tools/call", `"name":"hello"`, 200, `"text":"hi\n"`},
		{"discovery", "1", "server/discover", "", 200, `"supportedVersions"`},
		{"an unknown method", "1", "nope", "", 404, `"id":1,"error":{"code":-32601`},
		{"a method of the other protocol", "1", "ping", "", 404, `"code":-32601`},
		{"an unknown tool", "1", "tools/call", `"name":"none"`, 200, `"code":-32602`},
		{"a missing capability", "1", "tools/call", `"name":"needs"`, 400, `"code":-32021`},
		{"params of a wrong type", "1", "tools/call", `"name":7`, 200, `"code":-32602`},
	} {
		r := s.modern(t.Context(), c.id, c.method, c.members, "")
		if got := text(t, r); r.StatusCode != c.status || !strings.Contains(got, c.want) ||
			r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %s %s", c.name, r.Status, got)
		}
	}
}

// H-20 to H-23, H-25, H-27: a message that its headers do not match is refused, and so is one
// without what the protocol demands.
func TestHeaders(t *testing.T) {
	s := serve(t, tools(map[string]string{"hello": "echo hi", "größe": "echo groß"}), nil)
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{` + meta + `}}}`
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hello","_meta":{` + meta + `}}}`
	task := `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"x","_meta":{` + meta + `}}}`
	odd := strings.Replace(call, "hello", "größe", 1)
	read := `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"name":"a","uri":null,"_meta":{` + meta + `}}}`
	old := strings.Replace(list, "2026-07-28", "1900-01-01", 1)
	method, name := "Mcp-Method: tools/call", "Mcp-Name: hello"
	for _, c := range []struct {
		body   string
		lines  headersOf
		status int
		want   string
	}{
		{list, headersOf{stateless, "mcp-method: tools/list"}, 200, `"result"`},
		{list, headersOf{"Mcp-Method: tools/list"}, 400,
			`"code":-32020,"message":"Header mismatch: header Mcp-Protocol-Version is missing"`},
		{list, headersOf{"MCP-Protocol-Version: 2025-11-25", "Mcp-Method: tools/list"}, 400, `-32020`},
		{list, headersOf{stateless, stateless, "Mcp-Method: tools/list"}, 400, `occurs 2 times`},
		{list, headersOf{stateless}, 400, `header Mcp-Method is missing`},
		{list, headersOf{stateless, "Mcp-Method: Tools/List"}, 400, `-32020`},
		{list, headersOf{stateless, "Mcp-Method: tools/list", "Mcp-Session-Id: x", "Last-Event-ID: 7-1"}, 200,
			`"result"`},
		{call, headersOf{stateless, method, name}, 200, `hi\n`},
		{call, headersOf{stateless, method}, 400, `header Mcp-Name is missing`},
		{call, headersOf{stateless, method, "Mcp-Name: other"}, 400, `header Mcp-Name is`},
		{call, headersOf{stateless, method, name, name}, 400, `-32020`},
		{call, headersOf{stateless, method, "Mcp-Name: =?base64?aGVsbG8=?="}, 200, `hi\n`},
		{call, headersOf{stateless, method, "Mcp-Name: =?base64?aGVsbG8?="}, 400, `invalid base64`},
		{odd, headersOf{stateless, method, "Mcp-Name: =?base64?Z3LDtsOfZQ==?="}, 200, `groß\n`},
		{task, headersOf{stateless, "Mcp-Method: tasks/get", "Mcp-Name: x"}, 400, `-32021`},      // TASK-12
		{task, headersOf{stateless, "Mcp-Method: tasks/get"}, 400, `header Mcp-Name is missing`}, // TASK-16
		{task, headersOf{stateless, "Mcp-Method: tasks/get", "Mcp-Name: y"}, 400, `header Mcp-Name is`},
		{read, headersOf{stateless, "Mcp-Method: resources/read"}, 400, `header Mcp-Name is missing`},
		{read, headersOf{stateless, "Mcp-Method: resources/read", "Mcp-Name: file:///b"}, 400, `header Mcp-Name is`},
		{read, headersOf{stateless, "Mcp-Method: resources/read", "Mcp-Name: a"}, 200, `Resource not found`},
		{odd, headersOf{stateless, method, "Mcp-Name: größe"}, 400, `invalid characters`},
		{old, headersOf{"MCP-Protocol-Version: 1900-01-01"}, 400, `"code":-32022`},
		{old, headersOf{stateless}, 400, `-32020`},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, headersOf{stateless, "Mcp-Method: tools/list"}, 400,
			`"code":-32602`},
		{`{"jsonrpc":"2.0","method":"notifications/x"}`, headersOf{stateless}, 202, ""},
		{`{"jsonrpc":"2.0","id":1,"result":{}}`, headersOf{stateless}, 400, `-32600`},
		{`[]`, headersOf{stateless}, 400, `-32600`},
		{`{"jsonrpc":"2.0","id":{},"method":"x"}`, headersOf{stateless}, 400, `-32600`},
		{`{`, headersOf{stateless}, 400, `"code":-32700`},
		{`{} {}`, headersOf{stateless}, 400, `"code":-32700`},
		{list, headersOf{stateless, "Mcp-Method: tools/list", "Content-Type:", "Content-Type: text/plain"}, 415,
			"-32600"},
		{list, headersOf{stateless, "Mcp-Method: tools/list", "Content-Type:",
			"Content-Type: application/json; charset=utf-8"}, 200, ""},
		{list, headersOf{stateless, "Mcp-Method: tools/list", "Content-Type:",
			"Content-Type: application/json; charset=latin1"}, 415, ""},
		{list, headersOf{stateless, "Mcp-Method: tools/list", "Content-Encoding: gzip"}, 415, ""},
		{list, headersOf{stateless, "Mcp-Method: tools/list", "Content-Encoding: identity"}, 200, ""},
		{list, headersOf{stateless, "Mcp-Method: tools/list", "Accept:", "Accept: text/html"}, 406, "-32600"},
		{list, headersOf{stateless, "Mcp-Method: tools/list", "Accept:", "Accept: text/*;q=0.5",
			"Accept: Application/JSON"}, 200, ""},
		{list, headersOf{stateless, "Mcp-Method: tools/list", "Accept:", "Accept: */*"}, 200, ""},
	} {
		r := s.do(t.Context(), "POST", c.body, c.lines...)
		if got := text(t, r); r.StatusCode != c.status || !strings.Contains(got, c.want) {
			t.Errorf("%s %q: %s %s", c.body, c.lines, r.Status, got)
		}
	}
	for _, method := range []string{"GET", "DELETE"} {
		if r := s.do(t.Context(), method, "", stateless); r.StatusCode != 405 {
			t.Errorf("%s: %s", method, r.Status)
		}
	}
}

// H-4, H-10, H-11: paths, methods and sizes.
func TestRequests(t *testing.T) {
	s := serve(t, nil, project.Env{"MCPBASH_HTTP_MAX_BODY": "1000", "MCPBASH_HTTP_MAX_HEADER": "5000"})
	long := func(n int) string {
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{` + meta + `}}}`
		return body + strings.Repeat(" ", n-len(body))
	}
	for _, c := range []struct {
		method, body string
		lines        headersOf
		status       int
	}{
		{"GET /healthz", "", nil, 200}, {"GET /readyz", "", nil, 200}, {"POST /readyz", "", nil, 405},
		{"GET /", "", nil, 404}, {"POST /mcp/x", long(200), nil, 404}, {"PUT", long(200), nil, 405},
		{"POST", long(1000), headersOf{stateless, "Mcp-Method: tools/list"}, 200},
		{"POST", long(1001), headersOf{stateless, "Mcp-Method: tools/list"}, 413},
		{"POST", long(200), headersOf{stateless, "Mcp-Method: tools/list", "X: " + strings.Repeat("y", 20000)}, 431},
	} {
		if r := s.do(t.Context(), c.method, c.body, c.lines...); r.StatusCode != c.status {
			t.Errorf("%s %d: %s", c.method, len(c.body), r.Status)
		}
	}
	_,
		answer := s.raw(
		"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" +
			fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", 1500, long(1500)))
	r, err := http.ReadResponse(answer, nil)
	if err != nil || r.StatusCode != 413 {
		t.Error("a long body without a length", r, err)
	}
}

// H-11: the limit of a header is exact for the first request of a connection.
func TestHeaderLimit(t *testing.T) {
	header := func(size int) string {
		const start, end = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ", "\r\n\r\n"
		return start + strings.Repeat("y", size-len(start+end)) + end
	}
	ask := func(conn net.Conn, answer *bufio.Reader, size, status int) {
		t.Helper()
		io.WriteString(conn, header(size))
		r, err := http.ReadResponse(answer, nil)
		if err != nil || r.StatusCode != status {
			t.Fatalf("%d bytes: %v, %v", size, r, err)
		}
		if status == 200 {
			io.Copy(io.Discard, r.Body)
		}
	}
	for text, limit := range map[string]int{"": 32768, "10000": 10000, "1": 8192, "4096": 8192, "8192": 8192} {
		s := serve(t, nil, project.Env{"MCPBASH_HTTP_MAX_HEADER": text})
		for _, c := range []struct{ size, status int }{{200, 200}, {limit - 1, 200}, {limit, 200}, {limit + 1, 431},
			{limit + 232, 431}, {limit + 4097, 431}} {
			conn, answer := s.raw("")
			ask(conn, answer, c.size, c.status)
		}
		conn, answer := s.raw("")
		for _, c := range []struct{ size, status int }{{limit, 200}, {limit, 200}, {limit + 4097, 431}} {
			ask(conn, answer, c.size, c.status)
		}
	}
	s := serve(t, nil, project.Env{"MCPBASH_HTTP_MAX_HEADER": "9223372036854775807"})
	conn, answer := s.raw("")
	ask(conn, answer, 40000, 200)
}

// H-13, H-28: messages that precede the answer make the response a stream, which the answer ends.
func TestStatelessStream(t *testing.T) {
	s := serve(t, tools(map[string]string{"slow": sourceSDK + "mcp_progress 50 half; echo done"}), nil)
	r := sentEvents(t, s.modern(t.Context(), "7", "tools/call", `"name":"slow"`, `"progressToken":"p"`))
	if got := r.next(); !strings.Contains(got, `"progressToken":"p","progress":50`) {
		t.Error(got)
	}
	if got := r.next(); !strings.Contains(got, `"id":7,"result"`) || r.last != "" {
		t.Error(got, r.last)
	}
	if got := r.next(); got != "" {
		t.Error(got)
	}
}

// H-24: closing the connection cancels the request, whether its response has begun or not.
func TestStatelessCancelled(t *testing.T) {
	dir := t.TempDir()
	began, ended := filepath.Join(dir, "began"), filepath.Join(dir, "ended")
	s := serve(t, tools(map[string]string{
		"wait": sourceSDK + "trap 'touch " + ended + "; exit' TERM\nmcp_progress 1 x\ntouch " + began +
			"; sleep 60 & wait",
	}), nil)
	for _, more := range []string{"", `"progressToken":1`} {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			awaitFile(t, began)
			cancel()
		}()
		if r := s.modern(ctx, "1", "tools/call", `"name":"wait"`, more); r != nil {
			sentEvents(t, r).find("progress")
			cancel()
		}
		awaitFile(t, ended)
		cancel()
		os.Remove(began)
		os.Remove(ended)
	}
	await(t, "end of the request", func() bool { return !s.callerOf(nil).client.Busy() })
}

// H-31, M-50: a retry over another connection continues the suspended call.
func TestStatelessSuspended(t *testing.T) {
	s := serve(t, tools(map[string]string{"ask": sourceSDK + `mcp_emit_text "got $(mcp_elicit_string Name)"`}), nil)
	got := text(t, s.modern(t.Context(), "1", "tools/call", `"name":"ask"`, ""))
	state := between(got, `"requestState":"`, `"`)
	if !strings.Contains(got, `"input_required"`) || state == "" {
		t.Fatal(got)
	}
	s.client.CloseIdleConnections()
	got = text(t, s.modern(t.Context(), "2", "tools/call",
		`"name":"ask","requestState":"`+state+`",`+
			`"inputResponses":{"input-1":{"action":"accept","content":{"value":"Ann"}}}`, ""))
	if !strings.Contains(got, "Ann") || !strings.Contains(got, `"resultType":"complete"`) {
		t.Error(got)
	}
}

// between returns the text between two others.
func between(text, before, after string) string {
	_, text, _ = strings.Cut(text, before)
	text, _, _ = strings.Cut(text, after)
	return text
}

// H-29, H-30, H-80: a stream of subscriptions stays open, gets its changes and comments, and ends
// with its client. Streams with equal ids are independent.
func TestListen(t *testing.T) {
	files := map[string]string{
		"resources/a.txt":       "1",
		"resources/a.meta.json": `{"name":"a","uri":"file://@ROOT@/resources/a.txt"}`,
	}
	s := serve(t, files, project.Env{"MCPBASH_HTTP_KEEPALIVE": "0.05"})
	file := filepath.Join(s.root, "resources/a.txt")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	open := func(ctx context.Context) *reader {
		r := sentEvents(t, s.modern(ctx, "1", "subscriptions/listen",
			`"notifications":{"resourceSubscriptions":["file://`+file+`"]}`, ""))
		if got := r.next(); !strings.Contains(got, "acknowledged") || !strings.Contains(got, file) {
			t.Fatal(got)
		}
		return r
	}
	first, second := open(ctx), open(t.Context())
	if lines, ok := first.block(); !ok || lines[0] != ": " {
		t.Error(lines)
	}
	os.WriteFile(file, []byte("changed"), 0o644)
	for _, r := range []*reader{first, second} {
		if got := r.next(); !strings.Contains(got, "resources/updated") || !strings.Contains(got,
			`"io.modelcontextprotocol/subscriptionId":1`) {
			t.Error(got)
		}
	}
	cancel()
	await(t, "end of a stream", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.streams) == 1 })
	os.WriteFile(file, []byte("changed again"), 0o644)
	second.find("resources/updated")
	if r := s.modern(t.Context(), "1", "subscriptions/listen", "", ""); r.StatusCode != 200 ||
		r.Header.Get("Content-Type") != "application/json" {
		t.Error(r.Status, text(t, r))
	}
}
