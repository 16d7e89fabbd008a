//go:build unix

package clients

import (
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/test/checkout"
)

// CLI-1041: a project made a minute ago has no error and no warning, in any order of the commands.
func TestNewProjectIsPerfect(t *testing.T) {
	t.Parallel()
	for name, commands := range map[string]string{
		"new":           "mcp-bash new demo; cd demo",
		"init":          "mkdir demo; cd demo; mcp-bash init",
		"in order":      scaffoldAll(false),
		"the other way": scaffoldAll(true),
		// CLI-1005: tools that follow the advice to put the server's name before theirs.
		"namespaces": "mcp-bash new demo; cd demo; mcp-bash scaffold tool demo_a; mcp-bash scaffold tool demo-b",
		"after a server": "mcp-bash new demo; cd demo; mcp-bash registry refresh; " +
			"mcp-bash scaffold tool late; tools/late/smoke.sh",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := checkout.Directory(t)
			must(t, dir, "set -e; "+commands)
			printed := must(t, filepath.Join(dir, "demo"), "mcp-bash validate --strict")
			for line := range strings.Lines(printed) {
				if line != "\n" && !strings.HasPrefix(line, "Validating ") && !strings.HasPrefix(line, "✓ ") &&
					line != "All checks passed (warnings: 0).\n" {
					t.Error(printed)
					break
				}
			}
			noted := must(t, filepath.Join(dir, "demo"), "mcp-bash validate")
			if strings.Count(noted, "put the server's name before it: demo_") != 1 {
				t.Error(noted)
			}
			const complete = `{"ref":{"type":"ref/prompt","name":"prompt.same"},"argument":{"name":"subject","value":"b"}}`
			if strings.Contains(commands, "prompt same") {
				got := must(t, filepath.Join(dir, "demo"), "mcp-bash request completion/complete '"+complete+"'")
				if !strings.Contains(got, `"values":["Beta"]`) {
					t.Errorf("the completion and the prompt of one name: %s", got)
				}
			}
			if left := must(t, filepath.Join(dir, "demo"), "grep -riE 'fill in|(say|describe|put) here' . || true"); left != "" {
				t.Errorf("placeholder text: %s", left)
			}
		})
	}
}

// CLI-605: the smoke test checks the result by the tool's outputSchema and isError, whatever its form, and
// names the argument that is outdated. test/run.sh and bats run the smoke tests of all tools (CLI-1140).
func TestSmokeTestsJudgeTheSchema(t *testing.T) {
	checkout.Needs(t, "bats")
	t.Parallel()
	dir := checkout.Directory(t)
	must(t, dir, "set -e; mcp-bash new demo; cd demo; mcp-bash scaffold tool chk; mcp-bash scaffold test; "+
		"mcp-bash scaffold test --bats")
	dir = filepath.Join(dir, "demo")
	const meta = `{"name":"chk","description":"x","validateInput":true,"inputSchema":{"type":"object","properties":` +
		`{"name":{"type":"string"}},"additionalProperties":false}`
	const answer = "#!/bin/sh\necho "
	for _, tc := range []struct {
		name, meta, script string
		code               int
		says               string
	}{
		{"another form", `,"outputSchema":{"type":"object","required":["n"]}}`, answer + `'{"n":1}'`, 0,
			"Smoke test passed for chk."},
		{"no schema", `}`, answer + "plain", 0, "Smoke test passed for chk."},
		{"a member is missing", `,"outputSchema":{"type":"object","required":["n"]}}`, answer + `'{"message":"x"}'`, 2,
			"Smoke test FAILED: output is not valid JSON or missing expected content.\n" +
				`{"name":"chk","content":[{"type":"text","text":"Invalid output: /n: is required"}]`},
		{"isError", `}`, answer + `'{"isError":true,"content":[{"type":"text","text":"no"}]}'`, 1,
			"Smoke test FAILED: tool execution error\n"},
		{"an argument is gone", `}`, "", 1, "Smoke test FAILED: the tool does not take these arguments. " +
			"Change them in smoke.sh.\nrun-tool: --args: /name: must be a number"},
	} {
		text := meta + tc.meta
		if tc.script == "" {
			text = strings.Replace(text, `"string"`, `"number"`, 1)
			tc.script = answer + "plain"
		}
		write(t, text, dir, "tools", "chk", "tool.meta.json")
		write(t, tc.script+"\n", dir, "tools", "chk", "tool.sh")
		if printed, code := typed(t, dir, "tools/chk/smoke.sh"); code != tc.code || !strings.Contains(printed, tc.says) {
			t.Errorf("%s: exit code %d\n%s", tc.name, code, printed)
		}
		passed := tc.code == 0
		if printed, code := typed(t, dir, "test/run.sh"); (code == 0) != passed ||
			!passed && !strings.Contains(printed, strings.Split(tc.says, "\n")[0]) {
			t.Errorf("%s: run.sh: exit code %d\n%s", tc.name, code, printed)
		}
		if printed, code := typed(t, dir, "bats test"); (code == 0) != passed ||
			!strings.Contains(printed, "ok 2 a server lists") {
			t.Errorf("%s: bats: exit code %d\n%s", tc.name, code, printed)
		}
	}
}

