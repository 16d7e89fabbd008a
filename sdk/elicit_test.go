package sdk_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/test/wire"
)

// A question is a question of a tool to its user.
type question struct {
	outcome
	request string
}

// answering is the server of these tests. It replaces the function with which the SDK waits without a FIFO.
const answering = `
sleep() {
	[[ -e $MCP_ELICIT_REQUEST_FILE ]] || return 0
	mv "$MCP_ELICIT_REQUEST_FILE" seen
	printf '%s\n' "$answer" >answer.tmp
	mv answer.tmp "$MCP_ELICIT_RESPONSE_FILE"
}
answer='{"action":"accept","content":{"confirmed":true}}'
`

func elicit(t *testing.T, script string, env ...string) question {
	t.Helper()
	dir := t.TempDir()
	x := tool{dir: dir, script: script, env: append([]string{"MCP_ELICIT_SUPPORTED=1", "MCP_ELICIT_REQUEST_FILE=" +
		dir + "/request", "MCP_ELICIT_RESPONSE_FILE=" + dir + "/response"}, env...)}
	q := question{outcome: x.run(t)}
	if text, err := os.ReadFile(filepath.Join(dir, "seen")); err == nil {
		q.request = string(text)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "re*")); len(left) > 0 {
		t.Errorf("%s: left behind: %v", script, left)
	}
	return q
}

func TestElicit(t *testing.T) {
	t.Parallel()
	const accept = `{"action":"accept","content":{"confirmed":true}}`
	field := func(message, schema string) string {
		return `{"message":` + message + `,"schema":` + schema + `,"mode":"form"}` + "\n"
	}
	object := func(name, schema string) string {
		return `{"type":"object","properties":{"` + name + `":` + schema + `},"required":["` + name + `"]}`
	}
	for _, c := range []struct {
		clause, call string
		want         question
	}{
		{"SDK-140", `mcp_elicit 'He"llo' '{"type":"object"}'`, question{out(accept),
			field(`"He\"llo"`, `{"type":"object"}`)}},
		{"SDK-140", `mcp_elicit m '{}' 0.3`, question{out(accept), field(`"m"`, `{}`)}},
		{"SDK-142", `mcp_elicit m '{}' 0.8`, question{out(accept), field(`"m"`, `{}`)}},
		{"SDK-142", `mcp_elicit m '{}' 99999999999999999999`, question{out(accept), field(`"m"`, `{}`)}},
		{"SDK-140", `mcp_elicit m`, question{out(accept), field(`"m"`, `{}`)}},
		{"SDK-140", `mcp_elicit --key confirm.1 m '{}'`, question{out(accept),
			`{"message":"m","schema":{},"mode":"form","key":"confirm.1"}` + "\n"}},
		{"SDK-140", `answer='{"action":"decline","content":null}'; mcp_elicit m '{}'; echo reached`,
			question{out(`{"action":"decline","content":null}` + "reached\n"), field(`"m"`, `{}`)}},
		{"SDK-142", `echo stale >response; mcp_elicit m '{}'`, question{out(accept), field(`"m"`, `{}`)}},
		{"SDK-142", `answer=$'{\n"action": "accept"\n}'; mcp_elicit m '{}'`,
			question{out("{\n\"action\": \"accept\"\n}"), field(`"m"`, `{}`)}},
		{"SDK-142", `set -C; mcp_elicit m '{}' many`, question{out(accept), field(`"m"`, `{}`)}},
		{"SDK-144", `mcp_elicit_url Auth 'https://x/y?a="1"'`, question{out(accept),
			`{"message":"Auth","url":"https://x/y?a=\"1\"","mode":"url"}` + "\n"}},
		{"SDK-144", `mcp_elicit_url --key k Auth https://x`, question{out(accept),
			`{"message":"Auth","url":"https://x","mode":"url","key":"k"}` + "\n"}},
		{"SDK-145", `mcp_elicit_string m`, question{out(accept), field(`"m"`, object("value", `{"type":"string"}`))}},
		{"SDK-145", `mcp_elicit_string m 'na"me'`, question{out(accept),
			field(`"m"`, object(`na\"me`, `{"type":"string"}`))}},
		{"SDK-145", `mcp_elicit_confirm m`, question{out(accept), field(`"m"`,
			object("confirmed", `{"type":"boolean"}`))}},
		{"SDK-145", `mcp_elicit_choice m A $'B\nC'`, question{out(accept),
			field(`"m"`, object("choice", `{"type":"string","enum":["A","B\nC"]}`))}},
		{"SDK-145", `mcp_elicit_titled_choice --key k m 'high:High: best' :t v: plain`, question{out(accept),
			strings.Replace(field(`"m"`, object("choice",
				`{"type":"string","oneOf":[{"const":"high","title":"High: best"},{"const":"","title":"t"},{"const":"v",`+
					`"title":""},{"const":"plain","title":"plain"}]}`)), `"form"}`, `"form","key":"k"}`, 1)}},
		{"SDK-145", `mcp_elicit_multi_choice m A B`, question{out(accept),
			field(`"m"`, object("choices", `{"type":"array","items":{"type":"string","enum":["A","B"]}}`))}},
		{"SDK-145", `mcp_elicit_titled_multi_choice m a:A`, question{out(accept),
			field(`"m"`, object("choices", `{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]}}`))}},
	} {
		t.Run(c.clause+"/"+c.call, func(t *testing.T) {
			t.Parallel()
			for _, mode := range []string{"full", "minimal"} {
				if got := elicit(t, answering+c.call, "MCPBASH_MODE="+mode); got != c.want {
					t.Errorf("%s %s:\n got %+v\nwant %+v", c.clause, c.call, got, c.want)
				}
			}
		})
	}
}

