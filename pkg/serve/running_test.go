//go:build unix

package serve

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mcp-bash/pkg/project"
)

// queued is how many requests can wait for a slot (P-1801).
const queued = 1024

// waitToGo is a line of a tool that waits for release.
var waitToGo = waitAt("$PWD/go")

// A waiter is a tool that creates a file when it runs, and waits for release.
var waiter = `touch "$PWD/started.$MCPBASH_WORKER_KEY"; ` + waitToGo + `printf %s "$MCP_TOOL_ARGS_JSON"`

func (c *testClient) release() { openGate(c.t, filepath.Join(c.root, "go")) }

func (c *testClient) started() int {
	list, _ := filepath.Glob(filepath.Join(c.root, "started.*"))
	return len(list)
}

// P-1800 to P-1802, P-1200: slots, the queue, and what is answered
// while everything is busy.
func TestConcurrency(t *testing.T) {
	c := ready(t, map[string]string{"tools/wait/tool.sh": waiter}, project.Env{"MCPBASH_MAX_CONCURRENT_REQUESTS": "3"})
	const calls = 200
	for i := range calls {
		c.send(message(strconv.Itoa(i), "tools/call", sprintf(`{"name":"wait","arguments":{"i":%d}}`, i)))
	}
	eventually(t, "3 running tools", func() bool { return c.started() == 3 })
	if got := c.request("ping", ""); got != `"result":{}` {
		t.Error(got)
	}
	if got := c.request("logging/setLevel", `{"level":"error"}`); got != `"result":{}` {
		t.Error(got)
	}
	c.send(message("", "notifications/cancelled", `{"requestId":100}`)) // waits for a slot
	c.request("ping", "")
	if n := c.started(); n != 3 {
		t.Errorf("%d tools run", n)
	}
	c.release()
	seen := map[string]bool{}
	for range calls - 1 {
		line := c.next()
		id, rest, _ := strings.Cut(strings.TrimPrefix(line, `{"jsonrpc":"2.0","id":`), ",")
		if !strings.Contains(rest, `"text":"{\"i\":`+id+`}"`) || seen[id] {
			t.Fatalf("%s", line)
		}
		seen[id] = true
	}
	if seen["100"] || c.end() != 0 {
		t.Error("a cancelled request was answered")
	}
	c.quiet()
	if n := c.started(); n != calls-1 {
		t.Errorf("%d tools have run", n)
	}
}

// P-1200: the server reads on while a request runs, also if the client writes all requests before
// it reads an answer.
func TestReadingGoesOn(t *testing.T) {
	var output sync.RWMutex // locked: the client takes nothing
	c := startWith(t, files(t, map[string]string{"prompts/p.txt": "text"}), nil, nil, func() error {
		output.RLock()
		defer output.RUnlock()
		return nil
	})
	c.handshake("2025-11-25", "{}")
	const requests = 100
	for range 3 {
		output.Lock()
		for i := range requests { // the pipe holds nothing: each is taken by the server
			c.send(message(strconv.Itoa(i), "prompts/get", `{"name":"p"}`))
		}
		output.Unlock()
		seen := map[string]bool{}
		for range requests {
			line := c.next()
			id, _, _ := strings.Cut(strings.TrimPrefix(line, `{"jsonrpc":"2.0","id":`), ",")
			if !strings.Contains(line, `"text":"text"`) || seen[id] {
				t.Fatal(line)
			}
			seen[id] = true
		}
	}
	if c.end() != 0 {
		t.Error("the server failed")
	}
	c.quiet()
}

// P-1801.
func TestQueueLimit(t *testing.T) {
	c := ready(t, map[string]string{"tools/wait/tool.sh": waiter}, project.Env{"MCPBASH_MAX_CONCURRENT_REQUESTS": "1"})
	for i := range 1 + queued + 2 {
		c.send(message(strconv.Itoa(i), "tools/call", `{"name":"wait"}`))
	}
	for i := range 2 {
		c.expect(sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":-32603,"message":"Too many queued requests"}}`,
			1+queued+i))
	}
	for i := 1; i <= queued; i++ {
		c.send(message("", "notifications/cancelled", sprintf(`{"requestId":%d}`, i)))
	}
	c.release()
	c.response("0")
	c.end()
	c.quiet()
}

// P-1601, P-1603: a cancelled tool that ignores SIGTERM delays no other call. A busy machine may start the other
// call too late to meet the first, hence several attempts.
func TestCancelledToolDelaysNobody(t *testing.T) {
	c := ready(t, map[string]string{
		"tools/stubborn/tool.sh": `trap 'touch "$PWD/term"' TERM; echo $$ >"$PWD/main"; while :; do sleep 0.05; done`,
		"tools/quick/tool.sh":    `kill -0 "$(cat "$PWD/main")" 2>/dev/null && echo meanwhile || echo afterwards`,
	}, nil)
	for range 20 {
		os.Remove(c.root + "/main")
		os.Remove(c.root + "/term")
		c.send(message(`"first"`, "tools/call", `{"name":"stubborn"}`))
		eventually(t, "the tool", func() bool { return exists(c.root + "/main") })
		c.send(message("", "notifications/cancelled", `{"requestId":"first"}`))
		eventually(t, "SIGTERM", func() bool { return exists(c.root + "/term") })
		got := text(t, c.call("quick", "{}"))
		eventually(t, "the end of the tool", func() bool { return !alive(c.root + "/main") })
		if strings.TrimSpace(got) == "meanwhile" {
			c.end()
			c.quiet()
			return
		}
	}
	t.Error("no call ran before the cancelled tool had ended")
}

