//go:build unix

package serve

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
)

// awaiting defines await for scripts: it waits for a file with answers at the FIFO of T-129.
const awaiting = `mkfifo -m 600 "$MCP_INPUT_DIR/wake"; exec 7<>"$MCP_INPUT_DIR/wake"
await() { until [ -e "$1" ]; do read -r _ <&7; done; }
`

// asking defines ask for scripts: it asks the questions in its argument, as the SDK does, and prints
// the answers.
const asking = awaiting + `ask() {
  printf '%s' "$1" >"$MCP_INPUT_DIR/tmp" && mv "$MCP_INPUT_DIR/tmp" "$MCP_INPUT_DIR/batch.request"
  await "$MCP_INPUT_DIR/batch.response"
  cat "$MCP_INPUT_DIR/batch.response"; rm "$MCP_INPUT_DIR/batch.response"
}
`

// canAll declares everything that a client can be asked.
const canAll = `{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`

// round is what a client is asked in an interim answer.
type round struct {
	ResultType    string
	InputRequests map[string]struct {
		Method string
		Params json.RawMessage
	}
	RequestState string
}

// asked reads an interim answer.
func asked(t *testing.T, response string) round {
	t.Helper()
	var r struct{ Result round }
	if err := json.Unmarshal([]byte("{"+response+"}"), &r); err != nil || r.Result.ResultType != "input_required" ||
		r.Result.RequestState == "" {
		t.Fatalf("no interim answer: %v %s", err, response)
	}
	return r.Result
}

// callFor calls a tool as a client with these capabilities; more are members of params.
func (c *testClient) callFor(capabilities, tool string, more ...string) string {
	c.t.Helper()
	return c.request("tools/call", `{"name":"`+tool+`",`+strings.Join(more, "")+meta(capabilities)+`}`)
}

// retry carries a call on. responses is a JSON object.
func (c *testClient) retry(r round, tool, responses string) string {
	c.t.Helper()
	return c.callFor(canAll, tool, `"requestState":"`+r.RequestState+`","inputResponses":`+responses+`,`)
}

