//go:build unix

package httpd

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/events"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/protocol"
	"mcp-bash/pkg/serve/httpd/internal/guard"
)

// asking is a project with a tool that asks its client.
func asking() map[string]string {
	return tools(map[string]string{
		"ask": sourceSDK + `mcp_emit_text "$MCP_CLIENT_ID got $(mcp_elicit_string Name)"`,
	})
}

// A stranger is a web server at the address of a replica that is gone.
type stranger struct {
	mu   sync.Mutex
	seen strings.Builder
}

func (s *stranger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request, _ := httputil.DumpRequest(r, true)
	s.mu.Lock()
	s.seen.Write(request)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"from a stranger"}]}}`)
}

// replace ends a server, and lets a stranger have its address.
func replace(t *testing.T, of *testServer) *stranger {
	t.Helper()
	address := of.Listener.Addr().String()
	of.Close()
	of.mu.Lock()
	for st := range of.streams { // the end of its process would close these
		st.conn.Close()
	}
	of.mu.Unlock()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	s := &stranger{}
	server := httptest.NewUnstartedServer(s)
	server.Listener.Close()
	server.Listener = l
	server.Start()
	t.Cleanup(server.Close)
	return s
}

// got returns what the stranger has received.
func (s *stranger) got() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen.String()
}

// H-504, H-505: a stranger at the old address of a replica gets no token and no message. Its answer reaches nobody.
func TestStranger(t *testing.T) {
	guard := bearers(map[string]*auth.Identity{"credential": {Name: "anna"}})
	a, b := serve(t, asking(), nil, guard, replica(1)), serve(t, asking(), nil, guard, replica(1))
	state := stateOf(t, a.modern(t.Context(), "1", "tools/call", `"name":"ask"`, "", "Authorization: Bearer credential"))
	s := replace(t, a)
	r := b.modern(t.Context(), "2", "tools/call", `"name":"ask","requestState":"`+state+
		`","inputResponses":{"input-1":{"action":"accept","content":{"value":"an answer"}}}`, "",
		"Authorization: Bearer credential", "Cookie: credential")
	if got := answerOf(t, r); r.StatusCode != 200 || !strings.Contains(got, "cannot be reached; call again") {
		t.Errorf("%s %s", r.Status, got)
	}
	got := s.got()
	for _, secret := range []string{"credential", "anna", "an answer", "tools/call", state} {
		if strings.Contains(got, secret) {
			t.Errorf("the stranger got %s", secret)
		}
	}
	if !strings.HasPrefix(got, "GET /replica HTTP/1.1") {
		t.Errorf("the stranger was not asked: %q", got)
	}
}

// H-504: a caller without a token, such as one with a client certificate, can answer at another replica.
func TestForwardedCertificate(t *testing.T) {
	caller := &auth.Identity{Name: "anna", Subject: "CN=anna", Accepts: func() bool { return true }}
	known := func(c *Config) {
		c.guard = func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				next.ServeHTTP(w, r.WithContext(auth.WithIdentity(r.Context(), caller)))
			})
		}
	}
	a, b := serve(t, asking(), nil, known, replica(1)), serve(t, asking(), nil, known, replica(1))
	state := stateOf(t, a.modern(t.Context(), "1", "tools/call", `"name":"ask"`, ""))
	r := b.modern(t.Context(), "2", "tools/call", `"name":"ask","requestState":"`+state+
		`","inputResponses":{"input-1":{"action":"accept","content":{"value":"x"}}}`, "")
	if got := answerOf(t, r); !strings.Contains(got, "anna got") {
		t.Errorf("%s %s", r.Status, got)
	}
}

// A slowWay is a way to a replica that keeps back everything after the hello of a channel, until it is opened.
type slowWay struct {
	net.Listener
	held chan struct{} // is closed when something is kept back
	open chan struct{}
}

func newSlowWay(t *testing.T) *slowWay {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return &slowWay{l, make(chan struct{}), make(chan struct{})}
}

