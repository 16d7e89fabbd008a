//go:build unix

package httpd

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/project"
)

// persons are callers of tests. Two tokens of anna have different rights.
var persons = map[string]*auth.Identity{
	"anna":  {Name: "anna", Rights: &auth.Rights{Tools: []string{"*"}, Resources: []string{"*"}, Prompts: []string{"*"}}},
	"anna2": {Name: "anna"}, "bert": {Name: "bert"}, "carl": {Name: "carl"},
}

func bearer(token string) string { return "Authorization: Bearer " + token }

// initialize sends initialize with a token.
func (s *testServer) initialize(token, capabilities string) *http.Response {
	s.t.Helper()
	return s.do(s.t.Context(), "POST", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":`+
		`"2025-11-25","capabilities":{`+capabilities+`}}}`, bearer(token))
}

// A personal session belongs to the caller with a token.
type personal struct {
	*testServer
	line string // names the session and the token
	id   string
}

func (s *testServer) personal(token, capabilities string) *personal {
	s.t.Helper()
	r := s.initialize(token, capabilities)
	if r.StatusCode != 200 {
		s.t.Fatal(r.Status, text(s.t, r))
	}
	se := &personal{s, bearer(token), r.Header.Get("Mcp-Session-Id")}
	if r := se.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`); r.StatusCode != 202 {
		s.t.Fatal(r.Status)
	}
	return se
}

func (se *personal) send(body string) *http.Response {
	se.t.Helper()
	return se.do(se.t.Context(), "POST", body, se.line, "Mcp-Session-Id: "+se.id)
}

func (se *personal) call(id, tool string) *http.Response {
	se.t.Helper()
	return se.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q}}`, id, tool))
}