// CLI-1140: a script that sources session.sh calls tools in one server, whatever its options.
func TestSessionFunctions(t *testing.T) {
	t.Parallel()
	dir := checkout.Directory(t)
	must(t, dir, "set -e; mcp-bash new demo; cd demo; mcp-bash scaffold test --bats")
	printed := must(t, filepath.Join(dir, "demo"), `cat >own.sh <<'END'
set -euo pipefail
source test/session.sh
trap mcp_session_end EXIT
mcp_session_call hello || echo "not begun: $MCP_SESSION_ERROR"
mcp_session_start 20
mcp_session_call hello '{"name":"Ada"}'
printf '%s\n' "$MCP_SESSION_RESULT"
mcp_session_call hello '{"name":[7]}' || echo "failed: $MCP_SESSION_RESULT"
mcp_session_request prompts/list
printf '%s\n' "$MCP_SESSION_RESULT"
mcp_session_request prompts/get '{"name":"none"}' || echo "failed: $MCP_SESSION_ERROR"
END
bash own.sh 2>/dev/null`)
	for _, want := range []string{
		"not begun: no session: call mcp_session_start first\n", "Hello, Ada!", "failed: {", "Invalid arguments: /name",
		`"prompts":[]}`, `failed: {"error":{"code":-32`,
	} {
		if !strings.Contains(printed, want) {
			t.Errorf("no %q in\n%s", want, printed)
		}
	}
}

// CLI-1141: the commands that init and new print work when they are pasted, one after the other.
func TestPrintedCommands(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"mkdir demo; cd demo; mcp-bash init", "mcp-bash new demo"} {
		dir := checkout.Directory(t)
		printed := must(t, dir, "set -e; "+command)
		pasted := `set -e
mkdir bin; printf '#!/bin/sh\necho npx "$*"\n' >bin/npx; chmod 755 bin/npx; PATH=$PWD/bin:$PATH
`
		if strings.HasPrefix(command, "mkdir") {
			pasted += "cd demo\n"
		}
		n := 0
		for line := range strings.Lines(printed) {
			if line, ok := strings.CutPrefix(line, "  "); ok && !strings.HasPrefix(line, "Created ") {
				pasted += line
				n++
			}
		}
		got := must(t, dir, pasted)
		if n < 3 || strings.Contains(command, "init") &&
			!strings.Contains(got, "-e MCPBASH_TOOL_ALLOWLIST=* --transport stdio -- "+bin) {
			t.Errorf("%s\n%s", pasted, got)
		}
	}
}

// scaffoldAll returns commands that make a project with one item of each kind.
func scaffoldAll(backwards bool) string {
	all := []string{"tool same", "prompt same", "resource same", "completion same", "ui board", "ui --tool same", "test"}
	text := ""
	for i := range all {
		if backwards && i > 0 && i < 5 { // the page of a tool needs the tool
			i = 5 - i
		}
		text += "; mcp-bash scaffold " + all[i]
	}
	return "mcp-bash new demo; cd demo" + text
}
