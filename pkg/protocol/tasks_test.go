//go:build unix

package protocol

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/protocol/calls/tasks"
	"mcp-bash/pkg/protocol/internal/seal"
	"mcp-bash/pkg/wire/mcp"
)

// lasting is a project of long-running tools. Their call ends when the test opens a gate, a FIFO that is named by
// their argument.
var lasting = map[string]string{
	"server.d/server.meta.json": "{}",
	"tools/plain/tool.sh":       "echo plain",
	"tools/work/tool.meta.json": `{"name":"work","longRunning":true,"outputSchema":{"type":"object"}}`,
	"tools/work/tool.sh": gated + `report progress '"progress":3,"total":10,"message":"step '$who'"' >>"$MCP_PROGRESS_STREAM"
report message '"level":"info","data":"log of '$who'"' >>"$MCP_LOG_STREAM"
wait_at go
printf '{"answer":"for %s"}' "$who"`,
	"tools/patient/tool.meta.json": `{"name":"patient","longRunning":{"after":3600}}`,
	"tools/patient/tool.sh": gated + `report progress '"progress":1' >>"$MCP_PROGRESS_STREAM"
report message '"level":"info","data":"log"' >>"$MCP_LOG_STREAM"
wait_at go; printf 'answer for %s' "$who"`,
	"tools/fail/tool.meta.json": `{"name":"fail","longRunning":true}`,
	"tools/fail/tool.sh": gated + `wait_at go
printf '{"code":-32603,"message":"broken %s"}' "$who" >"$MCP_TOOL_ERROR_FILE"; exit 1`,
	"tools/ask/tool.meta.json":   `{"name":"ask","longRunning":true}`,
	"tools/ask/tool.sh":          gated + `ask one; ask two; printf 'told %s'`,
	"tools/first/tool.meta.json": `{"name":"first","longRunning":{"after":3600,"asksFirst":true}}`,
	"tools/first/tool.sh": gated + `ask one
report progress '"progress":1' >>"$MCP_PROGRESS_STREAM"
wait_at go; printf 'told %s' "$answer"`,
	"tools/late/tool.meta.json":  `{"name":"late","longRunning":true}`,
	"tools/late/tool.sh":         gated + `wait_at go; ask one; printf 'told %s' "$answer"`,
	"tools/alone/tool.meta.json": `{"name":"alone","longRunning":true}`,
	"tools/alone/tool.sh":        gated + `(ask one) & wait_at go; kill $!; printf 'went on'`,
	"tools/needy/tool.meta.json": `{"name":"needy","longRunning":true,"requires":["tasks"]}`,
	"tools/needy/tool.sh":        "echo done",
	"tools/large/tool.meta.json": `{"name":"large","longRunning":true}`,
	"tools/large/tool.sh":        gated + `wait_at go; head -c 20000 /dev/zero | tr '\0' x`,
}

// gated defines functions for scripts. ask waits at the FIFO of T-129.
const gated = `who=$(printf %s "$MCP_TOOL_ARGS_JSON" | tr -cd a-z0-9)
report() { printf '{"jsonrpc":"2.0","method":"notifications/%s","params":{%s}}\n' "$1" "$2"; }
wait_at() { touch "$MCPBASH_PROJECT_ROOT/started.$who"; : <"$MCPBASH_PROJECT_ROOT/$1.$who"; }
ask() {
  [ -p "$MCP_INPUT_DIR/wake" ] || mkfifo -m 600 "$MCP_INPUT_DIR/wake"; exec 7<>"$MCP_INPUT_DIR/wake"
  printf '{"message":"question of %s"}' "$1" >"$MCP_ELICIT_REQUEST_FILE.tmp"
  mv "$MCP_ELICIT_REQUEST_FILE.tmp" "$MCP_ELICIT_REQUEST_FILE"
  until [ -e "$MCP_ELICIT_RESPONSE_FILE" ]; do read -r _ <&7; done
  answer=$(cat "$MCP_ELICIT_RESPONSE_FILE"); rm "$MCP_ELICIT_RESPONSE_FILE"
}
`

