//go:build unix

package httpd

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/project"
)

// withCallers makes the value of the header X-Caller the name of the caller.
func withCallers(c *Config) {
	c.guard = func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if name := r.Header.Get("X-Caller"); name != "" {
				r = r.WithContext(auth.WithIdentity(r.Context(), &auth.Identity{Name: name}))
			}
			next.ServeHTTP(w, r)
		})
	}
}

// H-32 to H-35: a session begins with initialize, is named by later messages, and ends with DELETE.
func TestSession(t *testing.T) {
	s := serve(t, tools(map[string]string{"hello": "echo hi"}), nil)
	for _, revision := range []string{"2025-03-26", "2025-06-18", "2025-11-25"} {
		se := s.open(revision, "")
		for _, c := range []struct {
			body   string
			status int
			want   string
		}{
			{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, 200, `{"jsonrpc":"2.0","id":1,"result":{}}`},
			{`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"hello"}}`, 200, `hi\n`},
			{`{"jsonrpc":"2.0","id":2,"method":"nope"}`, 200, `-32601`},
			{`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{}}`, 400, `already initialized`},
			{`{"jsonrpc":"2.0","id":99,"result":{}}`, 202, ``},
			{`{"jsonrpc":"2.0","id":true,"method":"x"}`, 400, `-32600`},
		} {
			r := se.send(c.body)
			if got := text(t, r); r.StatusCode != c.status || !strings.Contains(got, c.want) {
				t.Errorf("%s %s: %s %s", revision, c.body, r.Status, got)
			}
		}
		ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
		for _, c := range []struct {
			lines  headersOf
			status int
		}{
			{nil, 400}, {headersOf{"Mcp-Session-Id: x"}, 404}, {headersOf{"Mcp-Session-Id: " + se.id}, 200},
			{headersOf{"Mcp-Session-Id: " + se.id, "Mcp-Session-Id: " + se.id}, 400},
			{headersOf{"Mcp-Session-Id: " + se.id, "MCP-Protocol-Version: 1999-01-01"}, 400},
			{headersOf{"Mcp-Session-Id: " + se.id, "MCP-Protocol-Version: 2024-11-05"}, 400},
		} {
			if r := s.do(t.Context(), "POST", ping, c.lines...); r.StatusCode != c.status {
				t.Errorf("%q: %s", c.lines, r.Status)
			}
		}
		if r := se.request(t.Context(), "DELETE", ""); r.StatusCode != 204 {
			t.Error(r.Status)
		}
		if r := se.send(ping); r.StatusCode != 404 {
			t.Error(r.Status)
		}
	}
	if r := s.do(t.Context(), "POST",
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":7}}`); r.StatusCode != 200 ||
		r.Header.Get("Mcp-Session-Id") != "" || len(s.sessions) != 0 {
		t.Error(r.Status, len(s.sessions))
	}
}

// H-35, P-600: the answers of a batch are one array.
func TestBatches(t *testing.T) {
	s := serve(t, tools(map[string]string{"hello": "echo hi", "slow": sourceSDK + "mcp_progress 1 x"}), nil)
	se := s.open("2025-03-26", "")
	got := text(t, se.send(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},`+
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hello"}},7]`))
	if !strings.HasPrefix(got, "[") || !strings.HasSuffix(got, "]") || strings.Count(got, `"jsonrpc"`) != 3 ||
		!strings.Contains(got, `hi\n`) || !strings.Contains(got, "-32600") {
		t.Error(got)
	}
	if r := se.send(
		`[{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":9,"result":1}]`); r.StatusCode != 202 {
		t.Error(r.Status)
	}
	if r := se.send(`[]`); r.StatusCode != 400 {
		t.Error(r.Status)
	}
	if r := se.send(`[{"jsonrpc":"2.0","id":1,"method":"ping"},7]`); r.StatusCode != 200 {
		t.Error("the last answer decides the status of all:", r.Status)
	}
	r := sentEvents(t, se.send(`[{"jsonrpc":"2.0","id":1,"method":"ping"},`+
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"slow","_meta":{"progressToken":1}}}]`))
	r.find(`"id":1,"result":{}`)
	r.find(`"progress":1`)
	r.find(`"id":2,"result"`)
	if r := s.open("2025-11-25", "").send(`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`); r.StatusCode != 400 {
		t.Error(r.Status, text(t, r))
	}
}

// H-35, P-1803: long answers to a batch are events, which the server does not keep until the last one.
func TestLongBatches(t *testing.T) {
	s := serve(t, map[string]string{
		"resources/large": strings.Repeat("x", 100<<10), "resources/small": strings.Repeat("x", 40<<10),
	}, project.Env{"MCPBASH_MAX_PENDING_BYTES": "2000000"})
	se := s.open("2025-03-26", "")
	for name, n := range map[string]int{"large": 2, "small": 50} {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,{"jsonrpc":"2.0","id":%d,"method":"resources/read","params":{"uri":"file://%s/resources/%s"}}`,
				i, s.root, name)
		}
		r := sentEvents(t, se.send("["+b.String()[1:]+"]"))
		answers := 0
		for e := r.next(); e != ""; e = r.next() {
			if strings.Contains(e, "xxx") {
				answers++
			}
		}
		if answers != n {
			t.Errorf("%s: %d answers of %d", name, answers, n)
		}
	}
}