// protocol section 16.
func TestCancelling(t *testing.T) {
	c := ready(t, map[string]string{
		"tools/stubborn/tool.sh": `trap 'touch "$PWD/term"; [ -e "$MCP_CANCEL_FILE" ] && touch "$PWD/marked"' TERM
printf '{"method":"notifications/progress","params":{"progress":1}}\n' >>"$MCP_PROGRESS_STREAM"
( trap '' TERM; echo $BASHPID >"$PWD/child"; while :; do sleep 0.1; done ) &
echo $$ >"$PWD/main"; while :; do sleep 0.05; done`,
	}, nil)
	c.send(message(`"c"`, "tools/call", `{"name":"stubborn","_meta":{"progressToken":"p"}}`))
	c.await("progress", func(line string) bool { return strings.Contains(line, "notifications/progress") })
	eventually(t, "the tool", func() bool { return exists(c.root+"/main") && exists(c.root+"/child") })
	for _, other := range []string{`{"requestId":"x"}`, `{}`, `{"requestId":null}`, `{"requestId":false}`,
		`{"requestId":["c"]}`, `["c"]`, `null`} {
		c.send(message("", "notifications/cancelled", other)) // P-1600: ignored
	}
	c.send(message("", "notifications/cancelled", `{"id":"c","reason":"enough"}`)) // the alias
	if got := c.request("ping", ""); got != `"result":{}` {
		t.Error(got)
	}
	eventually(t, "SIGTERM with the marker there", func() bool {
		return exists(c.root+"/term") &&
			exists(c.root+"/marked")
	})
	eventually(t, "the death of both", func() bool { return !alive(c.root+"/main") && !alive(c.root+"/child") })
	c.end()
	c.quiet() // P-1602: nothing more
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// alive reports whether the process whose number a file holds runs.
func alive(file string) bool {
	text, err := os.ReadFile(file)
	pid, convErr := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || convErr != nil || syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// protocol sections 14 and 15, P-1307: live, in order, before the response, with
// the request's own token.
func TestProgressAndLogs(t *testing.T) {
	p := func(s string) string {
		return `printf '%s\n' '{"jsonrpc":"2.0","method":"notifications/progress","params":` + s +
			`}' >>"$MCP_PROGRESS_STREAM"` + "\n"
	}
	l := func(s string) string {
		return `printf '%s\n' '{"jsonrpc":"2.0","method":"notifications/message","params":` + s +
			`}' >>"$MCP_LOG_STREAM"` + "\n"
	}
	body := p(`{"progressToken":7,"progress":10,"total":null,"message":"one"}`) + p(`{"progress":10}`) +
		p(`{"progress":9}`) + p(`{"progress":50,"total":100}`) +
		p(`{"progress":50,"message":"still at it"}`) + p(`{"progress":50,"message":"still at it"}`) +
		p(`{"progress":50,"message":"nearly"}`) +
		l(`{"level":"debug","data":"hidden"}`) + l(`{"level":"Info","logger":"lg","data":"msg1"}`) +
		waitToGo + `printf x`
	for _, live := range []string{"true", "false"} {
		c := ready(t, map[string]string{"tools/t/tool.sh": body}, project.Env{"MCPBASH_ENABLE_LIVE_PROGRESS": live})
		c.send(message(`"plog"`, "tools/call", `{"name":"t","_meta":{"progressToken":"7"}}`))
		if live == "false" {
			c.release()
		}
		c.expect(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"7","progress":10,
		"message":"one"}}`)
		c.expect(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"7","progress":50,
		"total":100}}`)
		c.expect(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"7",
		"progress":50.00000000000001,"message":"still at it"}}`)
		c.expect(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"7",
		"progress":50.000000000000014,"message":"nearly"}}`)
		c.expect(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"lg","data":"msg1"}}`)
		c.release()
		c.expect(`{"jsonrpc":"2.0","id":"plog","result":{"name":"t","content":[{"type":"text","text":"x"}],"isError":false,
		"_meta":{"exitCode":0}}}`)
	}
	c := ready(t, map[string]string{"tools/t/tool.sh": body}, nil) // no token: no progress
	c.release()
	c.send(message("1", "tools/call", `{"name":"t"}`))
	c.expect(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"lg","data":"msg1"}}`)
	c.response("1")
}

// protocol section 15, T-104.
func TestThrottling(t *testing.T) {
	body := `for i in 1 2 3 4 5; do printf '{"method":"notifications/progress","params":{"progress":%s}}\n' $i >>"$MCP_PROGRESS_STREAM"
printf '{"method":"notifications/message","params":{"level":"debug","data":0}}\n{"method":"notifications/message","params":{"level":"error","data":%s}}\n' $i >>"$MCP_LOG_STREAM"; done`
	for _, tc := range []struct {
		env            project.Env
		progress, logs int
	}{
		{project.Env{"MCPBASH_MAX_PROGRESS_PER_MIN": "1"}, 1, 1},
		{project.Env{"MCPBASH_MAX_PROGRESS_PER_MIN": "2", "MCPBASH_MAX_LOGS_PER_MIN": "0"}, 2, 5},
		{nil, 5, 5},
	} {
		c := ready(t, map[string]string{"tools/t/tool.sh": body}, tc.env)
		c.send(message("1", "tools/call", `{"name":"t","_meta":{"progressToken":1}}`))
		progress, logs := 0, 0
		c.await("the response", func(line string) bool {
			progress += strings.Count(line, "notifications/progress")
			logs += strings.Count(line, "notifications/message")
			return strings.Contains(line, `"id":1,`)
		})
		if progress != tc.progress || logs != tc.logs {
			t.Errorf("%v: %d progress, %d logs", tc.env, progress, logs)
		}
	}
}