const knowsTasks = `{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`

// lastingServer returns a server for the project, and a function that opens the gate of a call.
func lastingServer(t testing.TB, env project.Env, self Replica) (s *Server, root string, open func(who string)) {
	s, root = newReplica(t, lasting, env, self)
	return s, root, func(who string) { openGate(t, root, who) }
}

// hastyServer is lastingServer with a short time until the hand-over.
func hastyServer(t testing.TB) (s *Server, root string, open func(who string)) {
	s, root, open = lastingServer(t, nil, Replica{})
	s.Project.Tasks.After = 300 * time.Millisecond
	return s, root, open
}

func makeGate(t testing.TB, root, who string) {
	t.Helper()
	if err := syscall.Mkfifo(filepath.Join(root, "go."+who), 0o600); err != nil {
		t.Fatal(err)
	}
}

func openGate(t testing.TB, root, who string) {
	t.Helper()
	gate, err := os.OpenFile(filepath.Join(root, "go."+who), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { gate.Close() })
}

// begin calls a long-running tool and waits until its script has started.
func (m *memory) begin(root, id, tool, who string) {
	m.t.Helper()
	makeGate(m.t, root, who)
	m.send(id, "tools/call", `"name":"`+tool+`","arguments":{"":"`+who+`"}`)
	awaitFile(m.t, filepath.Join(root, "started."+who))
}

// result returns the result of the answer to a request.
func (m *memory) result(id string) json.RawMessage {
	m.t.Helper()
	return rawjson.Get(json.RawMessage(m.await(`{"jsonrpc":"2.0","id":`+id+`,`)), "result")
}

// task returns the id of a new task.
func (m *memory) task(id string) string {
	m.t.Helper()
	r := m.result(id)
	taskID := rawjson.TextOf(r, "taskId")
	if rawjson.TextOf(r, "resultType") != "task" || taskID == "" {
		m.t.Fatalf("no task: %s", r)
	}
	return taskID
}

// handle returns the id of the task in a result for models.
func (m *memory) handle(id string) string {
	m.t.Helper()
	r := m.result(id)
	taskID := rawjson.TextOf(rawjson.Get(r, "structuredContent"), "taskId")
	if taskID == "" {
		m.t.Fatalf("no handle: %s", r)
	}
	return taskID
}

var requestIDs struct {
	sync.Mutex
	last int
}

// fresh returns an unused id of a request.
func fresh() string {
	requestIDs.Lock()
	defer requestIDs.Unlock()
	requestIDs.last++
	return fmt.Sprintf(`"r%d"`, requestIDs.last)
}

// pause is the time between two looks at something that another goroutine changes.
const pause = 5 * time.Millisecond

// poll asks for a task until it has a status.
func (m *memory) poll(taskID, status string) json.RawMessage {
	m.t.Helper()
	for late := time.Now().Add(patience); ; {
		m.request(fresh(), "tasks/get", `"taskId":"`+taskID+`"`)
		got := rawjson.Get(json.RawMessage(m.seen[len(m.seen)-1]), "result")
		if rawjson.TextOf(got, "status") == status {
			return got
		}
		if time.Now().After(late) {
			m.t.Fatalf("the task is not %s: %s", status, m.seen[len(m.seen)-1])
		}
		<-time.After(pause)
	}
}

// control calls one of the server's own tools. It waits until a task no longer works, unless arguments has seconds.
func (m *memory) control(tool, arguments string) string {
	m.t.Helper()
	for late := time.Now().Add(patience); ; {
		got := m.request(fresh(), "tools/call", `"name":"`+tool+`","arguments":{`+arguments+`}`)
		if tool != "task_wait" || strings.Contains(arguments, "seconds") || !strings.Contains(got, `"status":"working"`) ||
			time.Now().After(late) {
			return got
		}
	}
}

func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s lacks %s", text, part)
		}
	}
}

// tasking connects a client with the extension.
func tasking(t *testing.T, s *Server) *memory {
	m := connect(t, s, "anna", true)
	m.capabilities = knowsTasks
	return m
}

