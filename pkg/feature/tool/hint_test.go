//go:build unix

package tool

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/roots"
)

// T-188, T-189: known causes of failures appear with their remedy in the result and in the log.
func TestHints(t *testing.T) {
	b := newFixture(t, nil)
	const (
		crlf = " has Windows (CRLF) line ends; convert it with: tr -d '\\r' "
		own  = "tools/t/tool.sh" + crlf + "<tools/t/tool.sh >tools/t/tool.sh.lf && " +
			"cat tools/t/tool.sh.lf >tools/t/tool.sh && rm tools/t/tool.sh.lf"
		start  = "tools/t/tool.sh cannot start: line 1 "
		noPath = " asks for python9, which is not on the PATH of tools ("
		ended  = "tools/t/tool.sh ended with exit status "
		silent = " without a message on standard error. Under \"set -e\", which"
		after  = " after it had printed its result, so the call counts as failed. Under \"set -e\", which"
	)
	for _, tc := range []struct{ name, script, want string }{
		{"CRLF, env", "#!/usr/bin/env bash\r\nset -euo pipefail\r\necho hi\r\n", own},
		{"CRLF, the system looks for bash\\r", "#!/bin/bash\r\necho hi\r\n", own},
		{"CRLF, no word of it", "#!/usr/bin/env bash\r\nif true; then\r\n  exit 3\r\nfi\r\n", own},
		{"CRLF in a file that is loaded", "#!/bin/bash\nsource lib/dos.sh\nexit 1\n",
			"lib/dos.sh" + crlf + "<lib/dos.sh >lib/dos.sh.lf && "},
		{"byte order mark", "\ufeff#!/usr/bin/env bash\nset -e\nfalse\n",
			"tools/t/tool.sh begins with a byte order mark, so Bash takes its first line for a command; remove the mark: " +
				"tail -c +4 <tools/t/tool.sh >tools/t/tool.sh.plain && "},
		{"no source line", "#!/bin/bash\nname=$(mcp_args_get .name)\nexit 1",
			"tools/t/tool.sh uses the SDK without loading it; put this line before the others: " +
				`source "${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh"`},
		{"not Bash", "#!/bin/dash\nset -euo pipefail\n",
			"tools/t/tool.sh is run by /bin/dash, which lacks what it uses of Bash; make its first line #!/usr/bin/env bash"},
		{"interpreter", "#!/opt/none/python9 -u\nprint()\n",
			start + "(#!/opt/none/python9 -u) asks for /opt/none/python9, which does not exist here; " +
				"install it, or name another"},
		{"interpreter of env", "#!/usr/bin/env python9\nprint()\n", start + "(#!/usr/bin/env python9)" + noPath},
		{"interpreter of env -S", "#!/usr/bin/env -S python9 -u\nprint()\n",
			start + "(#!/usr/bin/env -S python9 -u)" + noPath},
		{"silent", "#!/bin/bash\nset -e\ngrep -q nothing /dev/null\necho not reached\n", ended + "1" + silent},
		{"silent after text", "#!/bin/bash\necho some text\nexit 5\n",
			ended + "5 without a message on standard error; possibly at exit 5 in line 3, which MCPBASH_TRACE_TOOLS=true shows"},
		{"signal", "#!/bin/bash\nkill -SEGV $$\n",
			"tools/t/tool.sh was ended by signal 11 (segmentation fault) without a message on standard error"},
		{"after a result", "#!/bin/bash\necho '{\"a\":1}'\ngrep -q nothing /dev/null\n", ended + "1" + after},
		{"after a result, with a message", "#!/bin/bash\necho '{\"a\":1}'\necho why >&2; exit 1\n",
			ended + "1 after it had printed its result, so the call counts as failed; possibly at exit 1 in line 3"},
		{"after an envelope", "#!/bin/bash\necho '{\"content\":[],\"isError\":false}'\nexit 1\n",
			ended + "1 after it had printed its result, so the call counts as failed; possibly at exit 1 in line 3"},

		{"a program that is not there", "#!/bin/bash\n\nnonesuch\n",
			"tools/t/tool.sh starts nonesuch in line 3, which is not on the PATH of tools ("},
		{"standard input", "#!/bin/bash\nset -e\nread -r name\n", ended + "1" + silent},
		{"a terminal", "#!/bin/bash\nset -e\nread -r name </dev/tty\n",
			"tools/t/tool.sh reads /dev/tty, but tools have no terminal; ask the user with mcp_elicit, or "},

		{"it has said so itself", "#!/bin/bash\necho 'file not found' >&2; exit 1\n", ""},
		{"an error as JSON", "#!/bin/bash\necho '{\"success\":false,\"why\":\"x\"}'; exit 1\n", ""},
		{"an error as a result", "#!/bin/bash\necho '{\"content\":[],\"isError\":true}'; exit 1\n", ""},
		{"no source line, of MCP Apps", "#!/bin/bash\nmcp_ui_form --title x\nexit 1",
			"tools/t/tool.sh uses the SDK without loading it; "},
		{"a function of its own", "#!/bin/bash\nmcp_mine\nexit 1\n", ""},
		{"a function of its own, of which the SDK has a private one", "#!/bin/bash\nmcp_line_ffmpeg\nexit 1\n", ""},
		{"a mistyped function", "#!/bin/bash\nmcp_result_sucess {}\nexit 1\n", "tools/t/tool.sh calls mcp_result_sucess, " +
			"which is not a function of the SDK (did you mean mcp_result_success?)"},
		{"select", "#!/bin/bash\nselect x in a b; do break; done\nexit 1\n", "tools/t/tool.sh reads standard input, "},
		{"a CR where it is no line end", "#!/bin/bash\nprintf '%s' $'a\\r\\n' >&2\nexit 1\n", ""},
	} {
		if _, err := os.Stat("/bin/dash"); err != nil && tc.name == "not Bash" {
			continue
		}
		b.add("t", "")
		for name, text := range map[string]string{"tools/t/tool.sh": tc.script, "lib/dos.sh": "true\r\n"} {
			file := filepath.Join(b.root, name)
			os.MkdirAll(filepath.Dir(file), 0o755)
			if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		b.logs = nil
		got := b.call(&Request{Name: "t"})
		last := lastText(got)
		isHint := strings.HasPrefix(last, "tools/") || strings.HasPrefix(last, "lib/")
		if isHint != (tc.want != "") || !strings.HasPrefix(last, tc.want) || !strings.Contains(got, `"isError":true`) {
			t.Errorf("%s: %s", tc.name, got)
		}
		if logged := b.logged("warning mcp.tools Tool 't': " + tc.want); logged != (tc.want != "") {
			t.Errorf("%s: logs %q", tc.name, b.logs)
		}
	}
}

// lastText returns the text of a result's last item.
func lastText(result string) string {
	last := ""
	for item := range rawjson.Elements(rawjson.Get(json.RawMessage(result), "content")) {
		last = rawjson.TextOf(item, "text")
	}
	return last
}

// T-188: with the old form of failures, the response is unchanged and the hint is in the log.
func TestHintOfAnErrorIsLogged(t *testing.T) {
	b := newFixture(t, project.Env{"MCPBASH_TOOL_FAILURE_MODE": "error"})
	const want = `{"code":-32603,"message":"Tool failed","data":{"exitCode":3,"_meta":{"exitCode":3}}}`
	if got := b.run(`exit 3`); got != want {
		t.Error(got)
	}
	if !b.logged("warning mcp.tools Tool 't': tools/t/tool.sh ended with exit status 3 without a message") {
		t.Error(b.logs)
	}
}

// T-219: text next to a result is kept, with a warning.
func TestTextBesideAResult(t *testing.T) {
	b := newFixture(t, nil)
	const (
		result  = `{"content":[{"type":"text","text":"hi"}],"isError":false}`
		failed  = `{"content":[{"type":"text","text":"no"}],"isError":true}`
		holds   = "standard output holds something "
		dropped = "bytes of standard output next to an error result are not sent"
	)
	for _, tc := range []struct{ out, text, warning string }{
		{"debug\n" + result, "", holds + "before the result"},
		{result + "\ndebug", "", holds + "after the result"},
		{`debug{"success":true,"result":{}}`, "", holds + "before the result"},
		{result + result, "", holds + "after the result"},
		{"  " + result + "\n", "hi", ""},
		{`{"success":true} {"success":false}`, "", ""},
		{`see {"content":7}`, "", ""},
		{`cut {"content":[`, "", ""},
		{"only text", "", ""},
		// T-218: after an error, nothing is a result.
		{failed + "\ndebug", "no", "5 " + dropped},
		{failed + result, "no", "57 " + dropped},
		{failed + "\n" + failed, "no", "56 " + dropped},
		{"debug\n" + failed, "", holds + "before the result"},
	} {
		b.logs = nil
		got := b.run(fmt.Sprintf("cat <<'END'\n%s\nEND", tc.out))
		want := tc.text
		if want == "" {
			want = tc.out + "\n"
		}
		if textOf(t, got) != want || strings.Contains(got, `"isError":true`) != (tc.text == "no") {
			t.Errorf("%s: %s", tc.out, got)
		}
		warning := "warning mcp.tools Tool 't': " + tc.warning
		if logged := b.logged(warning); logged != (tc.warning != "") {
			t.Errorf("%s: logs %q", tc.out, b.logs)
		}
	}
}

// T-218: of several values, only the one that outputSchema describes is sent.
func TestSeveralValues(t *testing.T) {
	b := newFixture(t, nil)
	const schema = `"outputSchema":{"type":"object","required":["success"],"properties":{"success":{"type":"boolean"}}}`
	failed := func(why string) string {
		return `{"content":[{"type":"text","text":"` + why + `"}],` +
			`"structuredContent":{"success":false,"why":"` + why + `"},"isError":true}`
	}
	for _, tc := range []struct{ name, out, want string }{
		{"objects", "{\"success\":true,\"n\":1}\n{\"x\":2}",
			`{"name":"t","content":[{"type":"text","text":"{\"success\":true,\"n\":1}"}],` +
				`"isError":false,"structuredContent":{"success":true,"n":1},"_meta":{"exitCode":0}}`},
		{"results, as of mcp_error without an exit", failed("a") + "\n" + failed("b"),
			`{"name":"t","content":[{"type":"text","text":"a"}],"isError":true,` +
				`"structuredContent":{"success":false,"why":"a"},"_meta":{"exitCode":0}}`},
		{"a result and an error", `{"content":[],"structuredContent":{"success":true},"isError":false}` + "\n" + failed("b"),
			`{"name":"t","content":[{"type":"text","text":"b"}],"isError":true,` +
				`"structuredContent":{"success":false,"why":"b"},"_meta":{"exitCode":0}}`},
		{"text and an error", "debug\n" + failed("b") + "\nmore",
			`{"name":"t","content":[{"type":"text","text":"b"}],"isError":true,` +
				`"structuredContent":{"success":false,"why":"b"},"_meta":{"exitCode":0}}`},
	} {
		if got := b.run("cat <<'END'\n"+tc.out+"\nEND", schema); got != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.name, got, tc.want)
		}
		if got := b.run("cat <<'END'\n"+tc.out+"\nEND", schema, `"validateInput":true`); got != tc.want {
			t.Errorf("%s, validated in full:\n got %s\nwant %s", tc.name, got, tc.want)
		}
	}
	for out, want := range map[string]string{
		`{"x":1} {"success":true}`: refused(outputInvalid, strayHint(`16 bytes after`), true),
		`{"success":true} text`:    refused(outputNotJSON, strayHint(`4 bytes after`), true),
		`7 {"success":true}`:       refused(outputInvalid, strayHint(`1 bytes before`), true),
	} {
		if got := b.run("cat <<'END'\n"+out+"\nEND", schema); got != want {
			t.Errorf("%s: %s", out, got)
		}
	}
}

