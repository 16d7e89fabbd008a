//go:build unix

package policy

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/wire/mcp"
)

// T-20 to T-22.
func TestList(t *testing.T) {
	for _, tc := range []struct {
		list List
		tool string
		want string
	}{
		{List{}, "a", "Tool 'a' blocked by policy. Set MCPBASH_TOOL_ALLOWLIST in your MCP client config."},
		{List{Context: project.OverHTTP}, "a", "Tool 'a' blocked by policy (not in MCPBASH_TOOL_ALLOWLIST)"},
		{List{AllowAll: true}, "a", ""},
		{List{Names: []string{"b"}, AllowAll: true}, "a", "Tool 'a' blocked by policy (not in MCPBASH_TOOL_ALLOWLIST)"},
		{List{Names: []string{"b", "a"}}, "a", ""},
		{List{Names: []string{"A", "a*", "[a]"}}, "a", "Tool 'a' blocked by policy (not in MCPBASH_TOOL_ALLOWLIST)"},
		{List{Names: []string{"*"}}, "a", ""},
		{List{Names: []string{"all"}}, "a", ""},
		{List{Context: RunTool}, "a", "Tool 'a' blocked by policy. Try: mcp-bash run-tool a --allow-self ..."},
		{List{Context: RunTool}, "a b", "Tool 'a b' blocked by policy. Try: mcp-bash run-tool 'a b' --allow-self ..."},
		{List{Context: Request}, "a", "Tool 'a' blocked by policy. Try: mcp-bash request tools/call ... --allow-self"},
		{List{Names: []string{"b"}, Context: RunTool}, "a",
			"Tool 'a' blocked by policy. Try: mcp-bash run-tool a --allow-self ..."},
	} {
		err := tc.list.Check(tc.tool)
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || err.Message != tc.want ||
			err.Code != -32602) {
			t.Errorf("%+v: %v", tc.list, err)
		}
	}
}