// start begins a call whose script makes a file in dir and waits.
func (se *personal) start(id, tool string) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q}}`, id, tool)
	go func() {
		if r := se.do(se.t.Context(), "POST", body, se.line, "Mcp-Session-Id: "+se.id); r != nil {
			r.Body.Close()
		}
	}()
}

// within returns the answer of a request that must not wait for something else.
func within(t *testing.T, what string, ask func() *http.Response) string {
	t.Helper()
	answer := make(chan string, 1)
	go func() { answer <- text(t, ask()) }()
	select {
	case got := <-answer:
		return got
	case <-time.After(patience):
		t.Fatalf("%s waits", what)
		return ""
	}
}

// files returns how many files of a folder match a pattern.
func files(dir, pattern string) int {
	list, _ := filepath.Glob(filepath.Join(dir, pattern))
	return len(list)
}

const asks = sourceSDK + `mcp_elicit_string "What?" word`

// P-1800, H-80: questions of one person that nobody answers stop no other one, in the handshake protocol. The script
// goes on after its answer.
func TestQuestionsHoldNoSlots(t *testing.T) {
	const slots = 2
	s := serve(t, tools(map[string]string{"ask": sourceSDK + `mcp_emit_text "got $(mcp_elicit_string What)"`,
		"quick": "echo quick"}), project.Env{"MCPBASH_MAX_CONCURRENT_REQUESTS": fmt.Sprint(slots),
		"MCPBASH_ELICITATION_TIMEOUT": "600"}, bearers(persons))
	var asked []*reader
	var sessions []*personal
	for range slots + 2 {
		se := s.personal("anna", `"elicitation":{}`)
		r := sentEvents(t, se.call("1", "ask"))
		r.find("elicitation/create")
		asked, sessions = append(asked, r), append(sessions, se)
	}
	bert := s.personal("bert", "")
	got := within(t, "a call of another person", func() *http.Response { return bert.call("1", "quick") })
	if !strings.Contains(got, "quick") {
		t.Error(got)
	}
	for i, se := range sessions {
		se.send(`{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"value":"Zoe"}}}`)
		if got := asked[i].find(`"id":1,"result"`); !strings.Contains(got, "Zoe") {
			t.Error(got)
		}
	}
}

// M-55: the calls of the handshake protocol that wait for a person are limited. The oldest one of the person with most
// of them ends, and the client gets the reason.
func TestQuestionsAreLimited(t *testing.T) {
	s := serve(t, tools(map[string]string{"ask": asks}), project.Env{
		"MCPBASH_MAX_PARKED_CALLS": "3", "MCPBASH_ELICITATION_TIMEOUT": "600"}, bearers(persons))
	type asked struct {
		*personal
		*reader
	}
	ask := func(token string) asked {
		t.Helper()
		se := s.personal(token, `"elicitation":{}`)
		r := sentEvents(t, se.call("1", "ask"))
		r.find("elicitation/create")
		return asked{se, r}
	}
	ended := func(a asked) {
		t.Helper()
		if got := a.find(`"id":1,"error"`); !strings.Contains(got, "MCPBASH_MAX_PARKED_CALLS") {
			t.Error(got)
		}
	}
	bert := ask("bert")
	first, second, third := ask("anna"), ask("anna2"), ask("anna")
	ended(first)
	carl := ask("carl")
	ended(second)
	for _, a := range []asked{bert, third, carl} {
		a.send(`{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"value":"Zoe"}}}`)
		if got := a.find(`"id":1,"result"`); !strings.Contains(got, "Zoe") {
			t.Error(got)
		}
	}
}

// P-2106: a call that waits for the client's roots holds no slot.
func TestRootsHoldNoSlots(t *testing.T) {
	s := serve(t, tools(map[string]string{"quick": "echo quick $MCP_ROOTS_PATHS"}), project.Env{
		"MCPBASH_MAX_CONCURRENT_REQUESTS": "1", "MCP_ROOTS_TIMEOUT": "600"}, bearers(persons))
	anna, bert := s.personal("anna", `"roots":{}`), s.personal("bert", "")
	answer := make(chan string, 1)
	go func() { answer <- text(t, anna.call("1", "quick")) }()
	await(t, "call", func() bool { return s.session(anna.id).open.Load() > 0 })
	got := within(t, "a call of another person", func() *http.Response { return bert.call("1", "quick") })
	if !strings.Contains(got, "quick") {
		t.Error(got)
	}
	anna.send(`{"jsonrpc":"2.0","id":1,"result":{"roots":[{"uri":"file:///tmp"}]}}`)
	if got := <-answer; !strings.Contains(got, "quick /tmp") {
		t.Error(got)
	}
}

func (s *testServer) session(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[id]
}

// P-1800: requests that start no script, and connecting, need no slot of scripts.
func TestListsNeedNoSlot(t *testing.T) {
	dir := t.TempDir()
	project := project.Env{"MCPBASH_MAX_CONCURRENT_REQUESTS": "1"}
	list := tools(map[string]string{"wait": `touch "` + dir + `/began"; ` + waitAt(dir+"/go")})
	list["resources/note.txt"], list["prompts/p.txt"] = "a note", "a prompt"
	s := serve(t, list, project, bearers(persons))
	anna := s.personal("anna", "")
	anna.start("1", "wait")
	awaitFile(t, dir+"/began")
	anna.start("2", "wait") // waits for the slot
	await(t, "second call", func() bool { return s.session(anna.id).open.Load() == 2 })
	for _, token := range []string{"anna", "bert"} {
		se := s.personal(token, "")
		for method, params := range map[string]string{
			"ping": "", "tools/list": "", "resources/list": "", "resources/templates/list": "", "prompts/list": "",
			"prompts/get": `"name":"p"`, "resources/read": `"uri":"file://` + s.root + `/resources/note.txt"`,
			"resources/subscribe": `"uri":"file://` + s.root + `/resources/note.txt"`,
		} {
			got := within(t, method, func() *http.Response {
				return se.send(`{"jsonrpc":"2.0","id":7,"method":"` + method + `","params":{` + params + `}}`)
			})
			if !strings.Contains(got, `"result"`) {
				t.Errorf("%s: %s", method, got)
			}
		}
		got := within(t, "a stateless list", func() *http.Response {
			return s.modern(t.Context(), "1", "tools/list", "", "", bearer(token))
		})
		if !strings.Contains(got, `"result"`) {
			t.Error(got)
		}
	}
	os.WriteFile(dir+"/go", nil, 0o644)
}

// P-1800: a resource whose provider is a script needs a slot of scripts.
func TestProvidersNeedSlots(t *testing.T) {
	dir := t.TempDir()
	list := tools(map[string]string{"wait": `touch "` + dir + `/began"; ` + waitAt(dir+"/go")})
	list["providers/slow.sh"] = `touch "` + dir + `/read"; echo text`
	list["resources/r.json"] = `{"name":"r","description":"d","uri":"slow://x","provider":"slow","mimeType":"text/plain"}`
	list["resources/r.meta.json"] = list["resources/r.json"]
	s := serve(t, list, project.Env{"MCPBASH_MAX_CONCURRENT_REQUESTS": "1"}, bearers(persons))
	anna := s.personal("anna", "")
	anna.start("1", "wait")
	awaitFile(t, dir+"/began")
	answer := make(chan string, 1)
	go func() {
		answer <- text(t, anna.send(`{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"slow://x"}}`))
	}()
	await(t, "read", func() bool { return s.session(anna.id).open.Load() == 2 })
	// A request that starts no script passes it.
	within(t, "a list", func() *http.Response { return anna.send(`{"jsonrpc":"2.0","id":8,"method":"tools/list"}`) })
	if files(dir, "read") != 0 {
		t.Error("a provider runs without a slot")
	}
	os.WriteFile(dir+"/go", nil, 0o644)
	if got := <-answer; !strings.Contains(got, "text") {
		t.Error(got)
	}
}

// TASK-50: tasks count for a person, whatever sessions and tokens it uses.
func TestSharesOfTasks(t *testing.T) {
	list := tools(map[string]string{"long": "sleep 600"})
	list["tools/long/tool.meta.json"] = strings.Replace(list["tools/long/tool.meta.json"], `"inputSchema"`,
		`"longRunning":{"after":1},"inputSchema"`, 1)
	s := serve(t, list, project.Env{"MCPBASH_MAX_TASKS": "4", "MCPBASH_MAX_CLIENT_TASKS": "8"}, bearers(persons))
	for _, c := range []struct{ token, want string }{
		{"anna", "still runs"}, {"anna2", "still runs"}, {"anna", "Too many calls"}, {"anna2", "Too many calls"},
		{"bert", "still runs"}, {"bert", "still runs"}, {"carl", "Too many calls"},
	} {
		if got := text(t, s.personal(c.token, "").call("1", "long")); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.token, got)
		}
	}
}

// LR-21: results of one person do not drive out those of others, whatever sessions and tokens it uses.
func TestSharesOfResults(t *testing.T) {
	list := tools(map[string]string{"large": "seq 2000"})
	list["tools/large/tool.meta.json"] = strings.Replace(list["tools/large/tool.meta.json"], `"inputSchema"`,
		`"largeResultBytes":1000,"inputSchema"`, 1)
	s := serve(t, list, project.Env{"MCPBASH_LARGE_RESULT_SERVER_BYTES": "40000"}, bearers(persons))
	const scheme = "mcpbash-result://"
	bert := s.personal("bert", "")
	token, _, _ := strings.Cut(between(text(t, bert.call("1", "large")), scheme, `"`), "?")
	for i := range 8 {
		se := s.personal([]string{"anna", "anna2"}[i%2], "")
		if got := text(t, se.call("1", "large")); !strings.Contains(got, scheme) {
			t.Error(got)
		}
	}
	got := text(t, bert.send(`{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"`+scheme+token+`"}}`))
	if !strings.Contains(got, `"contents"`) {
		t.Error(got)
	}
}