// P-1302: levels change for scripts already running.
func TestSetLevel(t *testing.T) {
	c := ready(t, map[string]string{"tools/t/tool.sh": `touch "$PWD/started.x"; ` + waitToGo + `
printf '{"method":"notifications/message","params":{"level":"warning","data":1}}\n{"method":"notifications/message","params":{"level":"critical","data":2}}\n' >>"$MCP_LOG_STREAM"`}, nil)
	c.send(message("1", "tools/call", `{"name":"t"}`))
	eventually(t, "the tool", func() bool { return c.started() == 1 })
	for params, want := range map[string]string{
		`{"level":"CRITICAL"}`: `"result":{}`,
		`{"level":"warn"}`:     `"error":{"code":-32602,"message":"Invalid log level"}`,
		`{"level":"true"}`:     `"error":{"code":-32602,"message":"Invalid log level"}`,
		`{"level":5}`:          `"error":{"code":-32602,"message":"Invalid log level"}`,
	} {
		if got := c.request("logging/setLevel", params); got != want {
			t.Errorf("%s: %s", params, got)
		}
	}
	c.release()
	c.expect(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"critical","data":2}}`)
	c.response("1")
	for _, params := range []string{``, `{}`, `{"level":null}`, `{"level":""}`} {
		c.request("logging/setLevel", `{"level":"emergency"}`)
		c.request("logging/setLevel", params) // info
		c.send(`{"id":77,"result":{}}`)
		c.await("a warning", func(line string) bool { return strings.Contains(line, "unknown request id=77") })
	}
}

// P-1700 to P-1704.
func TestTimeouts(t *testing.T) {
	c := ready(t, map[string]string{"tools/slow/tool.sh": `sleep 60`}, nil)
	got := c.request("tools/call", `{"name":"slow","timeoutSecs":"1"}`)
	if want := `"result":{"content":[{"type":"text","text":"Tool timed out after 1s"},{"type":"text","text":` +
		`"tools/slow/tool.sh did not end within its time. If it needs longer, raise \"timeoutSecs\" in its tool.meta.json, ` +
		`or report progress with mcp_progress and set \"progressExtendsTimeout\": true. If not, look for a loop that never ` +
		`ends; MCPBASH_TRACE_TOOLS=true shows the last command"}],"isError":true,` +
		`"structuredContent":{"success":false,"error":{"type":"timeout","message":"Tool timed out after 1s",` +
		`"timeoutSecs":1,"reason":"fixed","exitCode":124}},"_meta":{"exitCode":124}}`; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	// A method without a time limit.
	hook := map[string]string{"server.d/register.sh": "#!/bin/bash\nsleep 60\n"}
	root := files(t, hook)
	os.Chmod(root+"/server.d/register.sh", 0o755)
	c = start(t, root, project.Env{"MCPBASH_ALLOW_PROJECT_HOOKS": "true", "MCPBASH_REGISTER_TIMEOUT": "0"})
	c.handshake("2024-11-05", "{}")
	if got := c.request("tools/list",
		`{"timeoutSecs":1}`); got != `"error":{"code":-32603,"message":"Request timed out","data":{"timeoutSecs":1}}` {
		t.Error(got)
	}
}

// protocol section 22.
func TestElicitation(t *testing.T) {
	ask := awaiting + `ask() { printf '%s' "$1" >"$MCP_ELICIT_REQUEST_FILE.tmp"; mv "$MCP_ELICIT_REQUEST_FILE.tmp" "$MCP_ELICIT_REQUEST_FILE"
await "$MCP_ELICIT_RESPONSE_FILE"; cat "$MCP_ELICIT_RESPONSE_FILE"; rm "$MCP_ELICIT_RESPONSE_FILE"; }
`
	list := map[string]string{
		"tools/form/tool.sh": ask +
			`ask '{"message":"Sure?","schema":{"type":"object","properties":{"confirmed":{"type":"boolean"}},` +
			`"required":["confirmed"]},"mode":"form"}'`,
		"tools/url/tool.sh": ask + `ask '{"message":"Authorize","url":"https://example.com/a","mode":"url"}'`,
		"tools/sup/tool.sh": `printf %s "$MCP_ELICIT_SUPPORTED ${MCP_ELICIT_REQUEST_FILE-none}"`,
		"tools/twice/tool.sh": `printf '{"message":"one"}' >"$MCP_ELICIT_REQUEST_FILE.t"; mv "$MCP_ELICIT_REQUEST_FILE.t" "$MCP_ELICIT_REQUEST_FILE"
while [ -e "$MCP_ELICIT_REQUEST_FILE" ]; do sleep 0.02; done
` + ask + `ask '{"message":"two"}'`,
		"tools/leave/tool.sh": `printf '{"message":"one"}' >"$MCP_ELICIT_REQUEST_FILE.t"; mv "$MCP_ELICIT_REQUEST_FILE.t" "$MCP_ELICIT_REQUEST_FILE"
while [ -e "$MCP_ELICIT_REQUEST_FILE" ]; do sleep 0.02; done`,
		"tools/patient/tool.sh":        ask + `ask '{"message":"slow"}'`,
		"tools/patient/tool.meta.json": `{"name":"patient","timeoutSecs":3}`,
		"tools/batch/tool.sh": awaiting + `printf '{"s":{"method":"sampling/createMessage","params":{"messages":[],` +
			`"maxTokens":5}},"e":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object",` +
			`"properties":{}}}},"r":{"method":"roots/list"}}' >"$MCP_INPUT_DIR/t"; mv "$MCP_INPUT_DIR/t" ` +
			`"$MCP_INPUT_DIR/batch.request"; await "$MCP_INPUT_DIR/batch.response"; cat ` +
			`"$MCP_INPUT_DIR/batch.response"`,
	}
	c := start(t, files(t, list), nil)
	c.handshake("2025-11-25", `{"elicitation":{"form":{},"url":{}},"sampling":{}}`)
	c.send(message(`"elic"`, "tools/call", `{"name":"form"}`))
	c.expect(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"mode":"form","message":"Sure?",
		"requestedSchema":{"type":"object","properties":{"confirmed":{"type":"boolean"}},"required":["confirmed"]}}}`)
	c.send(`{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"confirmed":true}}}`)
	c.expect(`{"jsonrpc":"2.0","id":"elic","result":{"name":"form","content":[{"type":"text",
		"text":"{\"action\":\"accept\",\"content\":{\"confirmed\":true}}"}],"isError":false,
		"structuredContent":{"action":"accept","content":{"confirmed":true}},"_meta":{"exitCode":0}}}`)

	c.send(message(`"u"`, "tools/call", `{"name":"url"}`))
	line := c.next()
	if !strings.HasPrefix(line,
		`{"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{"mode":"url","message":"Authorize",`+
			`"url":"https://example.com/a","elicitationId":"`) || len(line) != len(`{"jsonrpc":"2.0","id":2,`+
		`"method":"elicitation/create","params":{"mode":"url","message":"Authorize","url":"https://example.com/a",`+
		`"elicitationId":"`)+36+3 {
		t.Error(line)
	}
	c.send(`{"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"no browser"}}`)
	c.expect(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"mcp.elicitation",
		"data":"Client error: code=-1 message=no browser"}}`)
	if got := text(t, c.response(`"u"`)); got != `{"action":"error","content":null}` {
		t.Error(got)
	}

	// P-2204: the second question closes the first, whose late answer is dropped.
	c.send(message(`"w"`, "tools/call", `{"name":"twice"}`))
	c.await("the first question", func(l string) bool {
		return strings.Contains(l,
			`"id":3,"method":"elicitation/create"`)
	})
	c.expect(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3,"reason":"no longer needed"}}`)
	c.await("the second question", func(l string) bool {
		return strings.Contains(l,
			`"id":4,"method":"elicitation/create"`)
	})
	c.send(`{"jsonrpc":"2.0","id":3,"result":{"action":"accept"}}`)
	c.expect(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"mcp.rpc",
		"data":"Received response for unknown request id=3"}}`)
	c.send(`{"jsonrpc":"2.0","id":4,"result":{"action":"decline"}}`)
	if got := text(t, c.response(`"w"`)); got != `{"action":"decline","content":null}` {
		t.Error(got)
	}

	// T-125: the tool ends with its question open.
	c.send(message(`"l"`, "tools/call", `{"name":"leave"}`))
	c.await("the question", func(l string) bool { return strings.Contains(l, `"id":5,"method":"elicitation/create"`) })
	c.expect(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5,"reason":"no longer needed"}}`)
	c.response(`"l"`)

	// P-1604: the call is cancelled.
	c.send(message(`"x"`, "tools/call", `{"name":"form"}`))
	c.await("the question", func(l string) bool { return strings.Contains(l, `"id":6,"method":"elicitation/create"`) })
	c.send(message("", "notifications/cancelled", `{"requestId":"x"}`))
	c.expect(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":6,"reason":"no longer needed"}}`)

	// T-128: several at once.
	c.send(message(`"b"`, "tools/call", `{"name":"batch"}`))
	c.expect(`{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":5}}`)
	c.expect(`{"jsonrpc":"2.0","id":8,"method":"elicitation/create","params":{"mode":"form","message":"m",
		"requestedSchema":{"type":"object","properties":{}}}}`)
	c.send(`{"jsonrpc":"2.0","id":8,"result":{"action":"cancel"}}`)
	c.send(`{"jsonrpc":"2.0","id":7,"result":{"role":"assistant"}}`)
	if got := text(t, c.response(`"b"`)); got != `{"s":{"result":{"role":"assistant"}},"e":{"result":{"action":"cancel"}`+
		`},"r":{"error":{"code":-32601,"message":"Not supported by the client"}}}` {
		t.Error(got)
	}

	// T-126: the clock does not run while a question is open.
	c.send(message(`"p"`, "tools/call", `{"name":"patient"}`))
	c.await("the question", func(l string) bool { return strings.Contains(l, `"id":9,"method":"elicitation/create"`) })
	<-time.After(3300 * time.Millisecond) // longer than the tool may take
	c.send(`{"jsonrpc":"2.0","id":9,"result":{"action":"accept","content":{}}}`)
	if got := text(t, c.response(`"p"`)); got != `{"action":"accept","content":{}}` {
		t.Error(got)
	}

	// P-903: when input ends, a question is cancelled.
	c.send(message(`"e"`, "tools/call", `{"name":"form"}`))
	c.await("the question", func(l string) bool { return strings.Contains(l, `"id":10,"method":"elicitation/create"`) })
	c.in.Close()
	if got := text(t, c.response(`"e"`)); got != `{"action":"cancel","content":null}` {
		t.Error(got)
	}

	c = start(t, files(t, list), nil)
	c.handshake("2025-06-18", `{"elicitation":{}}`)
	// an old client knows forms only
	if got := text(t, c.call("url", "{}")); got != `{"action":"decline","content":null}` {
		t.Error(got)
	}
	c = start(t, files(t, list), nil)
	c.handshake("2025-11-25", `{}`)
	if got := text(t, c.call("sup", "{}")); got != "0 none" {
		t.Error(got)
	}
}