// P-1803: a batch with many answers is read as fast as the client reads them.
func TestManyAnswers(t *testing.T) {
	s := serve(t, nil, project.Env{"MCPBASH_MAX_PENDING_BYTES": "65536"})
	const n = 15_000
	r := s.open("2025-03-26", "").send("[" + strings.Repeat("7,", n-1) + "7]")
	if got := text(t, r); r.Header.Get("Content-Type") != "text/event-stream" || strings.Count(got, `-32600`) != n {
		t.Error(r.Status, r.Header, len(got))
	}
}

// P-505, P-902: a message that is never answered does not hold its request of HTTP.
func TestUnanswered(t *testing.T) {
	s := serve(t, nil, nil)
	initialized := `{"jsonrpc":"2.0","id":1,"method":"notifications/initialized"}`
	for _, body := range []string{
		initialized, `[` + initialized + `]`,
		`[{"jsonrpc":"2.0","id":1,"method":"shutdown"},{"jsonrpc":"2.0","id":2,"method":"exit"},` +
			`{"jsonrpc":"2.0","id":3,"method":"ping"},[],7]`,
	} {
		if r := s.open("2025-03-26", "").send(body); r.StatusCode != 200 {
			t.Error(body, r.Status)
		}
	}
}

// H-13, H-41, H-42, H-45: requests to the client and progress come on the stream of their POST.
func TestSessionStream(t *testing.T) {
	s := serve(t, tools(map[string]string{"ask": sourceSDK +
		`mcp_emit_text "got $(mcp_elicit_string Name)"; mcp_progress 1 x`}), nil)
	for revision, primed := range map[string]bool{"2025-06-18": false, "2025-11-25": true} {
		se := s.open(revision, `"elicitation":{}`)
		own := se.listen()
		r := sentEvents(t, se.call("1", "ask", `,"_meta":{"progressToken":"p"}`))
		if primed {
			if lines, _ := r.block(); strings.Join(lines, "|") != "id: 1-0|retry: 2000|data: " {
				t.Errorf("%s: %q", revision, lines)
			}
		}
		lines, _ := r.block()
		if len(lines) != 3 || lines[1] != "id: 1-1" || !strings.Contains(lines[2], "elicitation/create") {
			t.Fatalf("%s: %q", revision, lines)
		}
		id := between(lines[2], `"id":`, ",")
		if r := se.send(`{"jsonrpc":"2.0","id":` + id +
			`,"result":{"action":"accept","content":{"value":"Ann"}}}`); r.StatusCode != 202 {
			t.Error(r.Status)
		}
		r.find("Ann")
		if r.last != "1-3" || r.next() != "" {
			t.Error(r.last)
		}
		se.request(t.Context(), "DELETE", "")
		if got := own.next(); got != "" {
			t.Error(got)
		}
	}
}

// H-40, H-43: the stream of GET sends the messages that belong to no request, including those from
// before it was opened. It continues after the event that the client names.
func TestOwnStream(t *testing.T) {
	s := serve(t, map[string]string{"resources/a.txt": "1"}, nil)
	file := filepath.Join(s.root, "resources/a.txt")
	se := s.open("2025-11-25", `"roots":{"listChanged":true}`)
	r := se.listen()
	if got := r.find("roots/list"); !strings.Contains(got, `"id":1`) || r.last != "0-1" {
		t.Error(got, r.last)
	}
	se.send(`{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}`)
	watch := `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"file://` + file + `"}}`
	if got := text(t, se.send(watch)); !strings.Contains(got, "result") {
		t.Fatal(got)
	}
	write := func(text string) { os.WriteFile(file, []byte(text), 0o644) }
	write("changed")
	r.find("resources/updated")
	replaced := se.listen()
	if got := r.next(); got != "" {
		t.Error(got)
	}
	write("changed again")
	replaced.find("resources/updated")
	again := se.listen("Last-Event-ID: 0-1")
	for range 2 {
		again.find("resources/updated")
	}
}