// P-1800: sessions do not multiply the turns of a person.
func TestTurnsOfPersons(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, tools(map[string]string{
		"anna": "echo anna >> " + dir + "/order", "bert": "echo bert >> " + dir + "/order",
		"wait": `touch "` + dir + `/began"; ` + waitAt(dir+"/go"),
	}), project.Env{"MCPBASH_MAX_CONCURRENT_REQUESTS": "1"}, bearers(persons))
	first := s.personal("carl", "")
	first.start("1", "wait")
	awaitFile(t, dir+"/began")
	const calls = 6
	done := make(chan string)
	start := func(token, tool string) {
		se := s.personal(token, "")
		go func() { done <- text(t, se.call("1", tool)) }()
		await(t, "queue", func() bool { return s.session(se.id).client.Busy() })
	}
	for i := range calls {
		start([]string{"anna", "anna2"}[i%2], "anna")
	}
	start("bert", "bert")
	os.WriteFile(dir+"/go", nil, 0o644)
	for range calls + 1 {
		<-done
	}
	order, _ := os.ReadFile(dir + "/order")
	if at := strings.Index(string(order), "bert"); at < 0 || strings.Count(string(order)[:at], "anna") > 1 {
		t.Errorf("%s", order)
	}
}

// H-36: at the share of a person, its oldest idle session ends for a new one. Sessions in use stay.
func TestIdleSessionsMakeRoom(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, tools(map[string]string{"wait": `touch "` + dir + `/$(basename "$(mktemp -u)")"; ` + waitAt(dir+"/go")}),
		project.Env{"MCPBASH_HTTP_MAX_SESSIONS": "4"}, bearers(persons))
	first, second := s.personal("anna", ""), s.personal("anna2", "")
	bert := s.personal("bert", "")
	first.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	third := s.personal("anna", "")
	if s.session(second.id) != nil || s.session(first.id) == nil {
		t.Error("not the oldest session has ended")
	}
	if r := second.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`); r.StatusCode != 404 {
		t.Error(r.Status)
	}
	const line = `ended the oldest idle session of "anna", since MCPBASH_HTTP_MAX_SESSIONS allows no more`
	if !strings.Contains(s.stderr.String(), line) {
		t.Error(s.stderr.String())
	}
	for i, se := range []*personal{first, third} {
		se.start("1", "wait")
		await(t, "call", func() bool { return files(dir, "tmp.*") == i+1 })
	}
	r := s.initialize("anna", "")
	if r.StatusCode != 503 || r.Header.Get("Retry-After") == "" || !strings.Contains(text(t, r), "Too many sessions") {
		t.Error(r.Status)
	}
	if s.session(bert.id) == nil || s.session(first.id) == nil || s.session(third.id) == nil {
		t.Error("a session in use, or of another person, has ended")
	}
	s.personal("bert", "")
	s.personal("carl", "") // the server has all sessions; only bert's are idle
	if s.session(bert.id) != nil {
		t.Error("idle sessions lock a person out")
	}
	os.WriteFile(dir+"/go", nil, 0o644)
}

// H-47: a person that opens streams without end leaves room for others.
func TestSharesOfStreams(t *testing.T) {
	s := serve(t, nil, project.Env{"MCPBASH_HTTP_MAX_STREAMS": "4"}, bearers(persons))
	for _, c := range []struct {
		token  string
		status int
	}{{"anna", 200}, {"anna2", 200}, {"anna", 503}, {"bert", 200}, {"anna2", 503}, {"bert", 200}, {"carl", 503}} {
		r := s.modern(t.Context(), "1", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`, "",
			bearer(c.token))
		if r.StatusCode != c.status {
			t.Errorf("stream of %s: %s", c.token, r.Status)
		}
	}
}

