package sdk_test

import (
	"os"
	"path/filepath"
	"testing"
)

// batchServer is the server of these tests. It replaces the function with which the SDK waits without a FIFO.
const batchServer = `
mkfifo() { return 1; }
sleep() {
	[[ -e $MCP_INPUT_DIR/batch.request ]] || return 0
	mv "$MCP_INPUT_DIR/batch.request" seen
	printf '%s\n' "$answers" >answers.tmp
	mv answers.tmp "$MCP_INPUT_DIR/batch.response"
}
`

// ask runs a script that asks the client, and returns the last question.
func ask(t *testing.T, w way, script string, env ...string) question {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "input"), 0o700); err != nil {
		t.Fatal(err)
	}
	x := tool{way: w, dir: dir, script: batchServer + script, env: append([]string{"MCP_INPUT_DIR=" + dir + "/input"},
		env...)}
	q := question{outcome: x.run(t)}
	if text, err := os.ReadFile(filepath.Join(dir, "seen")); err == nil {
		q.request = string(text)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "input/*")); len(left) > 0 {
		t.Errorf("%s: left behind: %v", script, left)
	}
	return q
}

// SDK-148, M-57, M-80, T-128.
func TestAskTheClient(t *testing.T) {
	t.Parallel()
	const (
		two      = `mcp_input_request s sampling/createMessage '{ "messages": [] }'; mcp_input_request r roots/list; `
		twoAsked = `{"s":{"method":"sampling/createMessage","params":{"messages":[]}},"r":{"method":"roots/list",` +
			`"params":{}}}` + "\n"
		sampled = `answers='{"sample":{"result":{"role":"assistant","model":"m","content":{"type":"text","text":"é"}}}}'; `
		message = `{"role":"assistant","model":"m","content":{"type":"text","text":"é"}}`
	)
	sample := func(key, params string) string {
		return `{"` + key + `":{"method":"sampling/createMessage","params":` + params + `}}` + "\n"
	}
	failed := func(out string) outcome { return outcome{out: out, rc: 1} }
	refused := func(message string) outcome { return outcome{err: message + "\n", rc: 2} }
	for _, c := range []struct {
		clause, script string
		want           question
	}{
		{"M-57", `answers='{"s":{"result":{"z":1,"a":2}},"r":{"result":{"roots":[]}}}'; ` + two +
			`x=$(mcp_input_wait); echo "$x"`,
			question{out(`{"s":{"z":1,"a":2},"r":{"roots":[]}}` + "\n"), twoAsked}},
		{"M-57", `answers='{"s":{"error":{"code":-32601,"message":"Not supported by the client"}},` +
			`"r":{"result":{"roots":[]}}}'; ` + two + `mcp_input_wait`,
			question{failed(`{"s":{"error":{"code":-32601,"message":"Not supported by the client"}},"r":{"roots":[]}}`),
				twoAsked}},
		{"M-57", `answers='{"a":{"result":{}},"b":{"result":{}}}'; mcp_input_request a roots/list; mcp_input_request b ` +
			`roots/list; mcp_input_request a elicitation/create '{"message":"m"}'; mcp_input_wait`,
			question{out(`{"a":{},"b":{}}`),
				`{"a":{"method":"elicitation/create","params":{"message":"m"}},"b":{"method":"roots/list","params":{}}}` + "\n"}},
		{"M-57", `answers='{"a":{"result":{}}}'; x=$(mcp_input_request a roots/list); mcp_input_wait; x=$(mcp_input_wait) |` +
			`| echo " rc $?"`,
			question{outcome{out: `{"a":{}} rc 2` + "\n",
				err: "mcp_input_wait: nothing is queued (mcp_input_request does that)\n"},
				`{"a":{"method":"roots/list","params":{}}}` + "\n"}},
		{"M-57", `mcp_input_wait`, question{refused("mcp_input_wait: nothing is queued (mcp_input_request does that)"),
			""}},
		{"SDK-148", `mcp_input_request 'a b' roots/list`,
			question{refused("mcp_input_request: KEY must be 1 to 64 of A-Z a-z 0-9 _ . -"), ""}},
		{"SDK-148", `mcp_input_request '' roots/list`,
			question{refused("mcp_input_request: KEY must be 1 to 64 of A-Z a-z 0-9 _ . -"), ""}},
		{"SDK-148", `mcp_input_request $(printf '%065d' 1) roots/list`,
			question{refused("mcp_input_request: KEY must be 1 to 64 of A-Z a-z 0-9 _ . -"), ""}},
		{"SDK-148", `mcp_input_request a tools/call`,
			question{refused("mcp_input_request: METHOD must be elicitation/create, sampling/createMessage or roots/list"), ""}},
		{"SDK-148", `mcp_input_request a roots/list '[1]'`,
			question{refused("mcp_input_request: PARAMS must be a JSON object"), ""}},
		{"SDK-148", `mcp_input_request a roots/list '{"x":'`,
			question{refused("mcp_input_request: PARAMS must be a JSON object"), ""}},
		{"SDK-148", `mcp_input_request a tools/call || :; mcp_input_wait || echo "rc $?"`,
			question{outcome{out: "rc 2\n",
				err: "mcp_input_request: METHOD must be elicitation/create, sampling/createMessage or roots/list\n" +
					"mcp_input_wait: nothing is queued (mcp_input_request does that)\n"}, ""}},
		{"T-128", `sleep() { touch cancel; MCP_TOOL_CANCELLATION_FILE=cancel; }; mcp_input_request a roots/list; ` +
			`mcp_input_wait`,
			question{failed(`{"a":{"error":{"code":-32001,"message":"Cancelled"}}}`), ""}},
		{"T-128", `answers='no JSON'; mcp_input_request a roots/list; mcp_input_wait`,
			question{failed(`{"a":{"error":{"code":-32603,"message":"The answer cannot be read"}}}`),
				`{"a":{"method":"roots/list","params":{}}}` + "\n"}},
		{"M-80", sampled + `mcp_sample 'Say "hi"'`, question{out(message),
			sample("sample", `{"messages":[{"role":"user","content":{"type":"text","text":"Say \"hi\""}}],"maxTokens":1024}`)}},
		{"M-80", sampled + `mcp_into x mcp_sample x; echo "$x"`, question{out(message + "\n"),
			sample("sample", `{"messages":[{"role":"user","content":{"type":"text","text":"x"}}],"maxTokens":1024}`)}},
		{"M-80", `answers='{"k.1":{"result":{"model":"m"}}}'; mcp_sample --key k.1 --system 'Be kind' --max-tokens 9 ` +
			`--timeout 1.5 -- --text`,
			question{out(`{"model":"m"}`), sample("k.1",
				`{"messages":[{"role":"user","content":{"type":"text","text":"--text"}}],`+
					`"maxTokens":9,"systemPrompt":"Be kind"}`)}},
		{"M-80", sampled + `mcp_sample --params '{"messages": [], "maxTokens": 1}'`,
			question{out(message), sample("sample", `{"messages":[],"maxTokens":1}`)}},
		{"M-80", `answers='{"sample":{"error":{"code":-1,"message":"declined"}}}'; mcp_sample x`,
			question{failed(`{"error":{"code":-1,"message":"declined"}}`),
				sample("sample", `{"messages":[{"role":"user","content":{"type":"text","text":"x"}}],"maxTokens":1024}`)}},
		{"M-80", `answers='{}'; mcp_sample x`, question{failed(`{"error":{"code":-32603,"message":"No answer"}}`),
			sample("sample", `{"messages":[{"role":"user","content":{"type":"text","text":"x"}}],"maxTokens":1024}`)}},
		{"M-80", `sleep() { :; }; mcp_sample --timeout 2 x`,
			question{failed(`{"error":{"code":-32001,"message":"Timed out"}}`), ""}},
		{"M-80", `mcp_sample`, question{refused("mcp_sample: give either a TEXT or --params JSON"), ""}},
		{"M-80", `mcp_sample x --params '{}'`, question{refused("mcp_sample: give either a TEXT or --params JSON"),
			""}},
		{"M-80", `mcp_sample x y`, question{refused("mcp_sample: one TEXT, in quotes"), ""}},
		{"M-80", `mcp_sample --bogus`,
			question{refused("mcp_sample: Unknown option: --bogus (a TEXT that begins with -- goes after --)"), ""}},
		{"M-80", `mcp_sample x --system`, question{refused("mcp_sample: --system requires a value"), ""}},
		{"M-80", `mcp_sample x --max-tokens 1.5`,
			question{refused("mcp_sample: --max-tokens must be a positive integer"), ""}},
		{"M-80", `mcp_sample x --timeout soon`, question{refused("mcp_sample: --timeout must be a number of seconds"),
			""}},
		{"M-80", `mcp_sample --params '[]'`, question{refused("mcp_sample: --params must be a JSON object"), ""}},
		{"SDK-148", `answers='{"roots":{"result":{"roots":[{"uri":"file:///p"}]}}}'; mcp_roots_request`,
			question{out(`{"roots":[{"uri":"file:///p"}]}`), `{"roots":{"method":"roots/list","params":{}}}` + "\n"}},
		{"SDK-148", `answers='{"k":{"result":{"roots":[]}}}'; mcp_roots_request --key k --timeout 3`,
			question{out(`{"roots":[]}`), `{"k":{"method":"roots/list","params":{}}}` + "\n"}},
		{"SDK-148", `mcp_roots_request --key`,
			question{refused("mcp_roots_request: Unexpected argument, or one without its value: --key"), ""}},
	} {
		for _, w := range ways {
			got, want := ask(t, w, c.script), c.want
			if w == byJSONTool {
				got.out, want.out = sorted(got.out), sorted(want.out)
			}
			if got != want {
				t.Errorf("%s %s: %s\n got %+v\nwant %+v", c.clause, w, c.script, got, want)
			}
		}
	}
}

// SDK-148: outside a server.
func TestAskNobody(t *testing.T) {
	t.Parallel()
	const not = `{"error":{"code":-32601,"message":"Not supported by the client"}}`
	check(t, ways, []row{
		{"SDK-148", tool{script: `mcp_sample x || echo " $?"; mcp_roots_request || echo " $?"`},
			out(not + " 1\n" + not + " 1\n"), ""},
		{"SDK-148", tool{script: `mcp_input_request b roots/list; mcp_input_request a roots/list '{}'; x=$(mcp_input_wait) ` +
			`|| echo "$x $?"`}, out(`{"b":` + not + `,"a":` + not + `} 1` + "\n"), ""},
		{"SDK-148", tool{env: []string{"MCP_INPUT_DIR=" + absentDir}, script: `mcp_sample x`}, outcome{out: not, rc: 1},
			""},
	})
}