// lead connects one caller with an address.
func (s *slowWay) lead(to string) {
	from, err := s.Accept()
	if err != nil {
		return
	}
	defer from.Close()
	replica, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer replica.Close()
	go func() {
		io.Copy(from, replica)
		from.Close()
	}()
	hello, buffer := true, make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		if !hello {
			close(s.held)
			<-s.open
			replica.Write(buffer[:n])
			io.Copy(replica, from)
			return
		}
		replica.Write(buffer[:n])
		hello = false
	}
}

// H-60, H-504: a replica that ends answers a request that another one has begun to forward.
func TestForwardedAtTheEnd(t *testing.T) {
	way := newSlowWay(t)
	a := serve(t, asking(), nil, func(c *Config) {
		config := c.Server.Config
		config.Replica = protocol.Replica{Keys: [][]byte{[]byte(strings.Repeat("\x01", 32))},
			URL: "http://" + way.Addr().String()}
		c.Server = protocol.NewServer(config)
	})
	go way.lead(a.Listener.Addr().String())
	b := serve(t, nil, nil, replica(1))
	state := stateOf(t, a.modern(t.Context(), "1", "tools/call", `"name":"ask"`, ""))
	a.client.CloseIdleConnections()
	answer := make(chan *http.Response, 1)
	go func() {
		answer <- b.modern(t.Context(), "2", "tools/call", `"name":"ask","requestState":"`+state+
			`","inputResponses":{"input-1":{"action":"accept","content":{"value":"x"}}}`, "")
	}()
	<-way.held
	ended := a.drain()
	close(way.open)
	if r := <-answer; r.StatusCode != 200 {
		t.Error(r.Status, text(t, r))
	} else if got := answerOf(t, r); !strings.Contains(got, `got {\"action\":\"accept\"`) {
		t.Error(got)
	}
	<-ended
	if n := a.pending.Load() + b.pending.Load(); n != 0 {
		t.Errorf("%d requests count as pending", n)
	}
}

// H-506: without the proof of the key, there is no channel.
func TestNoReplica(t *testing.T) {
	a := serve(t, nil, nil, replica(1))
	for _, header := range []string{"", "Mcp-Bash-Hello: x", "Mcp-Bash-Hello: " + strings.Repeat("A", 107)} {
		lines := []string{"Upgrade: mcp-bash-replica", "Connection: Upgrade"}
		if header != "" {
			lines = append(lines, header)
		}
		if r := a.do(t.Context(), "GET /replica", "", lines...); r.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", header, r.Status)
		}
	}
}