// protocol section 21.
func TestRoots(t *testing.T) {
	show := map[string]string{"tools/roots/tool.sh": `printf '%s %s' "$MCP_ROOTS_COUNT" "$MCP_ROOTS_PATHS"`}
	dir := files(t, map[string]string{"a/x": "", "b/x": ""})
	answer := func(id int, paths ...string) string {
		for i, p := range paths {
			paths[i] = `{"uri":"file://` + dir + "/" + p + `"}`
		}
		return sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"roots":[%s]}}`, id, strings.Join(paths, ","))
	}
	c := start(t, files(t, show), project.Env{"MCPBASH_ROOTS_DEBOUNCE_INTERVAL": "0"})
	c.handshake("2025-11-25", `{"roots":{}}`)
	c.expect(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`)
	c.send(message(`"early"`, "tools/call", `{"name":"roots"}`)) // P-2106: waits for the answer
	c.send(answer(1, "a", "b", "none"))
	c.expect(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"mcp.roots",
		"data":"path does not exist"}}`)
	if got := text(t, c.response(`"early"`)); got != "2 "+dir+"/a\n"+dir+"/b" {
		t.Error(got)
	}
	// P-2105: changes while a request is open are served by one more.
	c.send(message("", "notifications/roots/list_changed", ""))
	c.expect(`{"jsonrpc":"2.0","id":2,"method":"roots/list"}`)
	c.send(message("", "notifications/roots/list_changed", ""))
	c.send(message("", "notifications/roots/list_changed", ""))
	if got := text(t, c.call("roots", "{}")); got != "2 "+dir+"/a\n"+dir+"/b" { // later refreshes delay nothing
		t.Error(got)
	}
	c.send(answer(2, "a"))
	c.expect(`{"jsonrpc":"2.0","id":3,"method":"roots/list"}`)
	c.send(`{"jsonrpc":"2.0","id":3,"result":{}}`) // malformed: keep
	c.await("a warning", func(l string) bool { return strings.Contains(l, "malformed answer") })
	if got := text(t, c.call("roots", "{}")); got != "1 "+dir+"/a" {
		t.Error(got)
	}
	c.send(message("", "notifications/roots/list_changed", ""))
	c.expect(`{"jsonrpc":"2.0","id":4,"method":"roots/list"}`)
	c.send(`{"jsonrpc":"2.0","id":4,"error":{"code":-32603,"message":"sorry"}}`)
	c.expect(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"mcp.roots",
		"data":"roots/list failed: code=-32603 message=sorry"}}`)
	c.send(message("", "notifications/roots/list_changed", ""))
	c.expect(`{"jsonrpc":"2.0","id":5,"method":"roots/list"}`)
	c.send(answer(5)) // an empty list is an answer
	eventually(t, "no roots", func() bool { return text(t, c.call("roots", "{}")) == "0 " })

	// P-2104: no answer in time; a late one is dropped.
	c = start(t, files(t, show), project.Env{"MCPBASH_ROOTS_REQUEST_TIMEOUT": "1", "MCPBASH_ROOTS": dir + "/b"})
	c.handshake("2025-11-25", `{"roots":{}}`)
	c.expect(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`)
	if got := text(t, c.call("roots", "{}")); got != "1 "+dir+"/b" {
		t.Error(got)
	}
	c.send(answer(1, "a"))
	c.expect(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"mcp.rpc",
		"data":"Received response for unknown request id=1"}}`)

	// No roots declared: not asked, and a change is nothing.
	c = ready(t, show, nil)
	c.send(message("", "notifications/roots/list_changed", ""))
	if got := text(t, c.call("roots", "{}")); got != "1 "+c.root {
		t.Error(got)
	}
}

