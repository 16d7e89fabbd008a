package sdk_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// processes counts the processes that a part of a script started.
type processes struct{ forks, execs int }

// begin and end mark the parts of a script in a trace.
const begin, end = "/trace/begin", "/trace/end"

var (
	forked   = regexp.MustCompile(`\b(clone3?|v?fork)\(`)
	threaded = regexp.MustCompile(`\bCLONE_THREAD\b`)
	executed = regexp.MustCompile(`\bexecve\(.*= 0$|<\.\.\. execve resumed.*= 0$`)
)

// count runs a script under strace and counts the processes of each part.
func count(t *testing.T, x tool, pieces []string) []processes {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Fatal("strace is needed to count processes: apt-get install strace, or what your system has instead")
	}
	for _, piece := range pieces {
		x.script += fmt.Sprintf("[[ -e %s ]] || :\n{ %s; } >/dev/null 2>&1 || :\n[[ -e %s ]] || :\n", begin, piece, end)
	}
	cmd := x.command(t)
	trace := filepath.Join(t.TempDir(), "trace")
	cmd.Args = append([]string{strace, "-f", "-o", trace, "-e",
		"trace=clone,clone3,fork,vfork,execve,stat,newfstatat,faccessat,faccessat2,access"}, cmd.Args...)
	cmd.Path = strace
	got := runCommand(t, cmd)
	text, err := os.ReadFile(trace)
	if err != nil || got.rc != 0 || !strings.Contains(string(text), "execve(") {
		t.Fatalf("strace could not trace (in a container it needs the capability SYS_PTRACE): %+v %v", got, err)
	}
	var counted []processes
	var now *processes
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.Contains(line, `"`+begin+`"`):
			now = &processes{}
		case strings.Contains(line, `"`+end+`"`):
			counted = append(counted, *now)
			now = nil
		case now == nil:
		case forked.MatchString(line) && !threaded.MatchString(line):
			now.forks++
		case executed.MatchString(line):
			now.execs++
		}
	}
	if len(counted) != len(pieces) {
		t.Fatalf("%d pieces counted, %d run\n%s", len(counted), len(pieces), text)
	}
	return counted
}