// H-207: no request hides in one for a channel, and such a request needs a credential like any other.
func TestNoReplicaForStrangers(t *testing.T) {
	a := serve(t, nil, nil, withGate, replica(1))
	for _, test := range []struct {
		line string
		want int
	}{{"", 401}, {bearer("ada") + "\r\n", 404}} {
		c, answers := a.raw("GET /replica HTTP/1.1\r\nHost: localhost\r\n" + test.line + "Content-Length: 40\r\n" +
			"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
		defer c.Close()
		r, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		if text(t, r); r.StatusCode != test.want || !r.Close {
			t.Errorf("%q: %s, closes: %t", test.line, r.Status, r.Close)
		}
		if r, err := http.ReadResponse(answers, nil); err == nil {
			t.Errorf("%q: another answer: %s", test.line, r.Status)
		}
	}
}

// at returns a session of another replica, for requests to this one.
func (s *testServer) at(se *testSession) *testSession { return &testSession{s, se.id, se.revision} }

// H-33, H-40 to H-43: any replica takes the requests of a session to the one that has it: calls, questions and their
// answers, its stream, and its end.
func TestSessionElsewhere(t *testing.T) {
	files := asking()
	files["resources/a.txt"] = "1"
	a, b, c := serve(t, files, nil, replica(1)), serve(t, nil, nil, replica(1)), serve(t, nil, nil, replica(1))
	se := a.open("2025-11-25", `"elicitation":{},"roots":{"listChanged":true}`)
	own := b.at(se).listen()
	if got := own.find("roots/list"); own.last != "0-1" {
		t.Error(got, own.last)
	}
	if r := c.at(se).send(`{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}`); r.StatusCode != 202 {
		t.Error(r.Status)
	}
	asked := sentEvents(t, b.at(se).call("1", "ask", ""))
	id := between(asked.find("elicitation/create"), `"id":`, ",")
	await(t, "end of the count of the body", func() bool { return arrivingAt(b) == 0 }) // H-222
	if r := c.at(se).send(`{"jsonrpc":"2.0","id":` + id +
		`,"result":{"action":"accept","content":{"value":"Ann"}}}`); r.StatusCode != 202 {
		t.Error(r.Status)
	}
	asked.find("Ann")
	if got := asked.next(); got != "" {
		t.Errorf("the stream of the call goes on: %s", got)
	}
	watch := `{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"file://` + a.root +
		`/resources/a.txt"}}`
	if got := text(t, c.at(se).send(watch)); !strings.Contains(got, `"result"`) {
		t.Fatal(got)
	}
	os.WriteFile(a.root+"/resources/a.txt", []byte("changed"), 0o644)
	own.find("resources/updated")
	again := c.at(se).listen("Last-Event-ID: 0-1") // at a third replica
	again.find("resources/updated")
	if got := own.next(); got != "" {
		t.Errorf("the replaced stream goes on: %s", got)
	}
	if r := b.at(se).request(t.Context(), "GET", "", "Last-Event-ID: "+asked.last); r.StatusCode != http.StatusNoContent {
		t.Errorf("nothing is left to send: %s", r.Status)
	}
	for body, status := range map[string]int{
		`{"jsonrpc":"2.0","id":3,"method":"initialize","params":{}}`: 400, `{"jsonrpc":"2.0","id":true,"method":"x"}`: 400,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}`: 202, "{": 400,
	} {
		if r := b.at(se).send(body); r.StatusCode != status {
			t.Errorf("%s: %s", body, r.Status)
		}
	}
	if r := b.at(se).request(t.Context(), "DELETE", ""); r.StatusCode != 204 {
		t.Error(r.Status)
	}
	if got := again.next(); got != "" {
		t.Errorf("the stream of an ended session goes on: %s", got)
	}
	for _, s := range []*testServer{a, b, c} {
		if r := s.at(se).send(`{"jsonrpc":"2.0","id":4,"method":"ping"}`); r.StatusCode != 404 {
			t.Error(r.Status)
		}
	}
	await(t, "end of the streams", func() bool { return openStreams(a)+openStreams(b)+openStreams(c) == 0 })
}

// ids is a record of the ids of events.
type ids chan string

func (c ids) Emit(e *events.Event) error {
	c <- e.ID
	return nil
}

func (c ids) Ready() error { return nil }

// AUD-6: the response of a request that was passed on has the id of its record, which another replica writes.
func TestRequestIDElsewhere(t *testing.T) {
	recorded := make(ids, 10)
	a := serve(t, tools(map[string]string{"hello": "echo hello"}), nil, func(c *Config) {
		config := c.Server.Config
		config.Events = recorded
		c.Server = protocol.NewServer(config)
	}, replica(1))
	b := serve(t, nil, nil, replica(1))
	se := a.open("2025-11-25", "")
	<-recorded // of initialize
	for _, s := range []*testServer{a, b} {
		r := s.at(se).call("1", "hello", "")
		answerOf(t, r)
		if got, want := r.Header.Values("X-Request-Id"), <-recorded; len(got) != 1 || got[0] != want {
			t.Errorf("%q, want %s", got, want)
		}
	}
}

// arrivingAt returns the number of bytes of bodies that a server counts.
func arrivingAt(s *testServer) int {
	s.arriving.mu.Lock()
	defer s.arriving.mu.Unlock()
	return s.arriving.of.All()
}

// openStreams returns the number of streams that a server counts.
func openStreams(s *testServer) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.streams)
}

// H-33: a session is nobody else's, at no replica. An id leads to no other address.
func TestForeignSessions(t *testing.T) {
	a, b := serve(t, nil, nil, withCallers, replica(1)), serve(t, nil, nil, withCallers, replica(1))
	foreign := serve(t, nil, nil, withCallers, replica(2))
	r := a.do(t.Context(), "POST", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":`+
		`{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, "X-Caller: anna")
	id := r.Header.Get("Mcp-Session-Id")
	random, name, _ := strings.Cut(id, ".")
	other, _, _ := strings.Cut(a.open("2025-06-18", "").id, ".")
	for n, tc := range []struct {
		at         *testServer
		id, caller string
		status     int
	}{
		{b, id, "anna", 200}, {b, id, "bert", 404}, {a, id, "bert", 404}, {foreign, id, "anna", 404},
		{b, other + "." + name, "anna", 404}, {b, random, "anna", 404}, {b, random + ".", "anna", 404},
		{b, random + ".http://127.0.0.1:1", "anna", 404}, {b, random + "." + name + "A", "anna", 404},
	} {
		if r := tc.at.do(t.Context(), "POST", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "X-Caller: "+tc.caller,
			"Mcp-Session-Id: "+tc.id); r.StatusCode != tc.status {
			t.Errorf("%d: %s", n, r.Status)
		}
	}
}

// H-33: without its replica a session does not exist, also if another server has the address now. The client begins
// again.
func TestSessionOwnerGone(t *testing.T) {
	a, b := serve(t, nil, nil, withCallers, replica(1)), serve(t, nil, nil, withCallers, replica(1))
	se := a.open("2025-11-25", "")
	own := b.at(se).request(t.Context(), "GET", "", "Accept: text/event-stream")
	s := replace(t, a)
	if got, err := io.ReadAll(own.Body); err == nil {
		t.Errorf("the stream looks complete: %s", got)
	}
	for _, method := range []string{"POST", "GET", "DELETE"} {
		if r := b.at(se).request(t.Context(), method, `{"jsonrpc":"2.0","id":1,"method":"ping"}`,
			"Authorization: Bearer credential"); r.StatusCode != 404 {
			t.Errorf("%s: %s", method, r.Status)
		}
	}
	got := s.got()
	for _, secret := range []string{se.id, "ping", "credential"} {
		if strings.Contains(got, secret) {
			t.Errorf("the stranger got %s", secret)
		}
	}
	if got := text(t, b.open("2025-11-25", "").send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)); !strings.Contains(got,
		`"result":{}`) {
		t.Error(got)
	}
}

// H-33: a request that reaches a session after the session ended with its server is 404, so the client begins again.
// Another replica can have passed it on before that.
func TestSessionEndsWithServer(t *testing.T) {
	a, b := serve(t, nil, nil, replica(1)), serve(t, nil, nil, replica(1))
	se := a.open("2025-11-25", "")
	a.sessions[se.id].client.CloseInput()
	for _, session := range []*testSession{se, b.at(se)} {
		for _, method := range []string{"tools/list", "ping", "no/method"} {
			r := session.send(`{"jsonrpc":"2.0","id":2,"method":"` + method + `"}`)
			if got := text(t, r); r.StatusCode != 404 || !strings.Contains(got, "Session not found") {
				t.Errorf("%s: %s %s", method, r.Status, got)
			}
		}
		r := session.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		if r.StatusCode != 202 {
			t.Errorf("a notification: %s", r.Status)
		}
	}
}

// H-47, H-49: a stream at another replica is one of that replica too. It ends when the credential is revoked there.
func TestForwardedStreams(t *testing.T) {
	var revoked atomic.Bool
	anna := &auth.Identity{Name: "anna", Accepts: func() bool { return !revoked.Load() }}
	known := func(c *Config) {
		c.guard = func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				next.ServeHTTP(w, r.WithContext(auth.WithIdentity(r.Context(), anna)))
			})
		}
	}
	env := project.Env{"MCPBASH_HTTP_KEEPALIVE": "0.2", "MCPBASH_HTTP_MAX_STREAMS": "2"}
	a, b := serve(t, nil, nil, known, replica(1)), serve(t, nil, env, known, replica(1))
	se := a.open("2025-11-25", "")
	own := b.at(se).request(t.Context(), "GET", "", "Accept: text/event-stream")
	if n := openStreams(b); n != 1 {
		t.Errorf("%d streams", n)
	}
	if r := b.at(se).request(t.Context(), "GET", ""); r.StatusCode != 503 { // one identity has half
		t.Error(r.Status)
	}
	revoked.Store(true)
	if got := text(t, own); !strings.Contains(got, ": the credential is no longer accepted") {
		t.Error(got)
	}
	await(t, "end of the streams", func() bool { return openStreams(a)+openStreams(b) == 0 })
}

// H-507: a replica that passes requests on needs no slot for them, and no place of a request for a stream. Its own
// requests go on.
func TestForwardingTakesNoSlot(t *testing.T) {
	env := project.Env{"MCPBASH_MAX_CONCURRENT_REQUESTS": "1", "MCPBASH_HTTP_MAX_REQUESTS": "2"}
	a, b := serve(t, asking(), nil, replica(1)), serve(t, asking(), env, replica(1), limited)
	se := a.open("2025-11-25", `"elicitation":{}`)
	for range 3 {
		b.at(se).listen()
	}
	asked := sentEvents(t, b.at(se).call("1", "ask", ""))
	id := between(asked.find("elicitation/create"), `"id":`, ",")
	own := b.open("2025-11-25", "")
	if got := text(t, own.call("1", "ask", "")); !strings.Contains(got, `"result"`) {
		t.Errorf("another request waits: %s", got)
	}
	b.at(se).send(`{"jsonrpc":"2.0","id":` + id + `,"result":{"action":"accept","content":{"value":"Ann"}}}`)
	asked.find("Ann")
}

// limited gives a server a guard with the limits of its settings.
func limited(c *Config) {
	g, err := guard.New(guard.Config{Local: true})
	if err != nil {
		panic(err)
	}
	c.Gate = &Gate{guard: g}
}

// H-221, H-504: requests of other replicas count at the owner. The client gets its refusal.
func TestForwardedLimits(t *testing.T) {
	env := project.Env{"MCPBASH_HTTP_MAX_REQUESTS": "1"}
	a, b := serve(t, asking(), env, replica(1), limited), serve(t, nil, nil, replica(1))
	se := a.open("2025-11-25", `"elicitation":{}`)
	asked := sentEvents(t, b.at(se).call("1", "ask", ""))
	asked.find("elicitation/create")
	r := b.at(se).send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	if got := text(t, r); r.StatusCode != 503 || r.Header.Get("Retry-After") != "1" || !strings.Contains(got,
		"the server has too many requests") {
		t.Errorf("%s %v %s", r.Status, r.Header, got)
	}
}

// A comment of this replica never comes into an event of another one.
func TestReadEvent(t *testing.T) {
	long := "data: " + strings.Repeat("x", 10_000) + "\n\n"
	r := bufio.NewReaderSize(strings.NewReader(": \n\nid: 1\ndata: a\n\n"+long+"data: cut"), 16)
	for _, want := range []string{": \n\n", "id: 1\ndata: a\n\n", long, ""} {
		if got, err := readEvent(r, 20_000); string(got) != want || want == "" && err != io.ErrUnexpectedEOF {
			t.Errorf("%.20q, %v", got, err)
		}
	}
	if _, err := readEvent(bufio.NewReader(strings.NewReader("")), 1); err != io.EOF {
		t.Error(err)
	}
	if _, err := readEvent(bufio.NewReaderSize(strings.NewReader(long), 16), 9_999); err != errLongEvent {
		t.Error(err)
	}
}

func FuzzReadEvent(f *testing.F) {
	f.Add("id: 1\ndata: a\n\n: \n\n")
	f.Fuzz(func(t *testing.T, text string) {
		r := bufio.NewReaderSize(strings.NewReader(text), 16)
		read := ""
		for {
			event, err := readEvent(r, len(text))
			if err != nil {
				break
			}
			read += string(event)
			if !strings.HasSuffix(read, "\n\n") && string(event) != "\n" {
				t.Errorf("%q", event)
			}
		}
		if !strings.HasPrefix(text, read) || strings.Contains(text[len(read):], "\n\n") {
			t.Errorf("%q of %q", read, text)
		}
	})
}

// A forwarded request, which the owner refuses at once.
func BenchmarkForwarded(b *testing.B) {
	one, two := serve(b, asking(), nil, replica(1)), serve(b, asking(), nil, replica(1))
	for name, at := range map[string]*testServer{"local": one, "forwarded": two} {
		b.Run(name, func(b *testing.B) {
			r := one.modern(b.Context(), "1", "tools/call", `"name":"ask"`, "")
			body, _ := io.ReadAll(r.Body)
			r.Body.Close()
			_, state, _ := strings.Cut(string(body), `"requestState":"`)
			state, _, _ = strings.Cut(state, `"`)
			for b.Loop() {
				r := at.modern(b.Context(), "2", "tools/call", `"name":"ask","arguments":{"x":1},"requestState":"`+state+`"`, "")
				text, _ := io.ReadAll(r.Body)
				r.Body.Close()
				if !strings.Contains(string(text), "belongs to another method") {
					b.Fatalf("%s", text)
				}
			}
		})
	}
}

