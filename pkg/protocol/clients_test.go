//go:build unix

package protocol

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mcp-bash/pkg/auth/share"
	"mcp-bash/pkg/engine"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/wire/mcp"
	"mcp-bash/test/servertest"
)

// patience is how long a test waits for an event.
const patience = 30 * time.Second

// newServer returns a server for a project of these files.
func newServer(t testing.TB, files map[string]string, env project.Env) (*Server, string) {
	t.Helper()
	return newReplica(t, files, env, Replica{})
}

// newReplica is newServer for one of several servers.
func newReplica(t testing.TB, files map[string]string, env project.Env, self Replica) (*Server, string) {
	t.Helper()
	p := servertest.New(t, files, env)
	log := NewLog(p.Console, false)
	e := engine.New(engine.Config{
		Project: p.Project, State: p.State, Runner: p.Runner, Home: p.Home, Log: log.Send, Debug: log.Debugging,
		Notice: func(string) {}, Stderr: p.Stderr,
	})
	server := NewServer(Config{
		Context: p.Context, Project: p.Project, State: p.State, Engine: e, Console: p.Console, Log: log, Replica: self,
	})
	t.Cleanup(func() {
		p.Stop(calls.ErrStopping)
		p.Runner.KillAll()
		server.End(patience) // it writes the lists of the project
		p.State.Remove()
	})
	return server, p.Root
}

// memory is a transport in memory: a client of a test, and its connection.
type memory struct {
	t            *testing.T
	name         string
	stateless    bool
	client       *Client
	lines        chan string
	seen         []string    // all lines that were read
	stuck        atomic.Bool // the client does not read
	ended        chan Ending
	closing      sync.Once
	capabilities string // in stateless requests; "": elicitation
	tasks        sync.WaitGroup
}