// TASK-10 to TASK-14: the states of a task, its result and its error.
func TestTasks(t *testing.T) {
	s, root, open := lastingServer(t, nil, Replica{})
	m := tasking(t, s)
	has(t, m.request("1", "server/discover", ""), `"extensions":{"io.modelcontextprotocol/tasks":{}}`)
	m.begin(root, "2", "work", "anna")
	created := string(m.result("2"))
	has(t, created, `"resultType":"task"`, `"status":"working"`, `"ttlMs":null,"pollIntervalMs":1000`,
		`"createdAt":"2`)
	id := m.task("2")
	for late := time.Now().Add(patience); ; { // TASK-13: progress
		if got := string(m.poll(id, "working")); strings.Contains(got, `"statusMessage":"3 of 10: step anna"`) {
			break
		} else if time.Now().After(late) {
			t.Fatal(got)
		}
		<-time.After(pause)
	}
	open("anna")
	done := m.poll(id, "completed")
	has(t, string(done), `"resultType":"complete"`,
		`"result":{"resultType":"complete","name":"work","content":[{"type":"text",`, `for anna`)
	if ttl := rawjson.PositiveInt(rawjson.Get(done, "ttlMs")); ttl < 600_000 || ttl > 700_000 {
		t.Errorf("ttlMs is %d", ttl)
	}
	m.begin(root, "3", "fail", "bert")
	id = m.task("3")
	open("bert")
	has(t, string(m.poll(id, "failed")), `"statusMessage":"broken bert"`,
		`"error":{"code":-32603,"message":"broken bert"}`)
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		has(t, m.request(fresh(), method, `"taskId":"x"`), `"error":{"code":-32602,"message":"Task not found"`)
		has(t, m.request(fresh(), method, `"taskId":5`), `"error":{"code":-32602,"message":"Task not found"`)
	}
	has(t, m.request(fresh(), "tasks/update", `"taskId":"`+id+`","inputResponses":[]`), `"error":{"code":-32602`)
	for _, method := range []string{"tasks/list", "tasks/result"} {
		has(t, m.request(fresh(), method, `"taskId":"x"`), `"error":{"code":-32601`)
	}
	s.tasks.Grace = time.Hour
	has(t, m.request(fresh(), "tools/call", `"name":"needy"`), `"text":"done`) // TASK-4: a result at once
	has(t, m.request(fresh(), "tools/call", `"name":"plain"`), `"text":"plain`)
	m.send(fresh(), "subscriptions/listen", `"notifications":{"taskIds":["x"]}`)
	has(t, m.await("acknowledged"), `"notifications":{}`) // TASK-17
	m.capabilities = `{}`
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		has(t, m.request(fresh(), method, `"taskId":"`+id+`"`), `"error":{"code":-32021`,
			`"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}`)
	}
	has(t, m.request(fresh(), "tools/call", `"name":"needy"`), `"error":{"code":-32021`,
		`"io.modelcontextprotocol/tasks":{}`)
	has(t, m.request(fresh(), "subscriptions/listen", `"notifications":{"taskIds":["x"]}`), `"error":{"code":-32021`)
}

// TASK-60: a cancelled task has this status at once, and its script ends.
func TestCancelledTask(t *testing.T) {
	s, root, _ := lastingServer(t, nil, Replica{})
	m := tasking(t, s)
	m.begin(root, "1", "work", "anna")
	id := m.task("1")
	has(t, m.request("2", "tasks/cancel", `"taskId":"`+id+`"`), `"result":{"resultType":"complete","_meta":`)
	got := m.request("3", "tasks/get", `"taskId":"`+id+`"`)
	has(t, got, `"status":"cancelled"`)
	if strings.Contains(got, `"error"`) || strings.Contains(got, `"result":{"resultType":"complete","content"`) {
		t.Error(got)
	}
	has(t, m.request("4", "tasks/cancel", `"taskId":"`+id+`"`), `"result":{"resultType":"complete","_meta":`)
	m.client.tasks.Wait()
	m.client.suspended.Wait()
}

