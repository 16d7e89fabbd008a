//go:build unix

package httpd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/protocol"
	"mcp-bash/pkg/protocol/calls"
)

// H-60, H-61: the server stops being ready, streams end with their reason, and running requests
// finish before it ends.
func TestDrain(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, tools(map[string]string{
		"wait": sourceSDK + "touch " + dir + "/began; " + waitAt(dir+"/go") + "echo done",
		"ask":  sourceSDK + `mcp_emit_text "got $(mcp_elicit_string Name)"`,
	}), project.Env{"MCPBASH_HTTP_DRAIN_DELAY": "1"})
	se := s.open("2025-11-25", `"elicitation":{}`)
	own := se.listen()
	listen := sentEvents(t, s.modern(t.Context(), "9", "subscriptions/listen",
		`"notifications":{"toolsListChanged":true}`, ""))
	listen.find("acknowledged")
	answers := make(chan string, 2)
	go func() { answers <- text(t, se.call("1", "wait", "")) }()
	awaitFile(t, dir+"/began")
	asked := sentEvents(t, se.call("2", "ask", ""))
	asked.find("elicitation/create")

	drained := make(chan *protocol.Ending)
	go func() { drained <- s.Drain() }()
	await(t, "not ready", func() bool { return s.do(t.Context(), "GET /readyz", "").StatusCode == 503 })
	r := s.modern(t.Context(), "1", "tools/list", "", "")
	if r.StatusCode != 200 || !r.Close {
		t.Error("a request during the delay:", r.Status, r.Header)
	}
	if got := listen.find(`"id":9,"result"`); !strings.Contains(got, "complete") || listen.next() != "" {
		t.Error(got)
	}
	for reason := false; ; {
		lines, ok := own.block()
		if !ok {
			if !reason {
				t.Error("the stream ended without a reason")
			}
			break
		}
		reason = reason || lines[0] == ": the server stops"
	}
	asked.find("cancel")
	select {
	case <-drained:
		t.Fatal("it ended before its requests")
	default:
	}
	os.WriteFile(dir+"/go", nil, 0o644)
	if got := <-answers; !strings.Contains(got, `done\n`) {
		t.Error(got)
	}
	if lost := <-drained; lost != nil {
		t.Error(lost)
	}
}

// drain begins the end of a server, and returns when it accepts no more connections. Kept connections stay open as long
// as necessary. ended is closed at the end.
func (s *testServer) drain() (ended chan struct{}) {
	s.t.Helper()
	s.limits.kept = patience
	ended = make(chan struct{})
	go func() {
		s.Drain()
		close(ended)
	}()
	select {
	case <-s.accepted:
	case <-time.After(patience):
		s.t.Fatal("the server still accepts connections")
	}
	return ended
}

const probe = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"

// H-60: a request over a kept connection is answered after the server accepts no more connections. The answer announces
// the end of the connection. The server ends once all clients have left.
func TestKeptConnections(t *testing.T) {
	s := serve(t, nil, nil)
	var conns []net.Conn
	var readers []*bufio.Reader
	answer := func(i int) *http.Response {
		t.Helper()
		conns[i].SetReadDeadline(time.Now().Add(patience))
		r, err := http.ReadResponse(readers[i], nil)
		if err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		io.Copy(io.Discard, r.Body)
		return r
	}
	for i := range 5 {
		c, in := s.raw(probe)
		defer c.Close()
		conns, readers = append(conns, c), append(readers, in)
		if r := answer(i); r.StatusCode != 200 || r.Close {
			t.Fatal(r.Status, r.Close)
		}
	}
	ended := s.drain()
	for i, c := range conns[:4] {
		io.WriteString(c, probe)
		if r := answer(i); r.StatusCode != 200 || !r.Close {
			t.Errorf("connection %d: %s, close: %v", i, r.Status, r.Close)
		}
	}
	select {
	case <-ended:
		t.Error("a connection is open, and the server has ended")
	default:
	}
	conns[4].Close()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("all connections are closed, and the server goes on")
	}
}

// H-60: a request whose body arrives while the server ends is run.
func TestLateBody(t *testing.T) {
	s := serve(t, nil, nil)
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{` + meta + `}}}`
	c, in := s.raw(fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n%s\r\n"+
		"Mcp-Method: tools/list\r\nContent-Length: %d\r\n\r\n", stateless, len(body)))
	defer c.Close()
	await(t, "the header", func() bool { return s.pending.Load() == 1 })
	ended := s.drain()
	io.WriteString(c, body)
	r, err := http.ReadResponse(in, nil)
	if err != nil || r.StatusCode != 200 || !r.Close {
		t.Errorf("%v, %v", err, r)
	}
	<-ended
}

// H-60: an answer that began before the end closes its connection, also one of events, whose header was sent before.
func TestAnswersCloseConnections(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, tools(map[string]string{
		"plain":  "touch " + dir + "/plain; " + waitAt(dir+"/go1") + "echo done",
		"events": sourceSDK + "mcp_progress 1 half; " + waitAt(dir+"/go2") + "echo done",
	}), project.Env{"MCPBASH_HTTP_DRAIN_DELAY": "30"})
	plain := make(chan *http.Response, 1)
	go func() { plain <- s.modern(t.Context(), "1", "tools/call", `"name":"plain"`, "") }()
	awaitFile(t, dir+"/plain")
	body := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"events","_meta":{` + meta +
		`,"progressToken":1}}}`
	c, in := s.raw(fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n%s\r\n"+
		"Mcp-Method: tools/call\r\nMcp-Name: events\r\nContent-Length: %d\r\n\r\n%s", stateless, len(body), body))
	defer c.Close()
	c.SetReadDeadline(time.Now().Add(patience))
	r, err := http.ReadResponse(in, nil)
	if err != nil || r.Close {
		t.Fatalf("%v, %v", err, r)
	}
	progress := sentEvents(t, r)
	progress.find("half")
	go s.Drain()
	await(t, "end", func() bool { return !s.serving.Load() })
	os.WriteFile(dir+"/go1", nil, 0o644)
	if r := <-plain; r.StatusCode != 200 || !r.Close {
		t.Errorf("%s, close: %v", r.Status, r.Close)
	}
	os.WriteFile(dir+"/go2", nil, 0o644)
	progress.find("done")
	io.Copy(io.Discard, r.Body)
	if n, err := io.Copy(io.Discard, in); n != 0 || err != nil {
		t.Errorf("%d bytes after the answer, %v", n, err)
	}
}

