//go:build unix

package httpd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/pkg/project"
)

var (
	onlyJSON   = headersOf{"Accept:", "Accept: application/json"}
	onlyEvents = headersOf{"Accept:", "Accept: text/event-stream"}
)

const jsonType = "application/json"

// H-10, H-13: a client that accepts JSON alone gets its answers as JSON. Messages before an answer come on the
// stream of the session, also the questions of a script.
func TestAcceptsJSON(t *testing.T) {
	s := serve(t, tools(map[string]string{
		"hello": "echo hi",
		"busy":  sourceSDK + `mcp_progress 1 half; mcp_emit_text done`,
		"ask":   sourceSDK + `mcp_emit_text "got $(mcp_elicit_string Name)"`,
	}), nil)
	se := s.open("2025-11-25", `"elicitation":{}`)
	own := se.listen()
	s.lines = onlyJSON
	busy := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"busy","_meta":{"progressToken":1}}}`
	r := se.send(busy)
	if got := text(t, r); r.Header.Get("Content-Type") != jsonType || !strings.Contains(got, "done") ||
		strings.Contains(got, "progress") {
		t.Errorf("%v %s", r.Header, got)
	}
	own.find(`"progress":1`)
	answered := make(chan string)
	go func() { answered <- text(t, se.call("2", "ask", "")) }()
	question := own.find("elicitation/create")
	se.send(`{"jsonrpc":"2.0","id":` + between(question, `"id":`, `,`) +
		`,"result":{"action":"accept","content":{"value":"Ada"}}}`)
	if got := <-answered; !strings.Contains(got, "got {") || !strings.Contains(got, "Ada") {
		t.Error(got)
	}
	r = s.modern(t.Context(), "3", "tools/call", `"name":"busy"`, `"progressToken":1`)
	if got := text(t, r); r.Header.Get("Content-Type") != jsonType || !strings.Contains(got, "done") {
		t.Errorf("%v %s", r.Header, got)
	}
}

// H-13, H-29: no comment keeps a long call open for a client that accepts JSON alone. Another one gets them.
func TestLongAnswerAsJSON(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	s := serve(t, tools(map[string]string{
		"first": waitAt(a) + "echo done", "second": waitAt(b) + "echo done",
	}), project.Env{"MCPBASH_HTTP_KEEPALIVE": "0.01"})
	se := s.open("2025-06-18", "")
	answered := make(chan string)
	go func() {
		r := se.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"first"}}`, onlyJSON...)
		answered <- r.Header.Get("Content-Type") + text(t, r)
	}()
	awaitFile(t, a)
	second := sentEvents(t, se.call("2", "second", ""))
	if lines, _ := second.block(); len(lines) == 0 || lines[0] != ": " { // so the first call was due as well
		t.Error(lines)
	}
	os.WriteFile(a, nil, 0o644)
	if got := <-answered; !strings.HasPrefix(got, jsonType) || !strings.Contains(got, "done") {
		t.Error(got)
	}
	os.WriteFile(b, nil, 0o644)
	second.find("done")
}

// H-10: a client that accepts events alone gets each answer as an event. Errors have their status.
func TestAcceptsEvents(t *testing.T) {
	s := serve(t, tools(map[string]string{"hello": "echo hi"}), nil)
	s.lines = onlyEvents
	r := s.do(t.Context(), "POST", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":`+
		`"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	se := &testSession{s, r.Header.Get("Mcp-Session-Id"), "2025-03-26"}
	sentEvents(t, r).find(`"protocolVersion":"2025-03-26"`)
	if r := se.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`); r.StatusCode != 202 {
		t.Error(r.Status)
	}
	sentEvents(t, se.call("1", "hello", "")).find(`hi\n`)
	sentEvents(t, se.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)).find(`"id":2`)
	batch := sentEvents(t, se.send(`[{"jsonrpc":"2.0","id":3,"method":"ping"},{"jsonrpc":"2.0","id":4,"method":"ping"}]`))
	batch.find(`"id":`)
	batch.find(`"id":`)
	sentEvents(t, s.modern(t.Context(), "5", "tools/call", `"name":"hello"`, "")).find(`hi\n`)
	for body, want := range map[string]int{
		`{`: 400, `{"jsonrpc":"2.0","id":true,"method":"x"}`: 400,
	} {
		if r := se.send(body); r.StatusCode != want || r.Header.Get("Content-Type") != jsonType {
			t.Errorf("%s: %s %v", body, r.Status, r.Header)
		}
	}
	if r := s.modern(t.Context(), "6", "no/method", "", ""); r.StatusCode != 404 {
		t.Error(r.Status)
	}
}