// SDK-200, SDK-201, SDK-202.
func TestProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Symlink("nowhere", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	file := write(t, filepath.Join(dir, "file.txt"), `{"from":"file"}`)
	image := write(t, filepath.Join(dir, "image"), "GIF89a\x00")
	x := tool{dir: dir, args: document, meta: `{"a":"x"}`, env: []string{
		"MCP_PROGRESS_STREAM=" + dir + "/progress", "MCP_PROGRESS_TOKEN=t", "MCP_LOG_STREAM=" + dir + "/log",
		"MCPBASH_DEBUG_LOG=" + dir + "/debug",
		"MCP_TOOL_ERROR_FILE=" + write(t, filepath.Join(dir, "error"), ""),
		"MCP_TOOL_RESOURCES_FILE=" + dir + "/resources",
		"MCP_ROOTS_PATHS=/one\n" + dir, "MCP_ROOTS_COUNT=2", "MCPBASH_ELICITATION_TIMEOUT=0",
	}}
	none := []string{
		`source "$MCP_SDK/tool-sdk.sh"; set +e`,
		`mcp_args_raw`, `mcp_meta_raw`, `mcp_args_get .s`, `mcp_args_get '.o.a[1]'`, `mcp_args_get .none`,
		`mcp_args_get '.none.x // "d"'`, `mcp_args_get '."k y"'`, `mcp_args_get .s.x`,
		`mcp_args_get .none --default d`, `mcp_meta_get .a`, `mcp_meta_get .none`, `mcp_args_require .s`,
		`mcp_args_bool .t`, `mcp_args_bool .none --default true`,
		`mcp_args_int .n --min 1 --max 9`, `mcp_json_escape $'a"\\\n\t\e'`, `mcp_json_escape é☃`,
		`mcp_json_obj a 1 b 2`, `mcp_json_arr a b c`,
		`mcp_emit_text x`, `mcp_emit_json '{"a":"b c, d"}'`, `mcp_emit_json '{ "a" : [1, {"b": null}] }'`,
		`mcp_result_success '{"a":1}'`, `mcp_result_success '{"a":{"b":[1,2,"x"]}}'`, `mcp_result_success '"text"'`,
		`mcp_result_error '{"type":"t","message":"m"}'`, `mcp_error t m --hint h --data '{"a":[1]}'`,
		`mcp_progress 5 m 10`, `mcp_log info l '{"a":[1]}'`, `mcp_log_debug l m`, `mcp_log_error l m`,
		`mcp_is_cancelled`, `mcp_roots_list`, `mcp_roots_count`,
		`mcp_byte_length abc`, `mcp_is_valid_json '{"a":'`, `mcp_elicit_confirm m`, `mcp_into x mcp_args_get .s`,
		`mcp_into x mcp_json_obj a "$x"`, `mcp_into x mcp_byte_length abc`,
		`mcp_json_typed_obj a string 'x "y"' b number 1.5 c boolean true d json '[1, {"a":null}]'`,
		`mcp_json_typed_arr integer 1 json '{}'`,
		`mcp_emit_json '{"said":"He said "x""}'`,
		`mcp_roots_contains /one/x`, `mcp_roots_contains /three`, `mcp_path_normalize ../x`, `mcp_path_collapse a/../b`,
		`mcp_into x mcp_require_path .s`,
		`mcp_extract_cli_error text err 1`, `mcp_json_truncate '[1,2]'`,
		`mcp_result_text_with_resource x --path ` + file + ` --mime m`, `mcp_with_retry 1 0 true`,
		`mcp_client_supports_ui`, `mcp_client_supports_extension io.modelcontextprotocol/ui`,
		`mcp_result_with_ui u text '{"a":[1]}'`, `mcp_tool_meta_with_ui u`,
	}
	debug := `mcp_debug word` // Bash before 4.2 cannot print the time
	if bashVersion() >= 402 {
		none = append(none, debug)
	}
	for i, got := range count(t, x, none) {
		if got != (processes{}) {
			t.Errorf("SDK-200: %s started %+v", none[i], got)
		}
	}
	one := []string{
		`mcp_args_get '.s | length'`, `mcp_args_get '.arr[]'`, `mcp_args_require '.arr[]'`, `mcp_meta_get '.|keys'`,
		`mcp_into x mcp_args_get '.a|.b'`,
		`mcp_result_success '[1,2,3]' 5`, `mcp_result_success 'no'`, `mcp_result_error '{"message":{"a":1}}'`,
		`mcp_json_escape $'\xff'`,
		`mcp_json_truncate '[1,2,3]' 5`, `mcp_json_truncate '{"a":[1]}' --array-path .a`,
		`mcp_extract_cli_error '{"error":"e"}'`,
		`mcp_roots_contains ` + dir + `/link/x`, `mcp_path_normalize link/x`,
		`mcp_result_text_with_resource x --path ` + file + ` --path ` + file,
		`mcp_config_load --defaults '{"a":1,"b":[2]}' --file ` + file, `mcp_log info l '"\ud800"'`,
		`MCP_TOOL_ARGS_FILE=` + file + `; mcp_args_get .from`,
		`mcp_ui_form --title T --field a:select:x,y --submit-tool s`, `mcp_ui_table --columns a,b`, debug,
		`mcp_result_image ` + image, `mcp_result_audio ` + image + ` audio/wav`,
	}
	for i, got := range count(t, x, one) {
		if got.execs > 1 || got.forks > 2 {
			t.Errorf("SDK-201: %s started %+v", one[i], got)
		}
	}
	after := []string{`mcp_config_load --defaults '{"a":{"b":1}}'`, `mcp_config_get .a.b`,
		`mcp_into x mcp_config_get .a`, `mcp_config_get .none --default d`}
	for i, got := range count(t, x, after) {
		if i > 0 && got != (processes{}) {
			t.Errorf("SDK-201: %s started %+v", after[i], got)
		}
	}
	// Each of these ends the script, so it runs alone. The fork is the subshell of the part.
	for _, piece := range []string{`(mcp_fail -1 m '{"a":[1]}')`, `(mcp_fail_invalid_args m)`,
		`(mcp_args_require .none)`, `(mcp_args_int .s)`} {
		if got := count(t, x, []string{piece})[0]; got != (processes{forks: 1}) {
			t.Errorf("SDK-200: %s started %+v", piece, got)
		}
	}
	// The count itself is correct.
	if got := count(t, x, []string{`x=$(:)`, `true & wait`, `/bin/true`, `(exec /bin/true)`}); got[0] != (processes{1,
		0}) || got[1] != (processes{1, 0}) || got[2] != (processes{1, 1}) || got[3] != (processes{1, 1}) {
		t.Errorf("counting is wrong: %+v", got)
	}
}