// connect adds a client to a server. It opens a session, unless it is stateless.
func connect(t *testing.T, s *Server, name string, stateless bool) *memory {
	t.Helper()
	m := &memory{t: t, name: name, stateless: stateless, lines: make(chan string, 1000), ended: make(chan Ending, 1)}
	m.client = s.NewClient(m, Caller{Owner: share.Nobody(fmt.Sprintf("%p", m))})
	t.Cleanup(m.close)
	if !stateless {
		m.request("0", "initialize", `"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}}`)
		m.accept(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	return m
}

// close ends the client. Its tasks have ended afterwards.
func (m *memory) close() {
	m.closing.Do(func() {
		m.client.Cancel(calls.ErrStopping)
		m.client.Leave()
		m.client.Wait()
		m.tasks.Wait()
	})
}

func (m *memory) Queue(line []byte) { m.lines <- string(line) }
func (m *memory) Last(line []byte, _ *mcp.Error) {
	if line != nil {
		m.Queue(line)
	}
}
func (*memory) Push()          {}
func (*memory) Deliver()       {}
func (*memory) Release(int)    {}
func (*memory) AwaitRoom()     {}
func (m *memory) End(e Ending) { m.ended <- e }
func (m *memory) Full() bool   { return m.stuck.Load() }

// Reserve waits for a client that does not read until its requests are cancelled.
func (m *memory) Reserve(ctx context.Context, _ int) {
	if m.stuck.Load() {
		<-ctx.Done()
	}
}

// accept gives a message to the client, and runs its task on another goroutine.
func (m *memory) accept(message string) {
	if task := m.client.Accept([]byte(message), m); task != nil {
		m.tasks.Go(task.Run)
	}
}

// send sends a request with members in its params.
func (m *memory) send(id, method, members string) {
	m.t.Helper()
	if m.stateless {
		if members != "" {
			members += ","
		}
		members += `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
			`"io.modelcontextprotocol/clientCapabilities":` + cmp.Or(m.capabilities, `{"elicitation":{}}`) +
			`,"io.modelcontextprotocol/logLevel":"info",` +
			`"progressToken":"token"}`
	} else if method == "tools/call" {
		members += `,"_meta":{"progressToken":"token"}`
	}
	m.accept(`{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{` + members + `}}`)
}

// await returns the first line with a text.
func (m *memory) await(text string) string {
	m.t.Helper()
	for _, line := range m.seen {
		if strings.Contains(line, text) {
			return line
		}
	}
	for {
		select {
		case line := <-m.lines:
			m.seen = append(m.seen, line)
			if strings.Contains(line, text) {
				return line
			}
		case <-time.After(patience):
			m.t.Fatalf("%s: no line contains %s; others: %q", m.name, text, m.seen)
		}
	}
}

func (m *memory) request(id, method, members string) string {
	m.t.Helper()
	m.send(id, method, members)
	return m.await(`{"jsonrpc":"2.0","id":` + id + `,`)
}

// all returns all lines that the client has got so far.
func (m *memory) all() string {
	for {
		select {
		case line := <-m.lines:
			m.seen = append(m.seen, line)
		default:
			return strings.Join(m.seen, "")
		}
	}
}

// awaitFile waits for a file that a script creates.
func awaitFile(t *testing.T, name string) {
	t.Helper()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	late := time.After(patience)
	for {
		if _, err := os.Stat(name); err == nil {
			return
		}
		select {
		case <-look.C:
		case <-late:
			t.Fatalf("%s does not appear", name)
		}
	}
}

// isolated is a project whose tools mention their argument in everything that they do.
var isolated = map[string]string{
	"server.d/server.meta.json": "{}",
	"tools/report/tool.sh": `who=$(printf %s "$MCP_TOOL_ARGS_JSON" | tr -cd a-z)
report() { printf '{"jsonrpc":"2.0","method":"notifications/%s","params":{%s}}\n' "$1" "$2"; }
report progress '"progress":1,"message":"progress of '$who'"' >>"$MCP_PROGRESS_STREAM"
report message '"level":"info","data":"log of '$who'"' >>"$MCP_LOG_STREAM"
mkfifo "$MCPBASH_PROJECT_ROOT/go.$who" 2>/dev/null
touch "$MCPBASH_PROJECT_ROOT/started.$who"
: <"$MCPBASH_PROJECT_ROOT/go.$who"
printf 'answer for %s' "$who"
`,
	"tools/ask/tool.sh": awaiting + `who=$(printf %s "$MCP_TOOL_ARGS_JSON" | tr -cd a-z)
printf '{"message":"question of %s"}' "$who" >"$MCP_ELICIT_REQUEST_FILE.tmp"
mv "$MCP_ELICIT_REQUEST_FILE.tmp" "$MCP_ELICIT_REQUEST_FILE"
await "$MCP_ELICIT_RESPONSE_FILE"
cat "$MCP_ELICIT_RESPONSE_FILE"
`,
	"resources/alpha.txt": "1", "resources/beta.txt": "1",
}

// goOn lets the calls of a client's report tool continue that wait, now or later.
func goOn(t *testing.T, root, name string) {
	t.Helper()
	gate, err := os.OpenFile(filepath.Join(root, "go."+name), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { gate.Close() })
}

var live = project.Env{"MCPBASH_ENABLE_LIVE_PROGRESS": "true"}

// Two clients of one process use equal ids, tokens and tools at the same time. Each gets its own
// progress, logs, answers, notifications and questions, and nothing of the other one.
func TestIsolation(t *testing.T) {
	for _, protocols := range [][2]bool{{false, false}, {true, true}, {false, true}} {
		t.Run(fmt.Sprintf("stateless=%v", protocols), func(t *testing.T) {
			server, root := newServer(t, isolated, live)
			alpha, beta := connect(t, server, "alpha", protocols[0]), connect(t, server, "beta", protocols[1])
			both := func(do func(m *memory)) {
				t.Helper()
				do(alpha)
				do(beta)
			}
			both(func(m *memory) { m.send("1", "tools/call", `"name":"report","arguments":{"":"`+m.name+`"}`) })
			both(func(m *memory) {
				m.await("progress of " + m.name)
				m.await("log of " + m.name)
			})
			both(func(m *memory) {
				awaitFile(t, filepath.Join(root, "started."+m.name))
				goOn(t, root, m.name)
				m.await(`answer for ` + m.name)
			})
			both(func(m *memory) { m.watch("file://" + root + "/resources/" + m.name + ".txt") })
			both(func(m *memory) {
				os.WriteFile(filepath.Join(root, "resources", m.name+".txt"), []byte("22"), 0o644)
			})
			both(func(m *memory) { m.await("notifications/resources/updated") })
			both(func(m *memory) { m.send("2", "tools/call", `"name":"ask","arguments":{"":"`+m.name+`"}`) })
			both(func(m *memory) { m.await("question of " + m.name) })
			if protocols[0] && protocols[1] {
				alpha.stealCall(beta)
			}
			both(func(m *memory) { m.answer() })
			both(func(m *memory) {
				other := map[string]string{"alpha": "beta", "beta": "alpha"}[m.name]
				if all := m.all(); strings.Contains(all, other) {
					t.Errorf("%s got something of %s: %s", m.name, other, all)
				}
			})
		})
	}
}

// watch subscribes to a resource.
func (m *memory) watch(uri string) {
	m.t.Helper()
	if m.stateless {
		m.send(`"stream"`, "subscriptions/listen", `"notifications":{"resourceSubscriptions":["`+uri+`"]}`)
		m.await("notifications/subscriptions/acknowledged")
		return
	}
	m.request(`"watch"`, "resources/subscribe", `"uri":"`+uri+`"`)
}

// question returns the id of the open question of a session, or the state of a suspended call.
func (m *memory) question() (id, state string) {
	line, err := rawjson.Check([]byte(m.await("question of " + m.name)))
	if err != nil {
		m.t.Fatal(err)
	}
	return string(rawjson.Get(line, "id")), rawjson.TextOf(rawjson.Get(line, "result"), "requestState")
}

// stealCall tries to resume the suspended call of another client.
func (m *memory) stealCall(other *memory) {
	m.t.Helper()
	_, state := other.question()
	got := m.request("9", "tools/call", `"name":"ask","arguments":{"":"`+other.name+`"},"requestState":"`+state+
		`","inputResponses":{"input-1":{"action":"accept","content":{"stolen":1}}}`)
	if !strings.Contains(got, "it is not one of this server's, or was changed on the way") {
		m.t.Errorf("%s resumes a call of %s: %s", m.name, other.name, got)
	}
}

// answer answers the client's own question, and expects the answer in the result of the tool.
func (m *memory) answer() {
	m.t.Helper()
	id, state := m.question()
	response := `{"action":"accept","content":{"from":"` + m.name + `"}}`
	if m.stateless {
		m.send("3", "tools/call", `"name":"ask","arguments":{"":"`+m.name+`"},"requestState":"`+state+
			`","inputResponses":{"input-1":`+response+`}`)
	} else {
		m.accept(`{"jsonrpc":"2.0","id":` + id + `,"result":` + response + `}`)
	}
	if got := m.await(`\"from\":`); !strings.Contains(got, `\"from\":\"`+m.name+`\"`) || strings.Contains(got, "stolen") {
		m.t.Errorf("%s got %s", m.name, got)
	}
}

// A client that cancels, sets its log level or ends does not affect the other one.
func TestIndependentClients(t *testing.T) {
	for _, stateless := range []bool{false, true} {
		t.Run(fmt.Sprintf("stateless=%v", stateless), func(t *testing.T) {
			server, root := newServer(t, isolated, live)
			alpha, beta := connect(t, server, "alpha", false), connect(t, server, "beta", stateless)
			alpha.request("5", "logging/setLevel", `"level":"debug"`)
			for _, m := range []*memory{alpha, beta} {
				m.send("1", "tools/call", `"name":"report","arguments":{"":"`+m.name+`"}`)
				awaitFile(t, filepath.Join(root, "started."+m.name))
			}
			alpha.accept(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
			alpha.await("Cancelled id=1")
			goOn(t, root, "beta")
			beta.await("answer for beta")
			if all := beta.all(); strings.Contains(all, `"debug"`) {
				t.Errorf("beta got debug messages: %s", all)
			}
			if all := alpha.all(); strings.Count(all, "Invoke tool=report") != 1 {
				t.Errorf("alpha got debug messages of beta: %s", all)
			}
			alpha.close()
			if got := beta.request("2", "tools/call", `"name":"report","arguments":{"":"beta"}`); !strings.Contains(got,
				"answer for beta") {
				t.Error(got)
			}
			if len(beta.ended) > 0 {
				t.Error("beta was ended")
			}
		})
	}
}

// Only a client that listens is notified of changed lists, and each of them is.
func TestListsOfClients(t *testing.T) {
	server, root := newServer(t, isolated, project.Env{"MCP_TOOLS_TTL": "0"})
	session, old := connect(t, server, "session", false), &memory{t: t, name: "old", lines: make(chan string, 100)}
	old.client = server.NewClient(old, Caller{})
	defer old.close()
	old.request("0", "initialize", `"protocolVersion":"2025-03-26","capabilities":{}`) // a revision without list_changed
	old.accept(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	stream := connect(t, server, "stream", true)
	stream.send(`"s"`, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`)
	stream.await("notifications/subscriptions/acknowledged")
	session.request("1", "tools/list", "")
	os.Mkdir(filepath.Join(root, "tools/new"), 0o755)
	os.WriteFile(filepath.Join(root, "tools/new/tool.sh"), []byte("#!/bin/bash\n"), 0o755)
	session.await("notifications/tools/list_changed")
	if line := stream.await("notifications/tools/list_changed"); !strings.Contains(line, `subscriptionId":"s"`) {
		t.Error(line)
	}
	if all := old.all(); strings.Contains(all, "list_changed") {
		t.Error(all)
	}
}

// A client that does not read, and whose requests use all slots, does not stop another one.
func TestClientThatDoesNotRead(t *testing.T) {
	server, root := newServer(t, isolated, project.Env{"MCPBASH_MAX_CONCURRENT_REQUESTS": "2"})
	alpha, beta := connect(t, server, "alpha", false), connect(t, server, "beta", false)
	alpha.stuck.Store(true)
	for i := range 5 {
		alpha.send(fmt.Sprint(i), "tools/call", `"name":"report","arguments":{"":"alpha"}`)
	}
	goOn(t, root, "beta")
	if got := beta.request("1", "tools/call", `"name":"report","arguments":{"":"beta"}`); !strings.Contains(got,
		"answer for beta") {
		t.Error(got)
	}
}

// Accepting a ping allocates nothing.
func TestAcceptAllocations(t *testing.T) {
	server, _ := newServer(t, nil, nil)
	out := discard{}
	c := server.NewClient(out, Caller{})
	line := []byte(`{"jsonrpc":"2.0","id":12,"method":"ping"}`)
	if n := testing.AllocsPerRun(1000, func() { c.Accept(line, out) }); n != 0 {
		t.Errorf("%v allocations a ping", n)
	}
}

// discard is a connection that drops all lines.
type discard struct{}

func (discard) Last([]byte, *mcp.Error)      {}
func (discard) Queue([]byte)                 {}
func (discard) Push()                        {}
func (discard) Deliver()                     {}
func (discard) Full() bool                   { return false }
func (discard) Reserve(context.Context, int) {}
func (discard) Release(int)                  {}
func (discard) AwaitRoom()                   {}
func (discard) End(Ending)                   {}

func BenchmarkPing(b *testing.B) {
	server, _ := newServer(b, nil, nil)
	out := discard{}
	c := server.NewClient(out, Caller{})
	line := []byte(`{"jsonrpc":"2.0","id":12,"method":"ping"}`)
	b.ReportAllocs()
	for b.Loop() {
		c.Accept(line, out)
	}
}

// M-56, M-58: only a request that can ask its client may go on after its answer. All others run on the goroutine of
// the transport.
func TestLingering(t *testing.T) {
	s, _ := newServer(t, map[string]string{
		"server.d/server.meta.json": "{}",
		"tools/ask/tool.sh": "[ -n \"$MCP_ELICIT_REQUEST_FILE\" ] || exec echo decline\n" +
			isolated["tools/ask/tool.sh"],
		"prompts/plain.txt":  "${x}",
		"prompts/asking.txt": "${x}",
		"prompts/asking.meta.json": `{"name":"asking","elicit":true,
			"arguments":{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]}}`,
	}, nil)
	m := connect(t, s, "alpha", true)
	for i, c := range []struct {
		method, name, capabilities string
		lingers                    bool
		answer                     string
	}{
		{"tools/call", "ask", `{}`, false, `decline`},
		{"tools/call", "ask", `{"roots":false,"extensions":{}}`, false, `decline`},
		{"tools/call", "ask", `{"sampling":{}}`, true, `decline`},
		{"tools/call", "ask", `{"roots":{}}`, true, `decline`},
		{"tools/call", "ask", `{"elicitation":{}}`, true, `input_required`},
		{"prompts/get", "plain", `{"elicitation":{}}`, false, `"text":"${x}"`},
		{"prompts/get", "asking", `{}`, false, `Missing required argument: x`},
		{"prompts/get", "asking", `{"elicitation":{"url":{}}}`, false, `Missing required argument: x`},
		{"prompts/get", "asking", `{"elicitation":{}}`, true, `input_required`},
		{"tools/list", "", `{"elicitation":{}}`, false, `"tools":`},
	} {
		task := m.client.Accept(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"%d","method":%q,"params":{"name":%q,"_meta":{`+
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":%s}}}`,
			i, c.method, c.name, c.capabilities), m)
		if task == nil || task.Lingers() != c.lingers {
			t.Fatalf("%s %s of a client with %s: %v", c.method, c.name, c.capabilities, task)
		}
		if c.lingers {
			m.tasks.Go(task.Run)
		} else {
			task.Run()
		}
		if line := m.await(fmt.Sprintf(`"id":"%d"`, i)); !strings.Contains(line, c.answer) {
			t.Errorf("%s %s of a client with %s: %s", c.method, c.name, c.capabilities, line)
		}
	}
}