// H-40: the response to a GET begins at once, although there is nothing to send.
func TestSilentStream(t *testing.T) {
	s := serve(t, nil, project.Env{"MCPBASH_HTTP_KEEPALIVE": "0"})
	se := s.open("2025-06-18", "")
	se.listen()
	se.listen() // nothing waits any more
}

// H-38, H-43, H-44: a request goes on without its connection, and its stream can be resumed: after
// any event, while it runs and after its end.
func TestResumption(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, tools(map[string]string{"wait": sourceSDK + "mcp_progress 1 x; mcp_progress 2 y\n" +
		waitAt(dir+"/go") + "mcp_progress 3 z; echo done"}), nil)
	se := s.open("2025-11-25", "")
	ctx, cancel := context.WithCancel(t.Context())
	r := sentEvents(t, se.request(ctx, "POST",
		`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"wait","_meta":{"progressToken":1}}}`))
	r.find(`"progress":1`)
	first := r.last
	cancel()
	running := se.listen("Last-Event-ID: " + first)
	running.find(`"progress":2`)
	os.WriteFile(dir+"/go", nil, 0o644)
	running.find(`"progress":3`)
	running.find(`"id":5,"result"`)
	if running.next() != "" {
		t.Error("the stream goes on")
	}
	for _, c := range []struct {
		after string
		want  int
	}{{first, 3}, {"1-0", 4}, {"1-3", 1}} {
		r := se.listen("Last-Event-ID: " + c.after)
		n := 0
		for r.next() != "" {
			n++
		}
		if n != c.want {
			t.Errorf("after %s: %d events", c.after, n)
		}
	}
	if r := se.request(t.Context(), "GET", "", "Last-Event-ID: "+running.last); r.StatusCode != http.StatusNoContent {
		t.Errorf("nothing is left to send: %s", r.Status)
	}
	other := s.open("2025-11-25", "")
	for _, id := range []string{"9-1", "1", "1-x", "1--1", first} {
		if r := other.request(t.Context(), "GET", "", "Last-Event-ID: "+id); r.StatusCode != 400 {
			t.Errorf("%s: %s", id, r.Status)
		}
	}
	for _, id := range []string{ // of events that were never sent, and other spellings of one that was
		"1-6", "0-1000000", "1-2147483647", "1-2147483648", "1-9223372036854775806", "1-9223372036854775807",
		"1-9223372036854775808", "1--9223372036854775808", "1--9223372036854775809", "1-18446744073709551617",
		"1-03", "1-+3", "1-3 3", "1-3-", "01-3", "1-",
	} {
		if r := se.request(t.Context(), "GET", "", "Last-Event-ID: "+id); r.StatusCode != 400 {
			t.Errorf("%s: %s", id, r.Status)
		}
	}
}

// H-43: only ids that the server has sent continue a stream.
func FuzzLastEvent(f *testing.F) {
	for _, id := range []string{"7-0", "7-3", "7-4", "7-03", "7-9223372036854775807", "7--9223372036854775808", "7", "-"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		se := &session{streams: map[string]*stream{"7": {name: "7", next: 4}}}
		st, from := se.after(id)
		if known := id == "7-0" || id == "7-1" || id == "7-2" || id == "7-3"; known != (st != nil) {
			t.Fatalf("%q: %v", id, st)
		}
		if st != nil && (from < 1 || from > 4) {
			t.Fatalf("%q: from %d", id, from)
		}
	})
}