// TASK-14, TASK-30: a task that asks its client, twice.
func TestAskingTask(t *testing.T) {
	s, _, _ := lastingServer(t, nil, Replica{})
	m := tasking(t, s)
	m.send("1", "tools/call", `"name":"ask","arguments":{"":"anna"}`)
	id := m.task("1")
	has(t, string(m.poll(id, "input_required")), `"inputRequests":{"input-1":{"method":"elicitation/create"`,
		"question of one")
	update := func(responses string) {
		t.Helper()
		has(t, m.request(fresh(), "tasks/update", `"taskId":"`+id+`","inputResponses":`+responses),
			`"result":{"resultType":"complete","_meta":`)
	}
	update(`{"other":{"action":"decline"},"input-1":5}`)
	has(t, string(m.poll(id, "input_required")), "question of one")
	update(`{"input-1":{"action":"decline"}}`)
	for late := time.Now().Add(patience); ; {
		got := string(m.poll(id, "input_required"))
		if strings.Contains(got, `"input-2#2":`) && strings.Contains(got, "question of two") {
			break
		} else if time.Now().After(late) {
			t.Fatal(got)
		}
		<-time.After(pause)
	}
	update(`{"input-1":{"action":"accept","content":{}},"input-2":{"action":"decline"}}`) // keys of no open question
	has(t, string(m.poll(id, "input_required")), "question of two")
	update(`{"input-2#2":{"action":"decline"}}`)
	has(t, string(m.poll(id, "completed")), `"text":"told `)
}

// TASK-30, TASK-60: a task that waits for an answer is cancelled; its script ends.
func TestCancelledQuestion(t *testing.T) {
	s, _, _ := lastingServer(t, nil, Replica{})
	m := tasking(t, s)
	m.send("1", "tools/call", `"name":"ask","arguments":{"":"anna"}`)
	id := m.task("1")
	m.poll(id, "input_required")
	m.request(fresh(), "tasks/cancel", `"taskId":"`+id+`"`)
	m.poll(id, "cancelled")
	m.client.suspended.Wait()
}

// TASK-30: a question that nobody answers ends the task, with the limit of suspended calls.
func TestUnansweredTask(t *testing.T) {
	s, _, _ := lastingServer(t, project.Env{"MCPBASH_PARKED_CALL_TTL": "1"}, Replica{})
	m := tasking(t, s)
	m.send("1", "tools/call", `"name":"ask","arguments":{"":"anna"}`)
	has(t, string(m.poll(m.task("1"), "failed")), "MCPBASH_PARKED_CALL_TTL")
}

// TASK-30: a script that no longer waits for its answer goes on, and its task too.
func TestTaskGoesOn(t *testing.T) {
	s, root, open := lastingServer(t, nil, Replica{})
	m := tasking(t, s)
	m.begin(root, "1", "alone", "anna")
	id := m.task("1")
	m.poll(id, "input_required")
	open("anna")
	has(t, string(m.poll(id, "completed")), `"text":"went on"`)
}

// TASK-11: with asksFirst, the client is asked first, and the first progress makes the call a task.
func TestAsksFirst(t *testing.T) {
	s, root, open := lastingServer(t, nil, Replica{})
	m := tasking(t, s)
	makeGate(t, root, "anna")
	m.send("1", "tools/call", `"name":"first","arguments":{"":"anna"}`)
	r := m.result("1")
	has(t, string(r), `"resultType":"input_required"`, "question of one")
	m.send("2", "tools/call", `"name":"first","arguments":{"":"anna"},"requestState":"`+rawjson.TextOf(r, "requestState")+
		`","inputResponses":{"input-1":{"action":"decline"}}`)
	id := m.task("2")
	open("anna")
	has(t, string(m.poll(id, "completed")), `told {\"action\":\"decline\"`)
	// The state is valid once.
	has(t, m.request("3", "tools/call", `"name":"first","arguments":{"":"anna"},"requestState":"`+
		rawjson.TextOf(r, "requestState")+`"`), `"error":{"code":-32602,"message":"Invalid requestState"`)
}