// H-10: a message without an answer in a form that the client accepts is 406.
func TestNotAcceptable(t *testing.T) {
	s := serve(t, nil, nil)
	se := s.open("2025-03-26", "")
	batch := `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`
	for _, c := range []struct {
		r    func(lines ...string) int
		json int
		html int
	}{
		{func(lines ...string) int {
			return se.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, lines...).StatusCode
		}, 200, 406},
		{func(lines ...string) int { return se.send(batch, lines...).StatusCode }, 406, 406},
		{func(lines ...string) int { return se.request(t.Context(), "GET", "", lines...).StatusCode }, 406, 406},
		{func(lines ...string) int {
			return s.modern(t.Context(), "1", "subscriptions/listen", "", "", lines...).StatusCode
		}, 406, 406},
	} {
		if got := c.r(onlyJSON...); got != c.json {
			t.Errorf("JSON: %d, not %d", got, c.json)
		}
		if got := c.r("Accept:", "Accept: text/html"); got != c.html {
			t.Errorf("HTML: %d, not %d", got, c.html)
		}
	}
}

// H-35: a cancelled request has no answer.
func TestCancelledAsJSON(t *testing.T) {
	file := filepath.Join(t.TempDir(), "go")
	s := serve(t, tools(map[string]string{"wait": waitAt(file)}), nil)
	se := s.open("2025-11-25", "")
	status := make(chan int)
	go func() {
		status <- se.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}`, onlyJSON...).StatusCode
	}()
	awaitFile(t, file)
	se.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if got := <-status; got != 204 {
		t.Error(got)
	}
}

// H-4: a slash at the end of the path makes no difference.
func TestSlash(t *testing.T) {
	s := serve(t, nil, nil)
	s.url += "/"
	se := s.open("2025-11-25", "")
	se.listen()
	if r := se.request(t.Context(), "DELETE", ""); r.StatusCode != 204 {
		t.Error(r.Status)
	}
}

// H-32: an initialize with the id of a session that does not exist, has ended or belongs to another identity begins a
// session.
func TestInitializeAgain(t *testing.T) {
	a, b := serve(t, nil, nil, withCallers, replica(1)), serve(t, nil, nil, withCallers, replica(1))
	const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
		`"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	ended, of, living := a.open("2025-11-25", ""), a.open("2025-11-25", ""), b.open("2025-11-25", "")
	ended.request(t.Context(), "DELETE", "")
	gone := a.open("2025-11-25", "")
	for name, id := range map[string]string{"": "", "unknown": "x", "ended": ended.id} {
		r := a.do(t.Context(), "POST", initialize, "Mcp-Session-Id: "+id+" ")
		if got := r.Header.Get("Mcp-Session-Id"); r.StatusCode != 200 || got == id || len(got) < 26 {
			t.Errorf("%s: %s, %q", name, r.Status, got)
		}
	}
	r := a.do(t.Context(), "POST", initialize, "Mcp-Session-Id: "+of.id, "X-Caller: eve")
	if got := r.Header.Get("Mcp-Session-Id"); r.StatusCode != 200 || got == of.id || got == "" {
		t.Errorf("of another identity: %s", r.Status)
	}
	if r := of.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`); r.StatusCode != 200 {
		t.Errorf("its owner: %s", r.Status)
	}
	if r := a.do(t.Context(), "POST", initialize, "Mcp-Session-Id: "+living.id); r.StatusCode != 400 {
		t.Errorf("a session of another replica: %s", r.Status)
	}
	replace(t, a)
	r = b.do(t.Context(), "POST", initialize, "Mcp-Session-Id: "+gone.id)
	if got := r.Header.Get("Mcp-Session-Id"); r.StatusCode != 200 || got == gone.id || got == "" {
		t.Errorf("of a replica that is gone: %s", r.Status)
	}
}