// H-44: a stream keeps a limited number of bytes, and always its last event.
func TestReplayLimit(t *testing.T) {
	s := serve(t, tools(map[string]string{"many": sourceSDK +
		"for i in 1 2 3 4 5 6; do mcp_progress $i x; done; echo done"}),
		project.Env{"MCPBASH_HTTP_REPLAY": "400"})
	se := s.open("2025-11-25", "")
	r := sentEvents(t, se.call("1", "many", `,"_meta":{"progressToken":1}`))
	r.find(`"result"`)
	last := r.last
	r = se.listen("Last-Event-ID: 1-0")
	var got []string
	for e := r.next(); e != ""; e = r.next() {
		got = append(got, e)
	}
	if len(got) == 0 || len(got) > 3 || r.last != last || !strings.Contains(got[len(got)-1], `"result"`) {
		t.Error(got)
	}
	for i := range maxFinished {
		r := sentEvents(t, se.call("1", "many", fmt.Sprintf(`,"_meta":{"progressToken":%d}`, i)))
		for r.next() != "" {
		}
	}
	if r := se.request(t.Context(), "GET", "", "Last-Event-ID: 1-0"); r.StatusCode != 400 ||
		len(se.server().streams) != maxFinished+1 {
		t.Error(r.Status)
	}
	se.request(t.Context(), "DELETE", "")
	if n := s.kept.of.All(); n != 0 {
		t.Errorf("%d bytes are kept", n)
	}
}

// H-44: the streams of all sessions that have ended keep a limited number of bytes. The last one can be resumed.
func TestEndedStreamsAreBounded(t *testing.T) {
	const most = 1 << 20
	s := serve(t, tools(map[string]string{"long": sourceSDK + "mcp_progress 1 x; printf %0200000d 0"}),
		project.Env{"MCPBASH_MAX_PENDING_BYTES": fmt.Sprint(most)})
	var first, last *testSession
	for range 8 {
		last = s.open("2025-11-25", "")
		if first == nil {
			first = last
		}
		r := sentEvents(t, last.call("1", "long", `,"_meta":{"progressToken":1}`))
		r.find(`"result"`)
		for r.next() != "" {
		}
	}
	if n := s.kept.of.All(); n > most {
		t.Errorf("%d bytes are kept", n)
	}
	if r := first.request(t.Context(), "GET", "", "Last-Event-ID: 1-1"); r.StatusCode != 400 {
		t.Error(r.Status)
	}
	last.listen("Last-Event-ID: 1-1").find(`"result"`)
	last.request(t.Context(), "DELETE", "")
	s.mu.Lock()
	defer s.mu.Unlock()
	for at := s.ended.Front(); at != nil; at = at.Next() {
		if at.Value.(*stream).session.id == last.id {
			t.Error("a stream of a session that has ended is kept")
		}
	}
}

func (se *testSession) server() *session {
	se.mu.Lock()
	defer se.mu.Unlock()
	return se.sessions[se.id]
}

// H-38, H-43: notifications/cancelled ends a request without an answer, and its stream.
func TestCancelled(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, tools(map[string]string{"wait": sourceSDK + "trap 'touch " + dir +
		"/ended; exit' TERM; mcp_progress 1 x; sleep 60 & wait"}), nil)
	se := s.open("2025-11-25", "")
	r := sentEvents(t, se.call("1", "wait", `,"_meta":{"progressToken":1}`))
	r.find(`"progress":1`)
	se.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if got := r.next(); got != "" {
		t.Error(got)
	}
	awaitFile(t, dir+"/ended")
	if r := se.request(t.Context(), "GET", "", "Last-Event-ID: "+r.last); r.StatusCode != http.StatusNoContent {
		t.Errorf("the client connects again and again: %s", r.Status)
	}
}

// H-37, H-47: unused sessions end, and the number of streams is limited.
func TestSessionLimits(t *testing.T) {
	s := serve(t, nil, project.Env{"MCPBASH_HTTP_SESSION_IDLE": "0.5", "MCPBASH_HTTP_MAX_STREAMS": "1"})
	idle, listening := s.open("2025-11-25", ""), s.open("2025-11-25", "")
	stream := listening.listen()
	if r := idle.request(t.Context(), "GET", ""); r.StatusCode != 503 || r.Header.Get("Retry-After") == "" {
		t.Error(r.Status)
	}
	await(t, "end of an unused session", func() bool { return idle.server() == nil })
	if r := idle.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`); r.StatusCode != 404 {
		t.Error(r.Status)
	}
	if listening.server() == nil {
		t.Error("a session with a stream ended")
	}
	again := listening.listen() // H-40: it replaces the first stream, also at the limit
	if got := stream.next(); got != "" {
		t.Error(got)
	}
	stream = again
	listening.request(t.Context(), "DELETE", "")
	if got := stream.next(); got != "" {
		t.Error(got)
	}
	await(t, "end of the stream", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.streams) == 0 })
}

// H-31, H-33, H-80: another identity can use neither a session nor a suspended call.
func TestIdentities(t *testing.T) {
	s := serve(t, tools(map[string]string{"ask": sourceSDK + `mcp_emit_text "got $(mcp_elicit_string Name)"`}), nil,
		withCallers)
	ann := s.do(t.Context(), "POST",
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`,
		"X-Caller: ann")
	id := "Mcp-Session-Id: " + ann.Header.Get("Mcp-Session-Id")
	for caller, status := range map[string]int{"X-Caller: ann": 200, "X-Caller: bob": 404, "X-Caller:": 404} {
		for _, method := range []string{"POST", "GET", "DELETE"} {
			if method != "POST" && status == 200 {
				continue
			}
			if r := s.do(t.Context(), method, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, caller,
				id); r.StatusCode != status {
				t.Errorf("%s %s: %s", method, caller, r.Status)
			}
		}
	}
	state := between(text(t, s.modern(t.Context(), "1", "tools/call", `"name":"ask"`, "", "X-Caller: ann")),
		`"requestState":"`, `"`)
	retry := func(caller string) string {
		return text(t, s.modern(t.Context(), "2", "tools/call",
			`"name":"ask","requestState":"`+state+`",`+
				`"inputResponses":{"input-1":{"action":"accept","content":{"value":"Zoe"}}}`, "", caller))
	}
	for _, caller := range []string{"X-Caller: bob", "X-Caller:"} {
		if got := retry(caller); !strings.Contains(got, "not one of this server's") {
			t.Error(got)
		}
	}
	if got := retry("X-Caller: ann"); !strings.Contains(got, "Zoe") {
		t.Error(got)
	}
}