func newPolicy(t *testing.T, hook string, env project.Env) (*Policy, *[]string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	os.Chmod(root, 0o755)
	os.Mkdir(filepath.Join(root, "server.d"), 0o755)
	if hook != "" {
		if err := os.WriteFile(filepath.Join(root, "server.d", "policy.sh"), []byte(hook), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if env == nil {
		env = project.Env{}
	}
	env["PATH"] = os.Getenv("PATH")
	env["OWN"] = "server"
	p := project.Open(root, env, root, func(string) {})
	var logs []string
	jq := script.LookPath("jq", os.Getenv("PATH"))
	return &Policy{
		Project: p, Runner: new(script.Runner), State: &project.State{Dir: t.TempDir()},
		Env: func() project.Env {
			return p.ForHooks(p.Common("/home", "/helper", project.JSONTool{Name: "jq", Bin: jq}), "/state")
		},
		Log: func(level mcp.Level, logger, text string) { logs = append(logs, level.String()+" "+logger+" "+text) },
	}, &logs
}

// asksDefault is the documented form of a policy that adds to the default one.
const asksDefault = `mcp_tools_policy_check() { mcp_tools_policy_check_default "$@" || return 1; return 0; }`

// T-25 to T-33.
func TestHook(t *testing.T) {
	const item = `{"name":"tool","x":{"y":"z"}}`
	const noReason = "server.d/policy.sh gives no reason; " +
		"to give one, call mcp_tools_error CODE MESSAGE there before return 1"
	const silent = `{"code":-32602,"message":"Tool 'tool' blocked by policy: ` + noReason +
		`","data":{"reason":"` + noReason + `"}}`
	unable := func(question, reason string) string {
		reason = "server.d/policy.sh failed: " + question + " cannot answer: " + reason +
			"; no tool runs until it is corrected"
		return `{"code":-32603,"message":"Tool policy check failed: ` + reason + `","data":{"reason":"` + reason + `"}}`
	}
	for _, tc := range []struct {
		name, hook string
		env        project.Env
		want       string // the error, "" when allowed
	}{
		{"allows", `mcp_tools_policy_check() { [ "$1" = tool ] && [ "$2" = '` + item + `' ]; }`, nil, ""},
		{"ignores the list", `mcp_tools_policy_check() { :; }`, project.Env{"MCPBASH_TOOL_ALLOWLIST": "other"}, ""},
		{"denies silently", `mcp_tools_policy_check() { return 3; }`, nil,
			silent},
		{"denies with a reason", `mcp_tools_policy_check() { mcp_tools_error -32600 "Capability required" '{ "reason": ` +
			`"auth" }'; return 1; }`, nil,
			`{"code":-32600,"message":"Capability required","data":{"reason":"auth"}}`},
		{"assigns variables", `mcp_tools_policy_check() { _MCP_TOOLS_ERROR_CODE=7; _MCP_TOOLS_ERROR_MESSAGE=no; ` +
			`_MCP_TOOLS_ERROR_DATA='bad json'; return 1; }`, nil, `{"code":7,"message":"no"}`},
		{"bad code", `mcp_tools_policy_check() { mcp_tools_error x m; return 1; }`, nil,
			`{"code":-32603,"message":"m"}`},
		{"errexit is off", `mcp_tools_policy_check() { false; [ $- = "${-//e/}" ] && [ $- != "${-//u/}" ]; }`, nil, ""},
		{"sees the server's environment",
			`mcp_tools_policy_check() { [ "$OWN" = server ] && [ -z "${MCPBASH_REMOTE_TOKEN-}" ] && [ -n "$MCPBASH_TOOLS_DIR" ` +
				`] && [ "$MCPBASH_STATE_DIR" = /state ]; }`,
			project.Env{"MCPBASH_REMOTE_TOKEN": strings.Repeat("x", 32)}, ""},
		{"reads JSON", `mcp_tools_policy_check() { [ "$(mcp_json_extract_optional "$2" -r .x.y d)" = z ] && [ ` +
			`"$(mcp_json_extract_optional '{' -r .x d)" = d ]; }`, nil, ""},
		{"reads a JSON file", `mcp_tools_policy_check() { [ "$(mcp_json_extract_file_required "$MCPBASH_PROJECT_ROOT/j" -r ` +
			`.a)" = 1 ] && ! mcp_json_extract_file_required /none -r .a; }`, nil, ""},
		{"prints", `mcp_tools_policy_check() { echo noise; printf 'allow\0'; return 1; }; echo more`, nil,
			silent},
		{"defines nothing", `MCPBASH_TOOL_ALLOWLIST="tool, x"`, project.Env{"MCPBASH_TOOL_ALLOWLIST": "other"}, ""},
		{"defines nothing, default", `MCPBASH_TOOL_ALLOW_DEFAULT=allow`, nil, ""},
		{"defines nothing, a list without a name", `MCPBASH_TOOL_ALLOW_DEFAULT=allow MCPBASH_TOOL_ALLOWLIST=,`, nil,
			`{"code":-32602,"message":"Tool 'tool' blocked by policy. Set MCPBASH_TOOL_ALLOWLIST in your MCP client config."}`},
		{"defines nothing at all", `:`, nil,
			`{"code":-32602,"message":"Tool 'tool' blocked by policy. Set MCPBASH_TOOL_ALLOWLIST in your MCP client config."}`},
		{"asks the default without a helper", "MCPBASH_HELPER_BIN=/none\n" + asksDefault,
			project.Env{"MCPBASH_TOOL_ALLOWLIST": "tool"},
			unable("mcp_tools_policy_check_default", "put mcp-bash on PATH")},
		{"asks for a path without a helper", `MCPBASH_HELPER_BIN=; mcp_tools_policy_check() { ` +
			`mcp_tools_validate_path a || { mcp_tools_error -32602 "bad path"; return 1; }; }`, nil,
			unable("mcp_tools_validate_path", "put mcp-bash on PATH")},
		{"reads JSON without a program", `MCPBASH_JSON_TOOL_BIN=; mcp_tools_policy_check() { ` +
			`[ "$(mcp_json_extract_optional "$2" -r .x.y z)" = z ]; }`, nil,
			unable("mcp_json_extract_optional", "put jq or mcp-bash on PATH")},
		{"reads a JSON file without a program", `MCPBASH_JSON_TOOL_BIN=/none; mcp_tools_policy_check() { ` +
			`mcp_json_extract_file_required "$MCPBASH_PROJECT_ROOT/j" -r .a || mcp_tools_error -32602 "no file"; }`, nil,
			unable("mcp_json_extract_file_required", "put jq or mcp-bash on PATH")},
		{"asks a helper that is killed", "MCPBASH_HELPER_BIN=$MCPBASH_PROJECT_ROOT/killed\n" + asksDefault, nil,
			unable("mcp_tools_policy_check_default", "its program ended with exit status 137")},
		{"syntax error", `if`, project.Env{"MCPBASH_TOOL_ALLOWLIST": "*"}, `fault`},
		{"syntax error after the check", "mcp_tools_policy_check() { :; }\nif", nil, `fault`},
		{"last command fails", "mcp_tools_policy_check() { :; }\nfalse", nil, ""},
		{"exits", `exit 0`, nil, `failed`},
		{"exits in the check", `mcp_tools_policy_check() { exit 0; }`, nil, `failed`},
		{"unbound variable", `mcp_tools_policy_check() { echo "$nothing"; }`, nil, `fault`},
	} {
		p, _ := newPolicy(t, tc.hook+"\n", tc.env)
		os.WriteFile(filepath.Join(p.Project.Root, "j"), []byte(`{"a":1}`), 0o644)
		os.WriteFile(filepath.Join(p.Project.Root, "killed"), []byte("#!/bin/sh\nkill -9 $$\n"), 0o755)
		got := ""
		if _, err := p.Check(context.Background(), "tool", json.RawMessage(item), nil); err != nil {
			got = string(err.AppendJSON(nil))
		}
		switch tc.want {
		case "failed":
			tc.want = `{"code":-32603,"message":"Tool policy check failed: server.d/policy.sh failed: it ended with exit `
		case "fault":
			tc.want = `{"code":-32603,"message":"Tool policy check failed: server.d/policy.sh: line `
		}
		if got != tc.want && (!isFailure(tc.want) || !strings.HasPrefix(got, tc.want)) {
			t.Errorf("%s: %s", tc.name, got)
		}
	}
}

// isFailure reports whether an expected error ends where the reason begins.
func isFailure(want string) bool { return !strings.HasSuffix(want, "}") && want != "" }

// T-29, P-205: under set -u no variable is missing that the
// contract names, the call's own are there, and what was inherited of another
// call is not.
func TestHookVariables(t *testing.T) {
	names := "MCPBASH_HOME MCP_SDK MCPBASH_HELPER_BIN MCPBASH_JSON_TOOL MCPBASH_JSON_TOOL_BIN MCPBASH_MODE " +
		"MCPBASH_PROJECT_ROOT MCPBASH_FRAMEWORK_VERSION MCPBASH_TRANSPORT MCPBASH_TRANSPORT_STDIO MCPBASH_SERVER_ARGS_JSON " +
		"MCPBASH_SERVER_NAME MCPBASH_SERVER_VERSION MCPBASH_SERVER_TITLE MCPBASH_SERVER_DESCRIPTION " +
		"MCPBASH_SERVER_WEBSITE_URL MCPBASH_SERVER_ICONS MCPBASH_SERVER_INSTRUCTIONS " +
		"MCPBASH_TOOLS_DIR MCPBASH_RESOURCES_DIR MCPBASH_PROMPTS_DIR MCPBASH_SERVER_DIR MCPBASH_REGISTRY_DIR " +
		"MCPBASH_STATE_DIR MCPBASH_TOOL_POLICY_CONTEXT " +
		"MCPBASH_WORKER_KEY MCP_PROGRESS_TOKEN MCPBASH_PROGRESS_TOKEN_JSON MCP_CANCEL_FILE MCP_PROGRESS_STREAM MCP_LOG_STREAM"
	hook := `mcp_tools_policy_check() {
  for name in ` + names + `; do : "${!name}"; done
  [ ! -e "$MCP_CANCEL_FILE" ] && echo x >>"$MCP_PROGRESS_STREAM" && echo x >>"$MCP_LOG_STREAM" || return
  mcp_tools_error 7 "$MCPBASH_WORKER_KEY $MCP_PROGRESS_TOKEN $MCPBASH_PROGRESS_TOKEN_JSON $MCPBASH_SERVER_TITLE $MCPBASH_TRANSPORT"
  return 1
}`
	p, _ := newPolicy(t, hook+"\n", project.Env{"MCPBASH_WORKER_KEY": "stale", "MCPBASH_SERVER_TITLE": "stale"})
	p.Project.Meta.Title = "Title"
	_, err := p.Check(context.Background(), "tool", json.RawMessage("{}"), project.Env{
		"MCPBASH_WORKER_KEY": "key", "MCP_PROGRESS_TOKEN": "7", "MCPBASH_PROGRESS_TOKEN_JSON": `"7"`,
	})
	if got := string(err.AppendJSON(nil)); got != `{"code":7,"message":"key 7 \"7\" Title stdio"}` {
		t.Error(got)
	}
}

func TestHookLogsAndBigEntries(t *testing.T) {
	p, logs := newPolicy(t, `mcp_tools_policy_check() { mcp_logging_notice mine "size ${#2}"; mcp_logging_warning mine `+
		`$'two\nlines'; echo err >&2; }`+"\n", nil)
	item := json.RawMessage(`{"d":"` + strings.Repeat("x", 300_000) + `"}`)
	if _, err := p.Check(context.Background(), "tool", item, nil); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(*logs,
		"|"); got != "debug mcp.tools.policy err|notice mine size 300008|warning mine two\nlines" {
		t.Error(got)
	}
	if left, _ := filepath.Glob(filepath.Join(p.State.Dir, "policy.*")); len(left) != 0 {
		t.Error("a file is left behind")
	}
}

// T-33: the default policy as policy.sh asks for it refuses a path that others can write to.
func TestCheckDefault(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tools := filepath.Join(root, "tools")
	file := filepath.Join(tools, "a", "tool.sh")
	os.Chmod(root, 0o755)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	check := func(list List, item string) string {
		if err := list.CheckDefault("a", json.RawMessage(item), root, tools); err != nil {
			return string(err.AppendJSON(nil))
		}
		return ""
	}
	const item = `{"name":"a","path":"a/tool.sh"}`
	listed := ReadList("b, a", "", "")
	denied := `{"code":-32602,"message":"Tool 'a' blocked by policy. Set MCPBASH_TOOL_ALLOWLIST in your MCP client ` +
		`config."}`
	if got := check(listed, item) + check(ReadList("", "all", ""), item) + check(listed, "") +
		check(listed, "{"); got != "" {
		t.Error("T-33:", got)
	}
	if got := check(ReadList("", "", ""), item); got != denied {
		t.Error("T-33:", got)
	}
	os.Chmod(file, 0o777)
	if got := check(listed, item); got != `{"code":-32602,"message":"Tool 'a' path rejected by policy","data":{"reason":"`+
		`tools/a/tool.sh (mode 0777, others can write to it; run chmod o-w tools/a/tool.sh)"}}` {
		t.Error("T-33:", got)
	}
	os.Remove(file) // T-9 reports it
	if got := check(listed, item); got != "" {
		t.Error("T-33:", got)
	}
}

// T-8: the wording of a later refusal depends on whether policy.sh decided.
func TestOwn(t *testing.T) {
	for hook, want := range map[string]bool{"": false, "MCPBASH_TOOL_ALLOWLIST='*'\n": false,
		"mcp_tools_policy_check() { :; }\n": true} {
		p, _ := newPolicy(t, hook, project.Env{"MCPBASH_TOOL_ALLOWLIST": "tool"})
		if d, err := p.Check(context.Background(), "tool", json.RawMessage("{}"), nil); err != nil || d.Own != want {
			t.Errorf("T-8: %q: %+v, %v", hook, d, err)
		}
	}
}

// T-31.
func TestInsecureHook(t *testing.T) {
	p, logs := newPolicy(t, "mcp_tools_policy_check() { :; }\n", project.Env{"MCPBASH_TOOL_ALLOWLIST": "*"})
	file := filepath.Join(p.Project.Server, "policy.sh")
	os.Chmod(file, 0o646)
	_, err := p.Check(context.Background(), "tool", nil, nil)
	insecure := func(file string) string {
		return file + " (mode 0646, others can write to it; run chmod o-w " + file + ")"
	}
	reason := insecure("server.d/policy.sh") // for clients; the log has the whole path
	if err == nil || err.Message != "Tool 'tool' blocked by policy (insecure policy.sh): "+reason || err.Code != -32602 ||
		string(err.Data) != `{"reason":"`+reason+`"}` {
		t.Errorf("%v %s", err, err.Data)
	}
	if len(*logs) != 1 || (*logs)[0] != "warning mcp.tools.policy Refusing to source insecure policy.sh (check "+
		"ownership/perms/symlink): "+insecure(file) {
		t.Errorf("%q", *logs)
	}
	os.Remove(file)
	os.Symlink(file+".absent", file) // a link to nowhere is not "no policy"
	if _, err := p.Check(context.Background(), "tool", nil, nil); err == nil {
		t.Error("a dangling policy.sh is taken for none")
	}
	os.RemoveAll(p.Project.Server)
	if _, err := p.Check(context.Background(), "tool", nil, nil); err != nil {
		t.Error("no directory, no policy:", err)
	}
	os.WriteFile(p.Project.Server, nil, 0o644) // now nobody knows whether policy.sh exists
	if _, err := p.Check(context.Background(), "tool", nil, nil); err == nil {
		t.Error("an unknown policy.sh counts as missing")
	}
}