// protocol section 19.
func TestListChanged(t *testing.T) {
	expect := func(c *testClient, lists ...string) {
		t.Helper()
		for _, list := range lists {
			select {
			case got := <-c.changed:
				if got != `{"jsonrpc":"2.0","method":"notifications/`+list+`/list_changed","params":{}}` {
					t.Error(list, got)
				}
			case <-time.After(patience):
				t.Fatal("no notification")
			}
		}
		select {
		case got := <-c.changed:
			t.Errorf("one too many: %s", got)
		default:
		}
	}
	always := project.Env{"MCP_TOOLS_TTL": "0", "MCP_RESOURCES_TTL": "0", "MCP_RESOURCES_TEMPLATES_TTL": "0",
		"MCP_PROMPTS_TTL": "0", "MCP_UI_TTL": "0"}
	c := start(t, files(t, hello), always)
	c.handshake("2025-11-25", "{}")
	c.request("tools/list", "")
	c.request("tools/list", "")
	expect(c, "tools", "resources", "prompts") // a project without cache has changed
	os.Mkdir(c.root+"/tools/more", 0o755)
	os.WriteFile(c.root+"/tools/more/tool.sh", []byte("#!/bin/bash\n"), 0o755)
	expect(c, "tools") // P-1903: also when no message comes
	if got := c.request("tools/list", ""); !strings.Contains(got, `"name":"more"`) {
		t.Error(got)
	}
	// A page alone is a change of the resources, and comes before the prompts.
	os.MkdirAll(c.root+"/ui/card", 0o755)
	os.WriteFile(c.root+"/ui/card/index.html", nil, 0o644)
	os.WriteFile(c.root+"/prompts/p.txt", []byte("p"), 0o644)
	expect(c, "resources", "prompts")
	os.WriteFile(c.root+"/resources/t.meta.json", []byte(`{"name":"t","uriTemplate":"x://{y}"}`), 0o644)
	expect(c, "resources")
	c.end()
	again := start(t, c.root, always) // unchanged, and cached
	again.handshake("2025-06-18", "{}")
	again.request("tools/list", "")
	again.request("tools/list", "")
	again.end()
	expect(again)
	for revision, env := range map[string]project.Env{"2025-03-26": nil, "2024-11-05": nil,
		"2025-11-25": {"MCPBASH_FORCE_MINIMAL": "true"}} {
		c := start(t, files(t, hello), env)
		c.handshake(revision, "{}")
		c.request("tools/list", "")
		c.request("ping", "")
		c.end()
		expect(c)
	}
}