// H-37, TASK-61: a session is in use while its task runs or its answer is kept, and while a request runs.
func TestBusySessionsAreNotIdle(t *testing.T) {
	dir := t.TempDir()
	list := tools(map[string]string{"long": "touch " + dir + "/long; " + waitAt(dir+"/go") + "echo done",
		"wait": "touch " + dir + "/began; " + waitAt(dir+"/go") + "touch " + dir + "/ended"})
	list["tools/long/tool.meta.json"] = strings.Replace(list["tools/long/tool.meta.json"], `"inputSchema"`,
		`"longRunning":{"after":1},"inputSchema"`, 1)
	s := serve(t, list, project.Env{"MCPBASH_HTTP_SESSION_IDLE": "0.2"}, bearers(persons))
	task, call := s.personal("anna", ""), s.personal("bert", "")
	call.start("1", "wait")
	awaitFile(t, dir+"/began")
	s.client.CloseIdleConnections()
	if got := text(t, task.call("1", "long")); !strings.Contains(got, "still runs") {
		t.Fatal(got)
	}
	idle := s.personal("carl", "")
	await(t, "end of an idle session", func() bool { return s.session(idle.id) == nil })
	idle = s.personal("carl", "")
	await(t, "end of another one", func() bool { return s.session(idle.id) == nil })
	if s.session(task.id) == nil || s.session(call.id) == nil {
		t.Fatal("a session in use has ended")
	}
	os.WriteFile(dir+"/go", nil, 0o644)
	awaitFile(t, dir+"/go")
}

// H-44: the events that are kept for one person do not drive out those for others.
func TestSharesOfEvents(t *testing.T) {
	s := serve(t, tools(map[string]string{"long": sourceSDK + "mcp_progress 1 x; printf %0200000d 0"}),
		project.Env{"MCPBASH_MAX_PENDING_BYTES": "1000000"}, bearers(persons))
	run := func(token string) *personal {
		t.Helper()
		se := s.personal(token, "")
		r := sentEvents(t, se.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"long",`+
			`"_meta":{"progressToken":1}}}`))
		r.find(`"result"`)
		for r.next() != "" {
		}
		return se
	}
	again := func(se *personal) *http.Response {
		t.Helper()
		return se.do(t.Context(), "GET", "", se.line, "Mcp-Session-Id: "+se.id, "Last-Event-ID: 1-1")
	}
	bert := run("bert")
	first := run("anna")
	for i := range 7 {
		run([]string{"anna", "anna2"}[i%2])
	}
	if r := again(first); r.StatusCode != 400 {
		t.Error(r.Status)
	}
	sentEvents(t, again(bert)).find(`"result"`)
}