// TASK-62: a task goes on while the server ends, and the server waits until its client has the answer.
func TestDrainTasks(t *testing.T) {
	dir := t.TempDir()
	files := tools(map[string]string{"work": waitAt(dir+"/go") + "echo done"})
	files["tools/work/tool.meta.json"] = `{"name":"work","description":"d","longRunning":true,"inputSchema":{` +
		`"type":"object"}}`
	s := serve(t, files, nil)
	const extension = `"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	ask := func(method, members, name string) string {
		t.Helper()
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s,"_meta":{`+
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
			`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},%s}}}`, method, members, extension)
		return text(t, s.do(t.Context(), "POST", body, stateless, "Mcp-Method: "+method, "Mcp-Name: "+name))
	}
	id := between(ask("tools/call", `"name":"work"`, "work"), `"taskId":"`, `"`)
	ended := make(chan struct{})
	go func() {
		s.Drain()
		close(ended)
	}()
	await(t, "end", func() bool { return !s.serving.Load() })
	state := func() string { return ask("tasks/get", `"taskId":"`+id+`"`, id) }
	if got := state(); !strings.Contains(got, `"status":"working"`) {
		t.Fatal(got)
	}
	os.WriteFile(dir+"/go", nil, 0o644)
	await(t, "the answer", func() bool { return strings.Contains(state(), `done\n`) })
	s.client.CloseIdleConnections()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("the client has its answer, and the server goes on")
	}
}

// TASK-62: tasks that run longer than the time for running requests end with the server.
func TestDrainEndsTasks(t *testing.T) {
	dir := t.TempDir()
	files := tools(map[string]string{"work": "touch " + dir + "/began; " + waitAt(dir+"/go")})
	files["tools/work/tool.meta.json"] = `{"name":"work","description":"d","longRunning":true,"inputSchema":{` +
		`"type":"object"}}`
	s := serve(t, files, project.Env{"MCPBASH_TASK_AFTER": "1"})
	se := s.open("2025-11-25", "")
	if got := text(t, se.call("1", "work", "")); !strings.Contains(got, "still runs") {
		t.Fatal(got)
	}
	s.limits.drain = 20 * time.Millisecond
	s.Drain()
	if s.Config.Server.OwesTasks(time.Now()) {
		t.Error("a task goes on")
	}
}

// H-12: a request that is cut off at the end of the server is refused with its id.
func TestCutOff(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, tools(map[string]string{"work": "touch " + dir + "/began.$$; sleep 600"}), nil)
	se := s.open("2025-11-25", "")
	answers := make(chan string, 2)
	go func() { answers <- text(t, se.call("7", "work", "")) }()
	go func() { answers <- text(t, s.modern(t.Context(), `"a"`, "tools/call", `"name":"work"`, "")) }()
	await(t, "two calls", func() bool {
		list, _ := filepath.Glob(dir + "/began.*")
		return len(list) == 2
	})
	s.Kill(calls.ErrStopping, true)
	got := []string{<-answers, <-answers}
	slices.Sort(got)
	if !strings.HasPrefix(got[0], `{"jsonrpc":"2.0","id":"a","error":`) ||
		!strings.HasPrefix(got[1], `{"jsonrpc":"2.0","id":7,"error":`) {
		t.Errorf("%q", got)
	}
}

// H-60: if a request arrives in the moment in which the server ends its connection, the connection goes on.
func TestRequestAtTheEnd(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	there, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer there.Close()
	nc, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	c, buffer := &timedConn{Conn: nc, within: patience}, make([]byte, 100)
	io.WriteString(there, "half")
	await(t, "the bytes", func() bool { return hasBytes(nc) })
	c.endUnused()
	if n, err := c.Read(buffer); string(buffer[:n]) != "half" || err != nil {
		t.Fatalf("%q, %v", buffer[:n], err)
	}
	c.endUnused()
	io.WriteString(there, "rest")
	if n, err := c.Read(buffer); string(buffer[:n]) != "rest" || err != nil {
		t.Fatalf("%q, %v", buffer[:n], err)
	}
	c.used.Store(false)
	c.endUnused()
	if n, err := c.Read(buffer); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("%q, %v", buffer[:n], err)
	}
}

// hasBytes reports whether bytes have arrived that nobody has read.
func hasBytes(c net.Conn) (some bool) {
	control(c, func(fd int) {
		list := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, _ := unix.Poll(list, 0)
		some = n > 0
	})
	return some
}
