package registry

import (
	"os"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/project"
)

// withHook makes a project with a register.sh that may run.
func withHook(t *testing.T, script string, extra project.Env) *bed {
	t.Helper()
	env := project.Env{"MCPBASH_ALLOW_PROJECT_HOOKS": "yes", "MCP_TOOLS_TTL": "0", "MCPBASH_LOG_VERBOSE": "true"}
	for name, value := range extra {
		env[name] = value
	}
	b := newBed(t, env, files{"tools/a/tool.sh": "", "server.d/register.sh*": script})
	b.reopen(env, b.hooks())
	return b
}

const hookNotice = "warning mcp.registry: Project hook execution enabled (MCPBASH_ALLOW_PROJECT_HOOKS=true); ensure " +
	"server.d/register.sh is trusted."

// the functions of the hook.
func TestHookFunctions(t *testing.T) {
	for _, tc := range []struct{ name, script, want string }{
		{"nothing", `:`, "a"},
		{"register alone", `mcp_tools_register_manual '{"name":"m","path":"m.sh"}'`, "m"},
		{"short form", `mcp_register_tool '{"name":"m","path":"m.sh"}'`, "m"},
		{"sorted", `for n in z b y; do mcp_register_tool "{\"name\":\"$n\",\"path\":\"$n.sh\"}"; done`, "b y z"},
		{"first of a name", `mcp_register_tool '{"name":"m","path":"z.sh"}'; mcp_register_tool '{"name":"m","path":"b.sh"}'`,
			"m"},
		{"begin empties", `mcp_register_tool '{"name":"m","path":"m.sh"}'; mcp_tools_manual_begin; mcp_register_tool ` +
			`'{"name":"n","path":"n.sh"}'`, "n"},
		{"abort", `mcp_register_tool '{"name":"m","path":"m.sh"}'; mcp_tools_manual_abort; mcp_register_tool '{"name":"n",` +
			`"path":"n.sh"}'`, "a"},
		{"begin after abort", `mcp_tools_manual_abort; mcp_tools_manual_begin; mcp_register_tool '{"name":"n",` +
			`"path":"n.sh"}'`, "n"},
		{"finalize empty", `mcp_tools_manual_finalize`, ""},
		{"register after finalize", `mcp_register_tool '{"name":"m","path":"m.sh"}'; mcp_tools_manual_finalize; ` +
			`mcp_register_tool '{"name":"n","path":"n.sh"}'`, "m"},
		{"finalize after abort", `mcp_tools_manual_abort; mcp_tools_manual_finalize`, "a"},
		{"empty argument", `mcp_register_tool ''; mcp_register_tool; mcp_tools_register_manual ""`, "a"},
		{"all return 0", "set -e; mcp_register_tool '{'; mcp_tools_manual_abort; mcp_tools_manual_finalize; " +
			"mcp_tools_manual_begin; mcp_register_tool '{\"name\":\"m\",\"path\":\"m.sh\"}'; set -u; mcp_register_tool", "m"},
		{"odd text", "mcp_register_tool $'{\"name\":\"m\",\\n\"path\":\"m.sh\",\\t\"title\":\"a\\\\\\\\n\\'\\\\\"%s\"}'",
			"m"},
		{"return ends it", "mcp_register_tool '{\"name\":\"m\",\"path\":\"m.sh\"}'\nreturn 0\nmcp_tools_manual_abort", "m"},
		{"exit ends it", "mcp_register_tool '{\"name\":\"m\",\"path\":\"m.sh\"}'\nexit\nmcp_tools_manual_abort", "m"},
		{"other kinds", `mcp_register_prompt '{"name":"p","path":"p"}'; mcp_register_resource '{"name":"r","uri":"u"}'; ` +
			`mcp_resources_templates_register_manual '{'; mcp_completion_register_manual '{'`, "a"},
		{"bulk", `echo '{"tools":[{"name":"z","path":"z.sh"},{"name":"b","path":"b.sh"}],"prompts":[5]}'`, "z b"},
		{"bulk empty", `echo '{"tools":[]}'`, ""},
		{"bulk without the key", `echo '{"prompts":[]}'`, "a"},
		{"bulk with a bad entry", `echo '{"tools":[{"name":"x"},{"name":"z","path":"z.sh"}]}'`, "z"},
		{"bulk null", `echo '{"tools":null}'`, "a"},
		{"buffer before bulk", `mcp_register_tool '{"name":"m","path":"m.sh"}'; echo '{"tools":[{"name":"z","path":"z.sh"}` +
			`]}'`, "m"},
		{"finalized before bulk", `mcp_tools_manual_finalize; echo '{"tools":[{"name":"z","path":"z.sh"}]}'`, ""},
		{"two objects are no bulk", `echo '{"tools":[]}{}'`, "a"},
		{"positional parameters", `[[ $# -eq 0 ]] || mcp_tools_manual_finalize`, "a"},
		{"working directory", `[[ -d server.d && "$PWD" == "$MCPBASH_PROJECT_ROOT" ]] && mcp_tools_manual_finalize`, ""},
		{"every level", `for l in debug info notice warning error critical alert emergency; do "mcp_logging_$l" my "$l" || ` +
			`exit; done; mcp_tools_manual_finalize`, ""},
		{"levels that are logged", `set -u; mcp_logging_is_enabled info && mcp_logging_is_enabled emergency && ` +
			`mcp_logging_is_enabled nonsense && mcp_logging_is_enabled && ! mcp_logging_is_enabled debug && ` +
			`mcp_tools_manual_finalize`, ""},
		{"variables under set -u", `set -u; for v in MCPBASH_HOME MCP_SDK MCPBASH_HELPER_BIN MCPBASH_JSON_TOOL ` +
			`MCPBASH_JSON_TOOL_BIN MCPBASH_MODE MCPBASH_PROJECT_ROOT MCPBASH_FRAMEWORK_VERSION MCPBASH_TRANSPORT ` +
			`MCPBASH_TRANSPORT_STDIO MCPBASH_SERVER_ARGS_JSON MCPBASH_SERVER_NAME MCPBASH_SERVER_VERSION MCPBASH_SERVER_TITLE ` +
			`MCPBASH_SERVER_DESCRIPTION MCPBASH_SERVER_WEBSITE_URL MCPBASH_SERVER_ICONS MCPBASH_SERVER_INSTRUCTIONS ` +
			`MCPBASH_TOOLS_DIR MCPBASH_SERVER_DIR MCPBASH_REGISTRY_DIR; do : "${!v}"; done; mcp_tools_manual_finalize`, ""},
		{"standard input is empty", `read -r x || mcp_tools_manual_finalize`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want(t, withHook(t, tc.script, nil).names(), tc.want)
		})
	}
}