// protocol section 23.
func TestRemoteToken(t *testing.T) {
	secret := strings.Repeat("s3cr3t-", 6)
	c := start(t, files(t, map[string]string{"tools/meta/tool.sh": `printf '%s|%s' "$MCP_TOOL_META_JSON" "$(env | grep ` +
		`-c REMOTE_TOKEN)"`}),
		project.Env{"MCPBASH_REMOTE_TOKEN": secret, "MCPBASH_REMOTE_TOKEN_MAX_FAILURES_PER_MIN": "3"})
	const refused = `"error":{"code":-32602,"message":"Remote token missing or invalid"}`
	for _, params := range []string{``, `{"_meta":{"mcpbash/remoteToken":"Bearer ` + secret + `"}}`,
		`{"_meta":{"mcpbash/remoteToken":"wrong","remoteToken":"` + secret + `"}}`} {
		if got := c.request("nonsense", params); got != refused { // P-2303: before everything else
			t.Errorf("%s: %s", params, got)
		}
	}
	if got := c.request("ping",
		`{"_meta":{"mcpbash/remoteToken":7}}`); got != `"error":{"code":-32602,"message":"Remote token missing or invalid `+
		`(throttled)"}` {
		t.Error(got)
	}
	c.awaitStderr("mcp.auth: Remote token rejected", 3)
	if got := c.stderr.String(); strings.Count(got,
		"mcp-bash: warning: mcp.auth: Remote token rejected method=nonsense\n") != 3 || strings.Contains(got, secret) {
		t.Error(got)
	}
	// the fallback key
	with := func(more string) string { return `{` + more + `"_meta":{"remoteToken":"` + secret + `","keep":1}}` }
	c.request("initialize", with(""))
	c.send(message("", "notifications/initialized", "")) // ignored: no token
	if got := c.request("tools/list", with("")); got != `"error":{"code":-32000,"message":"Server not initialized"}` {
		t.Error(got)
	}
	c.send(message("", "notifications/initialized", with("")))
	if got := text(t, c.request("tools/call", with(`"name":"meta",`))); got != `{"keep":1}|0` {
		t.Error(got)
	}
	own := start(t, files(t, nil), project.Env{"MCPBASH_REMOTE_TOKEN": secret, "MCPBASH_REMOTE_TOKEN_KEY": "my.key",
		"MCPBASH_REMOTE_TOKEN_FALLBACK_KEY": ""})
	if got := own.request("ping", `{"_meta":{"remoteToken":"`+secret+`"}}`); got != refused {
		t.Error(got)
	}
	if got := own.request("ping", `{"_meta":{"my.key":"`+secret+`"}}`); got != `"result":{}` {
		t.Error(got)
	}
}