// M-50, M-51, M-57: a call is answered with what its script asks, and the same script goes on
// with what the next request brings.
func TestSuspendedCall(t *testing.T) {
	c := start(t, files(t, map[string]string{
		"tools/ask/tool.sh": asking + `started=$$
ask '{"sure":{"method":"elicitation/create","params":{"message":"Sure?","requestedSchema":{"type":"object",` +
			`"properties":{"many":{"type":"array","items":{"oneOf":[{"const":"a","title":"A"}]}}}}}},` +
			`"roots":{"method":"roots/list"},"joke":{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":5}}}'
ask '{"again":{"method":"roots/list"}}'
[ $started = $$ ] && echo same`,
	}), nil)
	defer c.finish()
	first := asked(t, c.callFor(canAll, "ask"))
	if len(first.InputRequests) != 3 || string(first.InputRequests["roots"].Params) != "{}" ||
		string(first.InputRequests["sure"].Params) != `{"mode":"form","message":"Sure?","requestedSchema":{"type":"object",`+
			`"properties":{"many":{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]}}}}}` {
		t.Errorf("%+v", first)
	}
	second := asked(t, c.retry(first, "ask", `{"sure":{"action":"accept","content":{"many":["a"]}},"roots":{"roots":[]},`+
		`"joke":{"role":"assistant","model":"m","content":{"type":"text","text":"j"}},"unknown":7}`))
	if len(second.InputRequests) != 1 || second.InputRequests["again"].Method != "roots/list" {
		t.Errorf("%+v", second)
	}
	got := text(t, c.retry(second, "ask", `{"again":{"roots":[{"uri":"file:///w"}]}}`))
	want := `{"sure":{"result":{"action":"accept","content":{"many":["a"]}}},"roots":{"result":{"roots":[]}},` +
		`"joke":{"result":{"role":"assistant","model":"m","content":{"type":"text","text":"j"}}}}` +
		`{"again":{"result":{"roots":[{"uri":"file:///w"}]}}}same` + "\n"
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// askOnce is a tool that asks for roots once and prints what it gets.
var askOnce = map[string]string{
	"tools/ask/tool.sh": asking + `ask '{"r":{"method":"roots/list"}}'`,
}

// M-52: a state that does not belong to the call is refused with the reason, and has no effect.
func TestForgedStates(t *testing.T) {
	list := map[string]string{"tools/other/tool.sh": askOnce["tools/ask/tool.sh"],
		"tools/ask/tool.sh": askOnce["tools/ask/tool.sh"]}
	c := start(t, files(t, list), nil)
	defer c.finish()
	first := asked(t, c.callFor(canAll, "ask", `"arguments":{"b":1,"a":2},`))
	refused := func(reason, tool, state, arguments string) {
		t.Helper()
		got := c.callFor(canAll, tool, `"arguments":`+arguments+`,"requestState":`+state+`,"inputResponses":{},`)
		if got != `"error":{"code":-32602,"message":"Invalid requestState","data":"`+reason+`"}` {
			t.Errorf("%s: %s", reason, got)
		}
	}
	const forged = "it is not one of this server's, or was changed on the way"
	sealed := first.RequestState
	for i := range len(sealed) {
		changed := []byte(sealed)
		changed[i] ^= 1
		refused(forged, "ask", `"`+string(changed)+`"`, `{"a":2,"b":1}`)
	}
	for _, state := range []string{`""`, `7`, `{}`, `"` + sealed[1:] + `"`, `"` + sealed + `A"`,
		`"` + strings.Repeat("A", len(sealed)) + `"`, `"` + strings.Repeat("A", 1<<16) + `"`} {
		refused(forged, "ask", state, `{"a":2,"b":1}`)
	}
	const foreign = "it belongs to another method, name or arguments"
	refused(foreign, "other", `"`+sealed+`"`, `{"a":2,"b":1}`)
	refused(foreign, "ask", `"`+sealed+`"`, `{"a":2,"b":2}`)
	other := start(t, files(t, list), nil)
	defer other.finish()
	another := asked(t, other.callFor(canAll, "ask", `"arguments":{"a":2,"b":1},`))
	refused(forged, "ask", `"`+another.RequestState+`"`, `{"a":2,"b":1}`)
	if got := c.callFor(canAll, "ask", `"inputResponses":[],`); got !=
		`"error":{"code":-32602,"message":"Invalid params","data":"inputResponses must be an object"}` {
		t.Error(got)
	}
	// The order of arguments does not matter, and the suspended script is unchanged.
	got := text(t, c.callFor(canAll, "ask", `"arguments":{"a":2,"b":1},"requestState":"`+sealed+`","inputResponses":{`+
		`"r":{"roots":[]}},`))
	if got != `{"r":{"result":{"roots":[]}}}` {
		t.Error(got)
	}
	refused("it was used already, or its call has ended", "ask", `"`+sealed+`"`, `{"a":2,"b":1}`)
}

// M-53, M-54: a missing response is asked for again, and an invalid one once, in nine rounds at
// most.
func TestPartialResponses(t *testing.T) {
	c := start(t, files(t, map[string]string{
		"tools/two/tool.sh": asking + `ask '{"a":{"method":"roots/list"},"f":{"method":"elicitation/create","params":{` +
			`"message":"m","requestedSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}}}'`,
		"tools/ask/tool.sh": askOnce["tools/ask/tool.sh"],
	}), nil)
	defer c.finish()
	r := asked(t, c.callFor(canAll, "two"))
	r2 := asked(t, c.retry(r, "two", `{"a":{"roots":[]},"b":{"roots":[]}}`))
	if len(r2.InputRequests) != 1 || r2.InputRequests["f"].Method != "elicitation/create" ||
		r2.RequestState == r.RequestState {
		t.Errorf("%+v", r2)
	}
	r3 := asked(t, c.retry(r2, "two", `{"f":{"action":"accept","content":{"n":"seven"}}}`))
	got := text(t, c.retry(r3, "two", `{"f":{"action":"accept","content":{"n":7.5}}}`))
	if got != `{"a":{"result":{"roots":[]}},"f":{"result":{"action":"error"}}}` {
		t.Error(got)
	}
	// Answers in advance: a client that knows the questions needs no round.
	got = text(t, c.callFor(canAll, "two", `"inputResponses":{"a":{"roots":[]},"f":{"action":"accept",`+
		`"content":{"n":7}}},`))
	if got != `{"a":{"result":{"roots":[]}},"f":{"result":{"action":"accept","content":{"n":7}}}}` {
		t.Error(got)
	}
	r = asked(t, c.callFor(canAll, "ask"))
	for range 8 {
		r = asked(t, c.retry(r, "ask", `{"r":7}`))
	}
	if got := text(t, c.retry(r, "ask", `{}`)); got !=
		`{"r":{"error":{"code":-32603,"message":"Too many rounds of input"}}}` {
		t.Error(got)
	}
}

// M-56: nothing is asked that the request does not declare, and no form that clients refuse.
func TestWhatCannotBeAsked(t *testing.T) {
	form := func(fields string) string {
		return `{"f":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object",` +
			`"properties":` + fields + `}}}}`
	}
	tools := map[string]string{
		"tools/all/tool.sh": asking + `ask '{"a":{"method":"roots/list"},` +
			`"b":{"method":"sampling/createMessage","params":{"tools":[]}},` +
			`"c":{"method":"elicitation/create","params":{"mode":"url","url":"https://example.com","message":""}}}'`,
		"tools/ask/tool.sh": askOnce["tools/ask/tool.sh"],
	}
	bad := []string{`{"x":{}}`, `{"x":{"type":"object","properties":{}}}`, `{"x":{"type":["string","null"]}}`,
		`{"x":{"type":"array"}}`, `{"x":{"type":"array","items":{"type":"object"}}}`,
		`{"x":{"type":"string","format":"password"}}`, `{"x":{"type":"string","enum":[1]}}`,
		`{"x":{"type":"number","minimum":"1"}}`, `[]`, `{"x":7}`}
	for i, fields := range bad {
		tools[fmt.Sprintf("tools/bad%d/tool.sh", i)] = asking + "ask '" + form(fields) + "'"
	}
	c := start(t, files(t, tools), nil)
	defer c.finish()
	const unsupported = `"error":{"code":-32601,"message":"Not supported by the client"}`
	if got := text(t, c.callFor(`{}`, "all")); got !=
		`{"a":{`+unsupported+`},"b":{`+unsupported+`},"c":{`+unsupported+`}}` {
		t.Error(got)
	}
	r := asked(t, c.callFor(canAll, "all"))
	if len(r.InputRequests) != 2 || r.InputRequests["b"].Method != "" {
		t.Errorf("%+v", r)
	}
	// The retry declares less than the request before it did.
	r = asked(t, c.callFor(canAll, "ask"))
	got := text(t, c.callFor(`{}`, "ask", `"requestState":"`+r.RequestState+`","inputResponses":{},`))
	if got != `{"r":{`+unsupported+`}}` {
		t.Error(got)
	}
	for i, fields := range bad {
		got := text(t, c.callFor(canAll, fmt.Sprintf("bad%d", i)))
		if v := json.RawMessage(got); rawjson.TextOf(rawjson.Path(v, "f", "result"), "action") != "error" {
			t.Errorf("%s: %s", fields, got)
		}
	}
}

// M-53, M-70, M-71: progress and logs go to the request that the call serves at the time. Between two
// requests they wait for the next one.
func TestReportsOfSuspendedCalls(t *testing.T) {
	goOn := filepath.Join(files(t, nil), "go")
	c := start(t, files(t, map[string]string{
		"tools/ask/tool.sh": asking + `progress() {
  printf '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"x","progress":%d}}\n' "$1"
}
log() {
  printf '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"%s","data":"%s"}}\n' "$1" "$2"
}
progress 1 >>"$MCP_PROGRESS_STREAM"; log warning one >>"$MCP_LOG_STREAM"
` + waitAt(goOn) + `
ask '{"r":{"method":"roots/list"}}'
progress 2 >>"$MCP_PROGRESS_STREAM"; log info two >>"$MCP_LOG_STREAM"; log debug three >>"$MCP_LOG_STREAM"`,
	}), nil)
	defer c.finish()
	with := func(token, level string) string {
		return meta(canAll, `,"progressToken":`+token, `,"io.modelcontextprotocol/logLevel":"`+level+`"`)
	}
	c.send(message("1", "tools/call", `{"name":"ask",`+with("71", "error")+`}`))
	c.expect(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":71,"progress":1}}`)
	openGate(t, goOn)
	r := asked(t, c.response("1"))
	c.send(message("2", "tools/call", `{"name":"ask","requestState":"`+r.RequestState+`","inputResponses":{"r":{`+
		`"roots":[]}},`+with(`"72"`, "info")+`}`))
	want := map[string]bool{
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"72","progress":2}}`: true,
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"two"}}`:        true,
	}
	for range len(want) {
		line := c.next()
		if !want[line] {
			t.Errorf("unexpected: %s", line)
		}
		delete(want, line)
	}
	text(t, c.response("2"))
}