// messages of all eight levels arrive; the minimum level decides which levels are
// enabled.
func TestHookLogging(t *testing.T) {
	b := withHook(t, `for l in debug info notice warning error critical alert emergency; do
  "mcp_logging_$l" my "$l"
  if mcp_logging_is_enabled "$l"; then mcp_logging_info on "$l"; fi
done`, project.Env{"MCPBASH_LOG_LEVEL": "alert"})
	b.names()
	b.WantLog(hookNotice, "debug my: debug", "info my: info", "notice my: notice", "warning my: warning",
		"error my: error",
		"critical my: critical", "alert my: alert", "info on: alert", "emergency my: emergency", "info on: emergency")
}

// if register.sh replaces or removes the file of its calls, the reader does not block, and no registered item is
// lost without an error.
func TestHookCallsFile(t *testing.T) {
	const register = `mcp_register_tool '{"name":"m","path":"m.sh"}'; `
	const replaced = "Manual registration script failed: it removed or replaced the file that its calls are written to; " +
		"leave MCPBASH_STATE_DIR alone"
	for _, tc := range []struct{ name, script string }{
		{"removed", `rm "$__mcp_registry_calls"`},
		{"pipe", `rm "$__mcp_registry_calls"; mkfifo "$__mcp_registry_calls"`},
		{"link", `mv "$__mcp_registry_calls" "$__mcp_registry_calls.2"; ln -s "$__mcp_registry_calls.2" ` +
			`"$__mcp_registry_calls"`},
		{"directory", `rm "$__mcp_registry_calls"; mkdir "$__mcp_registry_calls"`},
		{"other file", `cp "$__mcp_registry_calls" x; mv x "$__mcp_registry_calls"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want(t, withHook(t, register+tc.script, nil).reason(), replaced)
		})
	}
	t.Run("too large", func(t *testing.T) {
		b := withHook(t, `head -c 3000 /dev/zero >>"$__mcp_registry_calls"`,
			project.Env{"MCPBASH_REGISTRY_MAX_BYTES": "2000"})
		want(t, b.reason(), "Manual registration output exceeded 2000 bytes")
	})
	t.Run("sparse", func(t *testing.T) {
		b := withHook(t, `truncate -s 4T "$__mcp_registry_calls" 2>/dev/null || truncate -s 1G "$__mcp_registry_calls"`, nil)
		want(t, b.reason(), "Manual registration output exceeded 104857600 bytes")
	})
}

// registered entries have only known fields. A list in the output keeps all fields.
func TestHookItems(t *testing.T) {
	b := withHook(t, `mcp_register_tool '{"path":"m.sh","extra":1,"_meta":{"k":1},"title":"T","name":"m"}'; `+
		`mcp_register_tool '{"name":"n"}'; mcp_register_tool 5`, nil)
	want(t, strings.Join(b.items(), "\n"), `{"name":"m","title":"T","description":"","path":"m.sh",`+
		`"inputSchema":{"type":"object","properties":{}},"timeoutSecs":null,"_meta":{"k":1}}`)
	b.WantLog(hookNotice, `warning mcp.tools: register.sh: tools[1]: missing "path"; left out`,
		`warning mcp.tools: register.sh: tools[2]: not an object; left out`)
	b = withHook(t, `echo '{"tools":[{"path":"m.sh","extra":1,"name":"m"}]}'`, nil)
	want(t, strings.Join(b.items(), "\n"), `{"name":"m","description":"","path":"m.sh","inputSchema":{"type":"object",`+
		`"properties":{}},"timeoutSecs":null,"extra":1}`)
	b.WantLog(hookNotice)
}

// all faults.
func TestHookFaults(t *testing.T) {
	for _, tc := range []struct{ name, script, want string }{
		{"false", "exit 3", "Manual registration script failed"},
		{"last command", "mcp_tools_manual_finalize; false", "Manual registration script failed"},
		{"syntax", "if", "Manual registration script failed"},
		{"killed", "kill -9 $$", "Manual registration script failed"},
		{"slow", "sleep 60", "Manual registration script timed out"},
		{"slow after a message", "echo waiting; sleep 60", "Manual registration script timed out"},
		{"stdout", "printf '%2000s' x", "Manual registration output exceeded 1000 bytes"},
		{"stderr", "printf '%2000s' x >&2", "Manual registration output exceeded 1000 bytes"},
		{"both", "printf '%600s' x; printf '%600s' x >&2", "Manual registration output exceeded 1000 bytes"},
		{"no JSON", "mcp_register_tool '{'", "manual tools registration finalize failed: tools[0]: line 1, column 2: " +
			"unexpected end"},
		{"too deep", "mcp_register_tool '" + layers(101) + "'", "manual tools registration finalize failed: tools[0]: " +
			"nested more than 100 levels deep"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := withHook(t, tc.script, project.Env{"MCPBASH_REGISTER_TIMEOUT": "1",
				"MCPBASH_MAX_MANUAL_REGISTRY_BYTES": "1000", "MCPBASH_LOG_VERBOSE": "true"})
			want(t, b.reason(), tc.want)
			logged := strings.Join(b.Log(), "\n")
			if !strings.Contains(logged, "error mcp.tools: "+tc.want) {
				t.Error("not logged")
			}
			if strings.Contains(tc.script, "waiting") && !strings.Contains(logged, "script output: waiting") {
				t.Error("the output is not logged")
			}
		})
	}
}

// the conditions under which register.sh does not run.
func TestHookNotRun(t *testing.T) {
	const script = "touch ran; mcp_tools_manual_finalize"
	for _, tc := range []struct {
		name   string
		env    project.Env
		change func(b *bed)
	}{
		{"off by default", project.Env{"MCPBASH_ALLOW_PROJECT_HOOKS": ""}, nil},
		{"no word for yes", project.Env{"MCPBASH_ALLOW_PROJECT_HOOKS": "y"}, nil},
		{"not runnable", nil, func(b *bed) { os.Chmod(b.Path("server.d/register.sh"), 0o644) }},
		{"nobody to run it", nil, func(b *bed) { b.reopen(b.Project.Env, Options{}) }},
		{"static", project.Env{"MCPBASH_STATIC_REGISTRY": "1"}, nil},
		{"gone", nil, func(b *bed) { b.Remove("server.d/register.sh") }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := withHook(t, script, tc.env)
			if tc.change != nil {
				tc.change(b)
			}
			want(t, b.names(), "a")
			if folder.StampOfPath(b.Path("ran")).Exists() {
				t.Error("it ran")
			}
		})
	}
	b := withHook(t, "#!/bin/sh\n"+script, project.Env{"MCPBASH_ALLOW_PROJECT_HOOKS": "ON"})
	os.Chmod(b.Path("server.d/register.sh"), 0o644)
	want(t, b.names(), "")
}

// a register.sh that other users can change.
func TestHookUntrusted(t *testing.T) {
	b := withHook(t, "touch ran", nil)
	os.Chmod(b.Path("server.d/register.sh"), 0o757)
	want(t, b.reason(), "Manual registration script register.sh refused: server.d/register.sh is group- or "+
		"world-writable (fix: chmod g-w,o-w server.d/register.sh)")
	b = withHook(t, "", nil)
	b.Remove("server.d/register.sh")
	b.Put(files{"r.sh*": "touch ran", "server.d/register.sh@": "../r.sh"})
	want(t, b.reason(), "Manual registration script register.sh refused: server.d/register.sh is a symlink (replace "+
		"it with a regular file)")
	if folder.StampOfPath(b.Path("ran")).Exists() {
		t.Error("it ran")
	}
}

// exactly the checked script runs.
func TestHookChanges(t *testing.T) {
	b := withHook(t, "touch ran", nil)
	o := b.hooks()
	dir, _ := o.Private()
	o.Private = func() (string, error) { // runs after the check
		b.Put(files{"server.d/register.sh*": "touch ran # otherwise"})
		return dir, nil
	}
	b.reopen(project.Env{"MCPBASH_ALLOW_PROJECT_HOOKS": "true"}, o)
	want(t, b.reason(), "Manual registration script changed during execution; refusing to run.")
	if folder.StampOfPath(b.Path("ran")).Exists() {
		t.Error("it ran")
	}
	if list, _ := os.ReadDir(dir); len(list) != 0 {
		t.Error("left behind:", list)
	}
}

// the result of one run is used until the script changes or the TTL ends. P-1903: an idle check never runs the
// script.
func TestHookRuns(t *testing.T) {
	b := withHook(t, "echo x >>ran; mcp_tools_manual_finalize", project.Env{"MCPBASH_REGISTER_TTL": "7"})
	runs := func() int {
		text, _ := os.ReadFile(b.Path("ran"))
		return len(text) / 2
	}
	b.Changes(t.Context(), Poll{Idle: true})
	if runs() != 0 {
		t.Error("ran for an idle check")
	}
	want(t, b.changed(Poll{}), allKinds)
	b.names()
	b.Advance(6 * time.Second)
	b.names()
	if runs() != 1 {
		t.Error("runs:", runs())
	}
	want(t, b.changed(Poll{Idle: true}), "")
	b.Advance(2 * time.Second)
	want(t, b.changed(Poll{Idle: true}), "")
	if runs() != 1 {
		t.Error("runs:", runs())
	}
	b.names()
	if runs() != 2 {
		t.Error("runs:", runs())
	}
	b.Put(files{"server.d/register.sh*": "echo y >>ran"})
	want(t, b.names(), "a")
	if runs() != 3 {
		t.Error("runs:", runs())
	}
	if n := strings.Count(strings.Join(b.Log(), "\n"), hookNotice); n != 1 {
		t.Errorf("%d notices", n)
	}
}

// the output is logged only if the setting requires it.
func TestHookOutput(t *testing.T) {
	for _, tc := range []struct{ verbose, script, want string }{
		{"false", "echo secret", "warning mcp.registry: Manual registration script produced output (enable " +
			"MCPBASH_LOG_VERBOSE=true to view)"},
		{"true", "echo one; echo two >&2", "warning mcp.registry: Manual registration script output: one\ntwo"},
		{"true", `echo '{"prompts":[]}'; echo two >&2`, "warning mcp.registry: Manual registration script output: two"},
		{"true", "mcp_logging_info mcp.x 'a text'; mcp_logging_error mcp.y b", "info mcp.x: a text\nerror mcp.y: b"},
		{"true", "echo", ""},
	} {
		b := withHook(t, tc.script, project.Env{"MCPBASH_LOG_VERBOSE": tc.verbose})
		b.names()
		want(t, strings.Join(b.Log(), "\n"), strings.TrimSuffix(hookNotice+"\n"+tc.want, "\n"))
	}
}