// H-80: clients that use the same ids and tokens at the same time get only their own messages.
func TestIsolation(t *testing.T) {
	s := serve(t, tools(map[string]string{
		"echo": sourceSDK +
			`mcp_progress 1 "$(mcp_args_get .who)"; mcp_log info t "$(mcp_args_get .who)"; ` +
			`echo "$(mcp_args_get .who)" > "$TMPDIR/f.$MCPBASH_WORKER_KEY.$$"; ` +
			`mcp_emit_text "$(mcp_args_get .who)"`,
	}), nil)
	type result struct{ who, wrong string }
	results := make(chan result)
	const clients, rounds = 8, 5
	for i := range clients {
		go func() {
			who := fmt.Sprintf("client-%d-", i)
			se := s.open("2025-11-25", "")
			own := se.listen()
			wrong := ""
			check := func(r *reader) {
				for e := r.next(); e != ""; e = r.next() {
					if strings.Contains(e, "client-") && strings.Count(e, "client-") != strings.Count(e, who) ||
						!strings.Contains(e, who) {
						wrong += e
					}
				}
			}
			for range rounds {
				args := `,"arguments":{"who":"` + who + `"},"_meta":{"progressToken":1}`
				check(sentEvents(t, se.call("1", "echo", args)))
				check(sentEvents(t, s.modern(t.Context(), "1", "tools/call",
					`"name":"echo","arguments":{"who":"`+who+`"}`,
					`"progressToken":1,"io.modelcontextprotocol/logLevel":"info"`)))
			}
			se.request(t.Context(), "DELETE", "")
			check(own)
			results <- result{who, wrong}
		}()
	}
	for range clients {
		select {
		case r := <-results:
			if r.wrong != "" {
				t.Errorf("%s got %s", r.who, r.wrong)
			}
		case <-time.After(patience):
			t.Fatal("no result")
		}
	}
}

// Requests of a session that the client cancels at any moment do not change the answers to others.
func TestCancelledAmongOthers(t *testing.T) {
	files := map[string]string{}
	for i := range 8 {
		files[fmt.Sprintf("resources/r%d.txt", i)] = fmt.Sprintf("text of %d", i)
	}
	s := serve(t, files, nil)
	se := s.open("2025-06-18", "")
	var reading, cancelling sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	cancelling.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			text(t, se.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i%8)))
		}
	})
	for i := range 8 {
		reading.Go(func() {
			uri := "file://" + filepath.Join(s.root, fmt.Sprintf("resources/r%d.txt", i))
			want := fmt.Sprintf(`"text":"text of %d"`, i)
			for range 100 {
				got := text(t, se.send(fmt.Sprintf(
					`{"jsonrpc":"2.0","id":%d,"method":"resources/read","params":{"uri":%q}}`, i, uri)))
				if got != "" && (!strings.Contains(got, want) || !strings.Contains(got, fmt.Sprintf(`"id":%d,`, i))) {
					t.Errorf("%d: %s", i, got)
				}
			}
		})
	}
	reading.Wait()
	stop()
	cancelling.Wait()
}