// endedCall is the answer to a retry of a call that was ended.
func endedCall(why string) string {
	return `"error":{"code":-32602,"message":"Invalid requestState","data":"its call was ended: ` + why + `"}`
}

// M-54, M-55, M-73: suspended calls end after their time, above the limit, with the input, and when
// a retry is cancelled. They leave no files.
func TestEndOfSuspendedCalls(t *testing.T) {
	held := files(t, nil)
	suspend := func(name string, env project.Env) (*testClient, func()) {
		ended, await := mark(t, held, name)
		c := start(t, files(t, map[string]string{
			"tools/ask/tool.sh": `trap 'echo >"` + ended + `"; exit' TERM
` + asking + `ask '{"r":{"method":"roots/list"}}'; [ "$MCP_TOOL_ARGS_JSON" != {} ] || { sleep 600 & wait; }`,
		}), env)
		return c, await
	}
	t.Run("time", func(t *testing.T) {
		c, ended := suspend("time", project.Env{"MCPBASH_PARKED_CALL_TTL": "1"})
		r := asked(t, c.callFor(canAll, "ask"))
		ended()
		got := c.retry(r, "ask", `{}`)
		if got != endedCall("its client did not come back in time (MCPBASH_PARKED_CALL_TTL)") {
			t.Error(got)
		}
		c.finish()
	})
	t.Run("number", func(t *testing.T) {
		c, ended := suspend("number", project.Env{"MCPBASH_MAX_PARKED_CALLS": "2"})
		var rounds [3]round
		for i := range rounds {
			rounds[i] = asked(t, c.callFor(canAll, "ask", fmt.Sprintf(`"arguments":{"n":%d},`, i)))
		}
		ended()
		for i, r := range rounds {
			got := c.callFor(canAll, "ask", fmt.Sprintf(`"arguments":{"n":%d},"requestState":"%s","inputResponses":{`+
				`"r":{"roots":[]}},`, i, r.RequestState))
			refused := endedCall("more calls waited for their client than MCPBASH_MAX_PARKED_CALLS allows")
			if (got == refused) != (i == 0) {
				t.Errorf("call %d: %s", i, got)
			}
		}
		c.finish()
	})
	t.Run("end of input", func(t *testing.T) {
		c, ended := suspend("input", nil)
		asked(t, c.callFor(canAll, "ask"))
		c.end()
		ended()
		c.quiet()
	})
	t.Run("cancelled retry", func(t *testing.T) {
		c, ended := suspend("retry", nil)
		r := asked(t, c.callFor(canAll, "ask"))
		c.send(message("8", "tools/call", `{"name":"ask","requestState":"`+r.RequestState+`","inputResponses":{"r":{`+
			`"roots":[]}},`+meta(canAll)+`}`))
		c.send(message("", "notifications/cancelled", `{"requestId":8}`))
		ended()
		c.finish()
	})
}