// H-62: a server that ends lets another replica begin a session, which outlives it. If it knows none, or none answers,
// it begins the session, because a client can begin again after 404, and not after a refusal.
func TestSessionsAtTheEnd(t *testing.T) {
	a, b := serve(t, nil, nil, withCallers, replica(1)), serve(t, nil, nil, withCallers, replica(1))
	at := func(se *testSession) *testServer {
		for _, s := range []*testServer{a, b} {
			s.mu.Lock()
			_, here := s.sessions[se.id]
			s.mu.Unlock()
			if here {
				return s
			}
		}
		return nil
	}
	known := a.open("2025-11-25", "")
	ends := func(s *testServer, yes bool) { s.serving.Store(!yes) }
	ends(b, true)
	if at(b.open("2025-11-25", "")) != b {
		t.Error("a server that knows no replica does not begin a session")
	}
	ends(b, false)
	known.testServer = b
	if r := known.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`); r.StatusCode != 200 {
		t.Fatal(r.Status)
	}
	if at(b.open("2025-11-25", "")) != b {
		t.Error("another replica begins a session before the end")
	}
	ends(b, true)
	se := b.open("2025-11-25", "")
	if at(se) != a {
		t.Error("the session ends with its server")
	}
	if r := se.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`); r.StatusCode != 200 || !r.Close {
		t.Error(r.Status, r.Header)
	}
	ends(a, true)
	if at(b.open("2025-11-25", "")) != a {
		t.Error("a session was passed on twice, or not at all")
	}
	replace(t, a)
	if at(b.open("2025-11-25", "")) != b {
		t.Error("no server begins the session")
	}
}

// H-60, H-62: the end of a server waits for an initialize while another replica has not answered it.
func TestSessionAtTheEndWithoutAnswer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s := serve(t, nil, nil, withCallers, replica(1))
	s.replicas.other.Store(&protocol.Owner{URL: "http://" + l.Addr().String()})
	s.serving.Store(false)
	began := make(chan *http.Response, 1)
	go func() {
		began <- s.do(t.Context(), "POST", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":`+
			`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	}()
	asked, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	ended := s.drain()
	asked.Close()
	l.Close()
	if r := <-began; r.StatusCode != 200 {
		t.Error(r.Status, text(t, r))
	}
	<-ended
}