// TASK-20 to TASK-25: both protocols without the extension.
func TestHandles(t *testing.T) {
	for _, stateless := range []bool{false, true} {
		t.Run(fmt.Sprintf("stateless=%v", stateless), func(t *testing.T) {
			s, root, open := hastyServer(t)
			m := connect(t, s, "anna", stateless)
			if got := strings.Join(m.toolNames(), " "); !strings.HasSuffix(got, "work task_status task_wait task_cancel") {
				t.Errorf("tools/list has %s", got)
			}
			if got := m.request(fresh(), "tools/list", ""); strings.Contains(got, "longRunning") ||
				strings.Contains(got, "outputSchema") { // TASK-1, TASK-3
				t.Error(got)
			}
			m.begin(root, "1", "work", "anna")
			has(t, string(m.result("1")), "Task ", "still runs in the background", "Call task_wait with",
				`"structuredContent":{"taskId":`, `"tool":"work","status":"working"`, `"isError":false`)
			id := `"taskId":"` + m.handle("1") + `"`
			for late := time.Now().Add(patience); ; <-time.After(pause) {
				got := m.control("task_status", id)
				if strings.Contains(got, "State: 3 of 10: step anna") {
					has(t, got, `"tool":"work","status":"working","statusMessage":"3 of 10: step anna"`, `"progress":3,"total":10`)
					break
				} else if time.Now().After(late) {
					t.Fatal(got)
				}
			}
			has(t, m.control("task_wait", id+`,"seconds":1`), `"status":"working"`)
			open("anna")
			has(t, m.control("task_wait", id), `for anna`)
			has(t, m.control("task_wait", id), `for anna`) // again
			has(t, m.control("task_status", id), `"status":"completed"`, "task_wait returns the result")
			has(t, m.control("task_cancel", id), `"status":"completed"`)
			m.begin(root, "2", "fail", "bert")
			id = `"taskId":"` + m.handle("2") + `"`
			open("bert")
			has(t, m.control("task_wait", id), `"error":{"code":-32603,"message":"broken bert"`)
			m.begin(root, "3", "work", "carl")
			id = `"taskId":"` + m.handle("3") + `"`
			has(t, m.control("task_cancel", id), `"status":"cancelled"`)
			has(t, m.control("task_wait", id), `"status":"cancelled"`)
			for _, tool := range []string{"task_status", "task_wait", "task_cancel"} {
				has(t, m.control(tool, `"taskId":"x"`), "There is no such task", `"isError":true`)
				has(t, m.control(tool, `"taskId":5`), "taskId is missing", `"isError":true`)
				has(t, m.request(fresh(), "tools/call", `"name":"`+tool+`"`), "taskId is missing", `"isError":true`)
			}
		})
	}
}

// TASK-4: until the hand-over, progress and logs belong to the request, and so does the answer.
func TestBeforeHandOver(t *testing.T) {
	for _, stateless := range []bool{false, true} {
		s, root, open := lastingServer(t, nil, Replica{})
		m := connect(t, s, "anna", stateless)
		m.begin(root, "1", "patient", "anna")
		has(t, m.await("notifications/progress"), `"progressToken":"token"`)
		m.await(`"data":"log"`)
		open("anna")
		has(t, string(m.result("1")), "answer for anna")
		if m.client.tasks.Busy() {
			t.Error("an answered call is kept")
		}
	}
}