// SDK-145, P-2202: questions match the published schemas.
func TestQuestionsFitTheProtocol(t *testing.T) {
	t.Parallel()
	for _, call := range []string{
		`mcp_elicit_string m`, `mcp_elicit_confirm m`, `mcp_elicit_choice m A B`, `mcp_elicit_titled_choice m a:A b:B`,
		`mcp_elicit_multi_choice m A B`, `mcp_elicit_titled_multi_choice m a:A b:B`,
	} {
		request := elicit(t, answering+call).request
		legacy, modern := fits(rawjson.Get(json.RawMessage(request), "schema"))
		if legacy != nil || modern != nil {
			t.Errorf("%s: %s: %v, %v", call, request, legacy, modern)
		}
	}
	older := json.RawMessage(`{"type":"object","properties":{"x":{"type":"array","items":{"oneOf":[]}}}}`)
	if legacy, modern := fits(older); legacy == nil || modern == nil {
		t.Errorf("nothing is checked: %v, %v", legacy, modern)
	}
}

// fits checks a form in the newest handshake revision and in the stateless one.
func fits(schema json.RawMessage) (legacy, modern error) {
	asked := `"method":"elicitation/create","params":{"mode":"form","message":"m","requestedSchema":` +
		string(schema) + `}`
	legacy = wire.NewChecker().Received([]byte(`{"jsonrpc":"2.0","id":1,` + asked + "}\n"))
	c := wire.NewChecker()
	c.Sent([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`))
	modern = c.Received([]byte(`{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"k":{` +
		asked + "}}}}\n"))
	return legacy, modern
}

func TestElicitWithoutAnswer(t *testing.T) {
	t.Parallel()
	local := func(action, message string) question {
		return question{outcome: outcome{out: `{"action":"` + action + `","content":null}`, err: message, rc: 1}}
	}
	const timeout = "mcp_elicit: Timeout waiting for user response\n"
	for _, c := range []struct {
		clause, script string
		env            []string
		want           question
	}{
		{"SDK-141", `mcp_elicit m '{}'; echo reached`, []string{"MCP_ELICIT_SUPPORTED=0"},
			local("decline", "mcp_elicit: Client does not support elicitation\n")},
		{"SDK-141", `mcp_elicit_confirm m`, []string{"MCP_ELICIT_SUPPORTED"},
			local("decline", "mcp_elicit: Client does not support elicitation\n")},
		{"SDK-144", `mcp_elicit_url m u`, []string{"MCP_ELICIT_SUPPORTED=0"},
			local("decline", "mcp_elicit_url: Client does not support elicitation\n")},
		{"SDK-141", `mcp_elicit m '{}'`, []string{"MCP_ELICIT_REQUEST_FILE"},
			local("error", "mcp_elicit: Elicitation environment not configured\n")},
		{"SDK-141", `mcp_elicit m '{}'`, []string{"MCP_ELICIT_RESPONSE_FILE="},
			local("error", "mcp_elicit: Elicitation environment not configured\n")},
		{"SDK-142", `mcp_elicit m '{}' 0`, nil, local("error", timeout)},
		{"SDK-141", `sleep() { echo "$1" >&2; }; mcp_elicit m '{}' 0.3`, nil, local("error", "0.1\n0.2\n"+timeout)},
		{"SDK-140", `sleep() { echo "$1" >&2; }; MCP_ELICIT_DEFAULT_TIMEOUT=7; mcp_elicit m '{}'`, nil, local("error",
			"0.1\n0.2\n0.3\n0.4\n0.5\n0.6\n0.7\n0.8\n0.9\n1.0\n1.0\n0.5\n"+timeout)},
		{"SDK-9", `sleep() { echo "$1" >&2; }; mcp_elicit m '{}' x`, []string{"MCPBASH_ELICITATION_TIMEOUT=0.1"},
			local("error", "0.1\n"+timeout)},
		{"SDK-141", `sleep() { : >cancel; }; MCP_TOOL_CANCELLATION_FILE=cancel; mcp_elicit m '{}'`, nil,
			local("cancel", "")},
		{"SDK-142", `sleep() { exit 9; }; mcp_elicit m '{}'`, []string{"MCP_ELICIT_REQUEST_FILE=" + absentDir + "/x"},
			local("error", "mcp_elicit: Cannot write the request\n")},
		{"SDK-144", `mcp_elicit m '{}' 30 url`, nil, local("error",
			"mcp_elicit: mode url is what mcp_elicit_url is for\n")},
		{"SDK-145", `mcp_elicit_choice m`, nil, local("error", "mcp_elicit_choice: at least one option is required\n")},
		{"SDK-145", `mcp_elicit_titled_multi_choice m`, nil, local("error",
			"mcp_elicit_titled_multi_choice: at least one option is required\n")},
		{"SDK-140", `mcp_elicit --key 'a b' m '{}'`, nil, local("error",
			"mcp_elicit: --key must be made of A-Z a-z 0-9 _ . -\n")},
		{"SDK-140", `mcp_elicit_confirm --key`, nil, local("error",
			"mcp_elicit: --key must be made of A-Z a-z 0-9 _ . -\n")},
	} {
		if got := elicit(t, c.script, c.env...); got != c.want {
			t.Errorf("%s %s:\n got %+v\nwant %+v", c.clause, c.script, got, c.want)
		}
	}
}