// P-900 to P-903.
func TestEnding(t *testing.T) {
	list := map[string]string{"tools/wait/tool.sh": waiter}
	// At the end of input, the server finishes all accepted requests, including those in the queue.
	c := start(t, files(t, list), project.Env{"MCPBASH_MAX_CONCURRENT_REQUESTS": "2"})
	c.handshake("2025-11-25", "{}")
	for i := range 5 {
		c.send(message(strconv.Itoa(i), "tools/call", `{"name":"wait"}`))
	}
	c.in.Close()
	c.release()
	for i := range 5 {
		c.response(strconv.Itoa(i))
	}
	if code := c.exit(); code != 0 {
		t.Error(code)
	}

	// A cancellation before the end of input changes nothing for other calls.
	c = ready(t, list, nil)
	for _, id := range []string{`"gone"`, `"stays"`} {
		c.send(message(id, "tools/call", `{"name":"wait"}`))
	}
	eventually(t, "both tools", func() bool { return c.started() == 2 })
	c.send(message("", "notifications/cancelled", `{"requestId":"gone"}`))
	c.in.Close()
	c.release()
	c.response(`"stays"`)
	if code := c.exit(); code != 0 {
		t.Error(code)
	}
	c.quiet()

	// shutdown, then exit: requests in flight get their time.
	c = ready(t, list, nil)
	c.send(message("1", "tools/call", `{"name":"wait"}`))
	eventually(t, "the tool", func() bool { return c.started() == 1 })
	c.request("shutdown", "")
	if got := c.request("exit", ""); got != `"result":{}` {
		t.Error(got)
	}
	c.release()
	c.response("1")
	if code := c.exit(); code != 0 {
		t.Error(code)
	}

	// exit with a tool that does not end, and the watchdog without exit.
	for name, last := range map[string]string{"exit": message("", "exit", ""), "watchdog": ""} {
		c = ready(t, map[string]string{"tools/stuck/tool.sh": `trap '' TERM; echo $$ >"$PWD/main"; while :; do sleep 0.1; ` +
			`done`}, project.Env{"MCPBASH_SHUTDOWN_TIMEOUT": "1"})
		c.send(message("1", "tools/call", `{"name":"stuck"}`))
		eventually(t, "the tool", func() bool { return exists(c.root + "/main") })
		c.request("shutdown", "")
		if last != "" {
			c.send(last)
		}
		if code := c.exit(); code != 0 {
			t.Errorf("%s: %d", name, code)
		}
		if alive(c.root + "/main") {
			t.Errorf("%s: the tool survives", name)
		}
		if said := strings.Contains(c.stderr.String(),
			"mcp-bash: shutdown timeout (1s) elapsed; terminating.\n"); said != (name == "watchdog") {
			t.Errorf("%s: %s", name, c.stderr)
		}
		if left, _ := os.ReadDir(c.tmp); len(left) > 1 {
			t.Errorf("%s left %v", name, left)
		}
	}
}

// stuck is a tool that ignores SIGTERM and has a child that does so too.
const stuck = `trap '' TERM; ( trap '' TERM; echo $BASHPID >"$PWD/child.$MCPBASH_WORKER_KEY"; while :; do sleep 1; done ) &
echo $$ >"$PWD/main.$MCPBASH_WORKER_KEY"; while :; do sleep 1; done`

// P-901 to P-906, P-1603, P-1704: no process and no file remains after the end of a call or of the
// server, for any reason.
func TestNothingSurvives(t *testing.T) {
	const tools = 64
	for _, tc := range []struct {
		name string
		end  func(c *testClient)
		code int
		say  string
	}{
		{"SIGTERM", func(c *testClient) { c.signals <- syscall.SIGTERM }, 143, ""},
		{"SIGINT", func(c *testClient) { c.signals <- syscall.SIGINT }, 130, ""},
		{"SIGHUP", func(c *testClient) { c.signals <- syscall.SIGHUP }, 129, ""},
		{"two signals", func(c *testClient) { c.signals <- syscall.SIGTERM; c.signals <- syscall.SIGTERM }, 143, ""},
		{"closed output", func(c *testClient) { c.hangup() }, 1, "mcp-bash: stdout closed; exiting\n"},
		{"watchdog", func(c *testClient) { c.request("shutdown", "") }, 0,
			"mcp-bash: shutdown timeout (1s) elapsed; terminating.\n"},
		{"cancel", func(c *testClient) {
			for i := range tools {
				c.send(message("", "notifications/cancelled", sprintf(`{"requestId":%d}`, i)))
			}
			c.in.Close()
		}, 0, ""},
		{"time out", func(c *testClient) {
			for i := range tools {
				c.response(strconv.Itoa(i))
			}
			c.in.Close()
		}, 0, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			env := project.Env{"MCPBASH_MAX_CONCURRENT_REQUESTS": strconv.Itoa(tools), "MCPBASH_SHUTDOWN_TIMEOUT": "1"}
			started := 2 * tools
			if tc.name == "time out" { // on a slow machine, the time of some tools is up before they have started
				env["MCPBASH_DEFAULT_TOOL_TIMEOUT"], env["MCPBASH_LOG_LEVEL"] = "3", "error"
				started = 2
			}
			c := ready(t, map[string]string{"tools/stuck/tool.sh": stuck}, env)
			for i := range tools {
				c.send(message(strconv.Itoa(i), "tools/call", `{"name":"stuck"}`))
			}
			pids := func() []string {
				list, _ := filepath.Glob(c.root + "/*.[A-Z]*")
				return list
			}
			eventually(t, "the tools", func() bool { return len(pids()) >= started })
			tc.end(c)
			if code := c.exit(); code != tc.code {
				t.Errorf("exit code %d", code)
			}
			for _, pid := range pids() {
				if alive(pid) {
					t.Errorf("%s survives", baseName(pid))
				}
			}
			if left, _ := os.ReadDir(c.tmp); len(left) > 1 { // the unpacked installation tree stays
				t.Errorf("left behind: %v", left)
			}
			if tc.say != "" && !strings.Contains(c.stderr.String(), tc.say) {
				t.Error(c.stderr)
			}
			c.quiet()
		})
	}
}