// TASK-4: the end of a request before the hand-over ends the script.
func TestCancelledBeforeHandOver(t *testing.T) {
	for _, stateless := range []bool{false, true} {
		s, root, _ := lastingServer(t, nil, Replica{})
		m := connect(t, s, "anna", stateless)
		m.begin(root, "1", "patient", "anna")
		m.accept(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		m.client.tasks.Wait()
		m.client.Wait()
		if m.client.tasks.Busy() {
			t.Error("a cancelled call is kept")
		}
	}
}

// TASK-23: the second request that waits answers the first one, and a cancelled one leaves the task.
func TestSecondWait(t *testing.T) {
	s, root, open := hastyServer(t)
	m := connect(t, s, "anna", false)
	m.begin(root, "1", "work", "anna")
	id := m.handle("1")
	s.Project.Tasks.After = time.Hour
	m.begin(root, "2", "patient", "bert") // a request that waits, and uses no slot
	m.send("3", "tools/call", `"name":"task_wait","arguments":{"taskId":"`+id+`"}`)
	m.send("4", "tools/call", `"name":"task_wait","arguments":{"taskId":"`+id+`"}`)
	has(t, string(m.result("3")), `"status":"working"`)
	has(t, m.request("5", "tools/call", `"name":"task_status","arguments":{"taskId":"`+id+`"}`), `"status":"working"`)
	open("anna")
	m.result("4")
	open("bert")
	has(t, string(m.result("2")), "answer for bert")
}

// TASK-32: questions and logs of a task reach a client of the handshake protocol outside of its requests.
func TestHandshakeQuestion(t *testing.T) {
	s, _, _ := hastyServer(t)
	m := connect(t, s, "anna", false)
	m.send(`"call"`, "tools/call", `"name":"ask","arguments":{"":"anna"}`)
	question := json.RawMessage(m.await("question of one"))
	id := m.handle(`"call"`)
	m.accept(`{"jsonrpc":"2.0","id":` + string(rawjson.Get(question, "id")) + `,"result":{"action":"decline"}}`)
	question = json.RawMessage(m.await("question of two"))
	m.accept(`{"jsonrpc":"2.0","id":` + string(rawjson.Get(question, "id")) + `,"result":{"action":"decline"}}`)
	has(t, m.control("task_wait", `"taskId":"`+id+`"`), `"text":"told `)
}

// TASK-31: task_wait asks a stateless client without the extension.
func TestWaitAsks(t *testing.T) {
	s, root, open := hastyServer(t)
	m := connect(t, s, "anna", true)
	// Before the hand-over, the client is asked as ever.
	s.Project.Tasks.After = time.Hour
	m.send("1", "tools/call", `"name":"ask","arguments":{"":"anna"}`)
	r := m.result("1")
	has(t, string(r), `"resultType":"input_required"`, "question of one", `"requestState":"`)
	m.send("2", "tools/call", `"name":"ask","arguments":{"":"anna"},"requestState":"`+rawjson.TextOf(r, "requestState")+
		`","inputResponses":{"input-1":{"action":"decline"}}`)
	r = m.result("2")
	has(t, string(r), `"resultType":"input_required"`, "question of two")
	// After it, the answers go to task_wait.
	s.Project.Tasks.After = 300 * time.Millisecond
	makeGate(t, root, "bert")
	m.send("3", "tools/call", `"name":"late","arguments":{"":"bert"}`)
	awaitFile(t, filepath.Join(root, "started.bert"))
	id := m.handle("3")
	open("bert")
	got := m.control("task_wait", `"taskId":"`+id+`"`)
	has(t, got, `"resultType":"input_required"`, `"inputRequests":{"input-1":`)
	if strings.Contains(got, "requestState") {
		t.Error(got)
	}
	m.capabilities = "{}"
	has(t, m.control("task_wait", `"taskId":"`+id+`"`), `"status":"input_required"`, "waits for an answer of the user")
	m.capabilities = `{"elicitation":{}}`
	m.request(fresh(), "tools/call", `"name":"task_wait","arguments":{"taskId":"`+id+`"},`+
		`"inputResponses":{"input-1":{"action":"decline"}}`)
	has(t, m.control("task_wait", `"taskId":"`+id+`"`), `"text":"told `)
}

// TASK-40: nobody but the client that made the call knows its task, in either protocol.
func TestTaskIsolation(t *testing.T) {
	s, root, _ := hastyServer(t)
	anna := as(t, s, reader, true)
	anna.capabilities = knowsTasks
	anna.begin(root, "1", "work", "anna")
	id := anna.task("1")
	bert := as(t, s, writer, true)
	bert.capabilities = knowsTasks
	session := as(t, s, reader, false)
	for _, other := range []*memory{bert, session} {
		for _, tool := range []string{"task_status", "task_wait", "task_cancel"} {
			has(t, other.control(tool, `"taskId":"`+id+`"`), "There is no such task")
		}
	}
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		has(t, bert.request(fresh(), method, `"taskId":"`+id+`","inputResponses":{}`), "Task not found")
	}
	has(t, string(anna.poll(id, "working")), id)
}