// M-55, P-903: retries that arrived before the end of the input resume their calls.
func TestRetriesBeforeTheEnd(t *testing.T) {
	c := start(t, files(t, map[string]string{"tools/ask/tool.sh": asking + `ask '{"r":{"method":"roots/list"}}'`}), nil)
	var retries [8]string
	for i := range retries {
		arguments := fmt.Sprintf(`"arguments":{"n":%d},`, i)
		r := asked(t, c.callFor(canAll, "ask", arguments))
		retries[i] = message(fmt.Sprint(100+i), "tools/call", `{"name":"ask",`+arguments+`"requestState":"`+r.RequestState+
			`","inputResponses":{"r":{"roots":[]}},`+meta(canAll)+`}`)
	}
	for _, retry := range retries {
		c.send(retry)
	}
	c.in.Close()
	for i := range retries {
		if got := c.response(fmt.Sprint(100 + i)); !strings.Contains(got, `"isError":false`) {
			t.Error(got)
		}
	}
	c.finish()
}

// M-50, M-55: a suspended script that dies, and one that ignores SIGTERM.
func TestScriptsOfSuspendedCalls(t *testing.T) {
	held := files(t, nil)
	die := filepath.Join(held, "die")
	died, hasDied := mark(t, held, "died")
	pid, _ := mark(t, held, "pid")
	list := map[string]string{
		"tools/dies/tool.sh": asking + `echo before; ask '{"r":{"method":"roots/list"}}' &
` + waitAt(die) + `kill $!; echo after >&2; echo >"` + died + `"; exit 3`,
		"tools/stays/tool.sh": `trap '' TERM; echo $$ >"` + pid + `.tmp"; mv "` + pid + `.tmp" "` + pid + `"
` + asking + `ask '{"r":{"method":"roots/list"}}'`,
	}
	c := start(t, files(t, list), nil)
	defer c.finish()
	short := start(t, files(t, list), project.Env{"MCPBASH_PARKED_CALL_TTL": "1"})
	defer short.finish()
	asked(t, short.callFor(canAll, "stays"))
	r := asked(t, c.callFor(canAll, "dies"))
	openGate(t, die)
	hasDied()
	got := c.retry(r, "dies", `{"r":{"roots":[]}}`)
	if !strings.Contains(got, `"exitCode":3`) || !strings.Contains(got, "before") {
		t.Error(got)
	}
	text, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	id, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the script that ignores SIGTERM to be killed", func() bool { return syscall.Kill(id, 0) != nil })
}