// T-218: if a tool with an outputSchema fails, its client gets nothing of standard output except an error.
func TestFailedOutputIsWithheld(t *testing.T) {
	const (
		secret   = "hunter2"
		required = `"outputSchema":{"type":"object","required":["success"],"properties":{"success":{"type":"boolean"}}}`
		any      = `"outputSchema":{"type":"object"}`
		strict   = `"outputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}`
		full     = `"validateInput":true`
		program  = `"output":{"type":"json","exitCodes":{"1":"none"}}`
		failed   = `echo '{"content":[{"type":"text","text":"no"}],"isError":true}'; `
		listed   = `echo hunter2 >file; printf file >"$MCP_TOOL_RESOURCES_FILE"; `
	)
	every := [][]string{{required}, {any}, {required, full}}
	programs := append([][]string{{required, program}}, every...)
	refusing := [][]string{{required}, {required, full}, {strict, full}, {required, program}}
	fixtures := map[string]*fixture{}
	for _, mode := range []string{"result", "error"} {
		fixtures[mode] = newFixture(t, project.Env{"MCPBASH_TOOL_FAILURE_MODE": mode, "MCPBASH_DEBUG_ERRORS": "true",
			"MCPBASH_MAX_TOOL_OUTPUT_SIZE": "50000", "MCPBASH_MAX_TOOL_STDERR_SIZE": "50000"})
	}
	for _, tc := range []struct {
		name, body, want string
		entries          [][]string
	}{
		{"text after an error", failed + `echo hunter2`, "no", every},
		{"values after an error", failed + `echo '{"success":true,"x":"hunter2"}'`, "no", every},
		{"text before an error", `echo hunter2; ` + failed, "no", every},
		{"values before an error", `echo '{"success":true,"x":"hunter2"}';` + failed, "no", every},
		{"an error and a status", failed + `echo hunter2; exit 3`, "no", every},
		{"a file of an error", listed + failed, "no", every},
		{"a file of a failure", listed + `exit 3`, "", programs},
		{"text", `echo hunter2`, outputNotJSON, every},
		{"text of a program", `echo hunter2; exit 1`, "", programs},
		{"text before an object", `echo hunter2; echo '{"success":true}'`, outputNotJSON, every},
		{"text after an object", `echo '{"success":true}'; echo hunter2`, outputNotJSON, every},
		{"an invalid member", `echo '{"success":"hunter2"}'`, "", refusing},
		{"an invalid name", `echo '{"hunter2":1}'`, "", refusing},
		{"a later value", `echo '{"success":true}'; echo '{"x":"hunter2"}'`, "", every},
		{"a result that does not fit", `echo '{"content":[{"type":"text","text":"hunter2"}],"isError":false}'`, "",
			refusing[:2]},
		{"a status", `echo hunter2; echo why >&2; exit 3`, "why", programs},
		{"an object and a status", `echo '{"success":true,"x":"hunter2"}'; exit 3`, "", programs},
		{"a result and a status", `echo '{"content":[{"type":"text","text":"hunter2"}],"isError":false}'; exit 3`, "",
			programs},
		{"an error file", `echo hunter2; echo '{"code":-32010,"message":"no"}' >"$MCP_TOOL_ERROR_FILE"`, "no", programs},
		{"invalid arguments", `echo hunter2; echo '{"code":-32602,"message":"no"}' >"$MCP_TOOL_ERROR_FILE"`, "no", programs},
		{"killed", `echo hunter2; kill -KILL $$`, "", programs},
		{"terminated", `echo hunter2; kill $$`, "Tool cancelled", programs},
		{"too much output", `echo hunter2; printf '%60000s'; sleep 60`, "output exceeded", programs[:2]},
		{"too many messages", `echo hunter2; printf '%60000s' >&2; sleep 60`, "stderr exceeded", programs[:2]},
		{"the time", `echo hunter2; sleep 60`, "timed out", programs[:2]},
	} {
		for _, entry := range tc.entries {
			for mode, b := range fixtures {
				b.logs = nil
				b.add("t", tc.body, entry...)
				request := &Request{ID: `"t"`, Name: "t", Roots: roots.Scope{List: roots.List{{Path: b.root}}}}
				if tc.name == "the time" {
					request.Timeout = 1
				}
				got := b.call(request)
				if strings.Contains(got, secret) || b.logged(secret) || !strings.Contains(got, tc.want) {
					t.Errorf("%s, %s, mode %s, want %q:\n%s\n%q", tc.name, entry, mode, tc.want, got, b.logs)
				}
			}
		}
	}
}

// T-218: the limit of the lines that may be an error result.
func TestLaterErrorLimit(t *testing.T) {
	const failed = "\n" + `{"content":[],"isError":true}`
	for n, want := range map[int]bool{maxErrors - 1: true, maxErrors: false} {
		stdout := []byte("text" + strings.Repeat("\n"+`{"content":`, n) + failed)
		if a := laterError(stdout); a.isError != want {
			t.Errorf("after %d other lines: %v", n, a)
		}
	}
}

// strayHint returns the hint for text next to a result (T-405).
func strayHint(stray string) string {
	return "standard output has " + stray + " the result, so it is not the JSON that outputSchema requires. " +
		"Print nothing else there, and messages to standard error (>&2)"
}