// TASK-41: an id names the replica that has the task, to the caller that the task belongs to.
func TestTaskReplicas(t *testing.T) {
	key := [][]byte{make([]byte, seal.KeySize)}
	a, root, _ := lastingServer(t, nil, Replica{Keys: key, URL: "http://a:1"})
	b, _ := newReplica(t, lasting, nil, Replica{Keys: key, URL: "http://b:1"})
	anna := as(t, a, reader, true)
	anna.capabilities = knowsTasks
	anna.begin(root, "1", "work", "anna")
	id := anna.task("1")
	params := json.RawMessage(`{"taskId":"` + id + `"}`)
	for _, tc := range []struct {
		at     *Server
		caller *auth.Identity
		method string
		params json.RawMessage
		owner  string
	}{
		{b, reader, "tasks/get", params, "http://a:1"},
		{b, reader, "tasks/update", params, "http://a:1"},
		{b, reader, "tasks/cancel", params, "http://a:1"},
		{b, reader, "tools/call", json.RawMessage(`{"name":"task_wait","arguments":` + string(params) + `}`), "http://a:1"},
		{b, reader, "tools/call", json.RawMessage(`{"name":"work","arguments":` + string(params) + `}`), ""},
		{b, writer, "tasks/get", params, ""},
		{a, reader, "tasks/get", params, ""},
	} {
		read := mcp.ReadParams(tc.params)
		owner, gone := tc.at.Owner(tc.caller, tc.method, &read)
		if owner.URL != tc.owner || owner.URL != "" && gone != tasks.ErrUnknown {
			t.Errorf("%s: the owner is %+v, %v", tc.method, owner, gone)
		}
	}
	other := as(t, b, reader, true)
	other.capabilities = knowsTasks
	has(t, other.request("2", "tasks/get", `"taskId":"`+id+`"`), "Task not found")
}

// TASK-50: the number of calls is limited for each client and for all.
func TestTaskNumbers(t *testing.T) {
	s, root, _ := lastingServer(t, project.Env{"MCPBASH_MAX_TASKS": "3", "MCPBASH_MAX_CLIENT_TASKS": "2"}, Replica{})
	anna, bert := tasking(t, s), tasking(t, s)
	anna.begin(root, "1", "work", "a1")
	anna.begin(root, "2", "work", "a2")
	has(t, anna.request("3", "tools/call", `"name":"work"`), `"error":{"code":-32603`, "MCPBASH_MAX_CLIENT_TASKS")
	has(t, anna.request("4", "tools/call", `"name":"plain"`), "plain")
	bert.begin(root, "1", "work", "b1")
	has(t, bert.request("2", "tools/call", `"name":"work"`), `"error":{"code":-32603`, "MCPBASH_MAX_TASKS")
	anna.request("5", "tasks/cancel", `"taskId":"`+anna.task("1")+`"`)
	anna.begin(root, "6", "work", "a3")
	anna.task("6")
}