// M-55: the output, results and questions of all suspended calls count together, whether their
// scripts wait or have ended. After the end of a script only the answer is left. The oldest calls
// are ended first, and their clients learn the reason.
func TestMemoryOfSuspendedCalls(t *testing.T) {
	const heavy = "the calls that waited for their client took more memory than MCPBASH_MAX_PENDING_BYTES allows"
	held := files(t, nil)
	goOn := filepath.Join(held, "go")
	for name, script := range map[string]string{
		"waits": `printf '%60000s' x; ask '{"r":{"method":"roots/list"}}' >/dev/null`,
		"questions": `question=$(printf '%60000s' x); ask '{"r":{"method":"sampling/createMessage","params":{"messages":[],` +
			`"maxTokens":5,"systemPrompt":"'"$question"'"}}}' >/dev/null; printf '%60000s' x`,
		"ended": `ask '{"r":{"method":"roots/list"}}' >/dev/null & ` + waitAt(goOn) + `
kill $!; printf '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"bye"}}\n' >>"$MCP_LOG_STREAM"
printf '%60000s' x`,
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, files(t, map[string]string{"tools/ask/tool.sh": asking + script}),
				project.Env{"MCPBASH_MAX_PENDING_BYTES": "200000"})
			defer c.finish()
			var rounds [4]round
			for i := range rounds {
				rounds[i] = asked(t, c.callFor(canAll, "ask", fmt.Sprintf(`"arguments":{"n":%d},`, i)))
			}
			if name == "ended" {
				calls, err := filepath.Glob(filepath.Join(c.tmp, "mcpbash.state.*", "call.*"))
				if err != nil || len(calls) != len(rounds) {
					t.Fatalf("the files of the calls: %q, %v", calls, err)
				}
				openGate(t, goOn)
				eventually(t, "their files are given back", func() bool {
					return !slices.ContainsFunc(calls, func(path string) bool {
						_, err := os.Lstat(path)
						return err == nil
					})
				})
			}
			ended, answered, logged := 0, 0, 0
			for i, r := range rounds {
				response := `{"roots":[]}`
				if name == "questions" {
					response = `{"role":"assistant","model":"m","content":{"type":"text","text":"j"}}`
				}
				c.send(message("7", "tools/call", fmt.Sprintf(`{"name":"ask","arguments":{"n":%d},"requestState":"%s",`+
					`"inputResponses":{"r":%s},`, i, r.RequestState, response)+
					meta(canAll, `,"io.modelcontextprotocol/logLevel":"error"`)+`}`))
				got := c.next()
				if got == `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"bye"}}` {
					logged++
					got = c.next()
				}
				switch {
				case strings.Contains(got, endedCall(heavy)) && answered == 0:
					ended++
				case strings.Contains(got, strings.Repeat(" ", 59999)+`x"`):
					answered++
				default:
					t.Errorf("call %d: %.300s", i, got)
				}
			}
			if ended == 0 || answered == 0 || name == "ended" && logged != answered { // M-53, T-707: before the answer
				t.Errorf("%d were ended, %d answered, %d logged", ended, answered, logged)
			}
		})
	}
}