// P-1000.
func TestIdle(t *testing.T) {
	c := start(t, files(t, hello), project.Env{"MCPBASH_IDLE_TIMEOUT": "1"})
	if code := c.exit(); code != 0 ||
		c.stderr.String() != "mcp-bash: idle timeout after 1s with no client activity; exiting\n" {
		t.Error(code, c.stderr)
	}
	c.quiet()
	c = ready(t, map[string]string{"tools/wait/tool.sh": waiter}, project.Env{"MCPBASH_IDLE_TIMEOUT": "1",
		"MCPBASH_QUIET": "true"})
	c.send(message("1", "tools/call", `{"name":"wait"}`))
	eventually(t, "the tool", func() bool { return c.started() == 1 })
	<-time.After(1500 * time.Millisecond) // longer than the limit: a server with a running tool is not idle
	c.release()
	c.response("1")
	c.expect(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"mcp.core",
		"data":"Server idle timeout (1s) - no client activity"}}`)
	if code := c.exit(); code != 0 || !strings.Contains(c.stderr.String(), "mcp-bash: idle timeout after 1s") {
		t.Error(code, c.stderr)
	}
}

// P-1103, P-906: an answer that could not be written ends the server, also while it drains.
func TestDamagedOutput(t *testing.T) {
	for _, ended := range []bool{false, true} {
		c := startWith(t, files(t, hello), nil, nil, func() error { return errors.New("disk full") })
		c.send(message("1", "ping", ""))
		if ended {
			c.in.Close()
		}
		if code := c.exit(); code != 1 {
			t.Errorf("exit code %d", code)
		}
		if got, want := c.stderr.String(), "mcp-bash: write standard output: disk full; exiting\n"; got != want {
			t.Errorf("%q", got)
		}
	}
}

// protocol section 25, CLI-1301, CLI-1302.
func TestPayloadLog(t *testing.T) {
	secret := strings.Repeat("T0", 20)
	for _, ndjson := range []bool{false, true} {
		tmp := t.TempDir()
		c := startWith(t, files(t, hello), project.Env{"MCPBASH_REMOTE_TOKEN": secret, "TMPDIR": tmp},
			func(o *Options) { o.Debug, o.NDJSON = true, ndjson }, nil)
		c.request("ping", `{"_meta":{"mcpbash/remoteToken":"`+secret+`"},"note":"x `+secret+` y","list":["bearer abc",`+
			`"a.b.c"],"api_key":{"deep":1},"progressToken":"seen","page_token":"5","accessToken":"no1","x-api-key":"no2",`+
			`"env":{"A":"no3"},"args":["--userPassword","no4"],"command":"curl -H 'X-Auth-Token: no5' https://u:no6@h/",`+
			`"text":"{\"clientSecret\":\"no7\"}"}`)
		c.send("{bad")
		c.next()
		c.end()
		dirs, _ := filepath.Glob(tmp + "/mcpbash.debug.*")
		if len(dirs) != 1 || !strings.Contains(c.stderr.String(),
			"mcp-bash debug: logging to "+dirs[0]+"/payload.debug.log\n") ||
			!strings.Contains(c.stderr.String(), "mcp-bash: state preserved at "+dirs[0]+"\n") {
			t.Fatal(dirs, c.stderr)
		}
		log, _ := os.ReadFile(dirs[0] + "/payload.debug.log")
		info, _ := os.Stat(dirs[0] + "/payload.debug.log")
		if info.Mode().Perm() != 0o600 || strings.Contains(string(log), secret) || regexp.MustCompile("no[1-7]").Match(log) {
			t.Errorf("%v %s", info.Mode(), log)
		}
		want := []string{`|request|-|recv|{"jsonrpc":"2.0","id":"r1","method":"ping",` +
			`"params":{"_meta":{"mcpbash/remoteToken":"**redacted**"},"note":"x **redacted** y","list":["Bearer **redacted**",` +
			`"**redacted**"],"api_key":"**redacted**","progressToken":"seen","page_token":"**redacted**",` +
			`"accessToken":"**redacted**","x-api-key":"**redacted**","env":{"A":"**redacted**"},` +
			`"args":["--userPassword","**redacted**"],` +
			`"command":"curl -H 'X-Auth-Token: **redacted**' https://**redacted**@h/",` +
			`"text":"{\"clientSecret\":\"**redacted**\"}"}}`,
			`|rpc|-|ok|{"jsonrpc":"2.0","id":"r1","result":{}}`, `|request|-|recv|[payload hash=`,
			`|rpc|-|error|{"jsonrpc":"2.0","error":`}
		if ndjson {
			want = []string{`"category":"request","key":"-","status":"recv","payload":{"jsonrpc":"2.0","id":"r1",`,
				`"category":"rpc","key":"-","status":"ok","payload":{"jsonrpc":"2.0","id":"r1","result":{}}}`,
				`"payload":"[payload hash=`}
		}
		for _, w := range want {
			if !strings.Contains(string(log), w) {
				t.Errorf("%s\nis not in\n%s", w, log)
			}
		}
	}
}

// P-303.
func TestCISnapshot(t *testing.T) {
	tmp := t.TempDir()
	c := start(t, files(t, hello), project.Env{"MCPBASH_CI_MODE": "true", "RUNNER_TEMP": tmp})
	c.request("ping", "")
	c.end()
	found, _ := filepath.Glob(tmp + "/mcpbash.logs.*/env-snapshot.json")
	if len(found) != 1 {
		t.Fatal(found)
	}
	snapshot, _ := os.ReadFile(found[0])
	for _, name := range []string{"bashVersion", "os", "cwd", "pathCount", "pathFirst", "pathLast", "pathBytes",
		"envBytes", "jsonTool", "jsonToolBin"} {
		if !strings.Contains(string(snapshot), `"`+name+`":`) {
			t.Errorf("%s is not in %s", name, snapshot)
		}
	}
	if strings.Contains(string(snapshot), `"bashVersion":""`) {
		t.Errorf("%s", snapshot)
	}
}