// TASK-51: answers leave after their time, and when they use too much memory.
func TestKeptAnswers(t *testing.T) {
	s, root, open := lastingServer(t, project.Env{"MCPBASH_MAX_TASK_BYTES": "60000"}, Replica{})
	anna, bert := tasking(t, s), tasking(t, s)
	finish := func(m *memory, id, who string) (taskID string) {
		m.begin(root, id, "large", who)
		taskID = m.task(id)
		open(who)
		m.poll(taskID, "completed")
		return taskID
	}
	first := finish(bert, "1", "b1")
	second := finish(anna, "1", "a1")
	third := finish(anna, "2", "a2") // 3 of 24 kB
	has(t, anna.request(fresh(), "tasks/get", `"taskId":"`+second+`"`), "Task not found")
	anna.poll(third, "completed")
	bert.poll(first, "completed")
	s.Project.Tasks.TTL = time.Millisecond
	fourth := ""
	bert.begin(root, "3", "work", "b2")
	fourth = bert.task("3")
	open("b2")
	for late := time.Now().Add(patience); !strings.Contains(bert.request(fresh(), "tasks/get", `"taskId":"`+fourth+`"`),
		"Task not found"); {
		if time.Now().After(late) {
			t.Fatal("the answer does not leave")
		}
		<-time.After(pause)
	}
}

// TASK-61, TASK-62: tasks end with their client. Calls before the hand-over go on.
func TestEndOfTasks(t *testing.T) {
	s, root, open := lastingServer(t, nil, Replica{})
	m := tasking(t, s)
	m.begin(root, "1", "work", "anna")
	m.task("1")
	plain := connect(t, s, "bert", true)
	plain.begin(root, "1", "patient", "bert")
	if !m.client.Busy() || !plain.client.Busy() {
		t.Error("a client with a call is not busy")
	}
	m.client.CloseInput()
	plain.client.CloseInput()
	m.client.Wait()
	open("bert")
	has(t, string(plain.result("1")), "answer for bert")
	plain.client.Wait()
	if m.client.Busy() || plain.client.Busy() {
		t.Error("a client without calls is busy")
	}
}

// TASK-26: tools of the project with the names of the server's own take their place.
func TestTakenNames(t *testing.T) {
	s, root := newServer(t, map[string]string{
		"server.d/server.meta.json": "{}",
		"tools/task_status/tool.sh": "echo mine",
		"tools/work/tool.meta.json": lasting["tools/work/tool.meta.json"],
		"tools/work/tool.sh":        lasting["tools/work/tool.sh"],
	}, nil)
	m := connect(t, s, "anna", true)
	if got := strings.Join(m.toolNames(), " "); got != "task_status work" {
		t.Errorf("tools/list has %s", got)
	}
	has(t, m.control("task_status", ""), "mine")
	has(t, m.control("task_wait", `"taskId":"x"`), "Tool 'task_wait' not found")
	m.capabilities = knowsTasks
	m.begin(root, "1", "work", "anna")
	m.task("1")
}

// TASK-50, TASK-52, TASK-60: many tasks at once, most of which are cancelled. Nothing of them is left.
func TestManyTasks(t *testing.T) {
	const n = 200
	s, root, open := lastingServer(t, project.Env{
		"MCPBASH_MAX_TASKS": "200", "MCPBASH_MAX_CLIENT_TASKS": "200", "MCPBASH_MAX_TASK_BYTES": "100000",
	}, Replica{})
	m := tasking(t, s)
	running := min(n, s.tasks.Running)
	for i := range running {
		who := fmt.Sprint("x", i)
		makeGate(t, root, who)
		m.send(fmt.Sprint(i), "tools/call", `"name":"work","arguments":{"":"`+who+`"}`)
	}
	ids := make([]string, running)
	for i := range ids {
		ids[i] = m.task(fmt.Sprint(i))
	}
	for i, id := range ids {
		if i%4 == 0 {
			awaitFile(t, filepath.Join(root, fmt.Sprint("started.x", i)))
			open(fmt.Sprint("x", i))
			m.poll(id, "completed")
		} else {
			m.request(fresh(), "tasks/cancel", `"taskId":"`+id+`"`)
		}
	}
	m.client.tasks.Wait()
	m.client.suspended.Wait()
	if got := s.tasks.Kept(); got > 100000 {
		t.Errorf("%d bytes are kept", got)
	}
	m.close()
	if m.client.tasks.Busy() || s.tasks.Kept() != 0 {
		t.Error("something is left")
	}
}
