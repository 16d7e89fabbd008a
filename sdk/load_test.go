package sdk_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mcp-bash/lib"
	"mcp-bash/sdk"
)

// functions are the names in the contract, except those of the UI.
var functions = strings.Fields(`
	mcp_args_raw mcp_meta_raw mcp_args_get mcp_meta_get mcp_args_require mcp_args_bool mcp_args_int
	mcp_json_escape mcp_json_obj mcp_json_arr mcp_json_typed_obj mcp_json_typed_arr mcp_result_image mcp_result_audio mcp_emit_text mcp_emit_json mcp_fail mcp_fail_invalid_args
	mcp_result_success mcp_result_error mcp_error mcp_result_text_with_resource mcp_json_truncate mcp_is_valid_json
	mcp_byte_length mcp_extract_cli_error mcp_detect_cli mcp_progress mcp_is_cancelled mcp_log mcp_log_debug mcp_log_info
	mcp_log_warn mcp_log_error mcp_debug mcp_run_with_progress mcp_with_retry mcp_roots_list mcp_roots_count
	mcp_roots_contains mcp_path_normalize mcp_path_collapse mcp_require_path mcp_elicit mcp_elicit_url mcp_elicit_string
	mcp_elicit_confirm mcp_elicit_choice mcp_elicit_titled_choice mcp_elicit_multi_choice mcp_elicit_titled_multi_choice
	mcp_config_load mcp_config_get mcp_download_safe mcp_download_safe_or_fail mcp_into
	mcp_argv_switch mcp_argv_option mcp_argv_operand mcp_argv_json mcp_argv_progress
	mcp_input_request mcp_input_wait mcp_sample mcp_roots_request
	__mcp_sdk_json_escape __mcp_sdk_warn __mcp_sdk_uint_or_default __mcp_sdk_payload_from_env_vars`)

func TestLoad(t *testing.T) {
	t.Parallel()
	source := `source ` + quoted(sdkDir+"/tool-sdk.sh") + "\n"
	alone := `source ` + quoted(aloneDir+"/tool-sdk.sh") + "\n"
	all := strings.Join(functions, "\n") + "\n"
	define := `for f in ` + strings.Join(functions, " ") + `; do declare -F "$f" || echo "no $f"; done`
	bare := func(env []string, script string) tool { return tool{bare: true, env: env, script: script} }
	check(t, []way{byTable}, []row{
		{"SDK-1", tool{script: define}, out(all), ""},
		{"SDK-5", bare(nil, alone+define), out(all), ""},
		{"SDK-2", bare(nil, `set -uo pipefail; `+source+`false; echo reached`), outcome{rc: 1}, ""},
		{"SDK-2", bare(nil, source+`echo $-; set -o | grep pipefail`), out("ehuB\npipefail       \ton\n"), ""},
		{"SDK-2", bare(nil, source+`set +e; mcp_json_arr 1 >/dev/null; mcp_args_get . >/dev/null; false; echo "$-"`),
			out("huB\n"), ""},
		{"SDK-3", bare([]string{"PATH", "TMPDIR"},
			`set -euo pipefail; unset PATH; `+source+`mcp_json_obj a 'b"'; mcp_args_get keys || echo " $?"`),
			outcome{out: `{"a":"b\""} 1` + "\n",
				err: "mcp_args_get: JSON tooling unavailable; " +
					"use mcp_args_raw instead, or put jq or mcp-bash on PATH\n"}, ""},
		{"SDK-4", tool{args: `{"a":1}`,
			script: `source "$MCP_SDK/tool-sdk.sh"; MCP_PROGRESS_STREAM=changed; source "$MCP_SDK/tool-sdk.sh"; echo ` +
				`"$MCP_PROGRESS_STREAM"; mcp_args_get .a`}, out("changed\n1"), ""},
		{"SDK-4", tool{script: `mcp_args_get() { echo mine; }; source "$MCP_SDK/tool-sdk.sh"; mcp_args_get .`},
			out("{}"), ""},
		{"SDK-4", bare(nil, `mcp_path_normalize() { echo mine; }; mcp_run_with_progress() { echo mine; }; `+source+
			`mcp_path_normalize; mcp_run_with_progress; declare -F mcp_path_collapse || echo none`),
			out("mine\nmine\nnone\n"), ""},
		{"SDK-9", tool{env: []string{"MCP_CANCEL_FILE=c", "MCP_PROGRESS_STREAM=p", "MCP_LOG_STREAM=l",
			"MCP_PROGRESS_TOKEN=t", "MCPBASH_ELICITATION_TIMEOUT=7"},
			script: `echo "$MCP_TOOL_CANCELLATION_FILE $MCP_PROGRESS_STREAM $MCP_LOG_STREAM $MCP_PROGRESS_TOKEN ` +
				`$MCP_ELICIT_DEFAULT_TIMEOUT"`}, out("c p l t 7\n"), ""},
		{"SDK-9", bare(nil, source+
			`echo "[$MCP_TOOL_CANCELLATION_FILE$MCP_PROGRESS_STREAM$MCP_LOG_STREAM$MCP_PROGRESS_TOKEN]`+
			`$MCP_ELICIT_DEFAULT_TIMEOUT"`), out("[]30\n"), ""},
		{"SDK-12", tool{args: `{"a":1}`,
			script: `before=$(env -u _ | cut -d= -f1 | sort); mcp_args_get .a >/dev/null; mcp_args_get '.a|.' >/dev/null; mcp_log_info a b; mcp_error a b >/dev/null
			mcp_config_load --defaults '{"a":1}'; env -u _ | cut -d= -f1 | sort | diff <(echo "$before") - | grep '[<>]' || :`},
			out("> MCP_CONFIG_JSON\n"), ""},
		{"SDK-12", bare(nil, source+`env | grep -c 'MCP' || :`), out("0\n"), ""},
		{"SDK-20", bare(nil, source+`mcp_args_raw; mcp_meta_raw`), outcome{out: "{}{}",
			err: "mcp_args_raw: no arguments were given; " + byHand}, ""},
		{"SDK-5", bare(nil, `cd / && source `+quoted(strings.TrimPrefix(sdkDir,
			"/"))+`/tool-sdk.sh; cd /tmp; mcp_byte_length abc`), out("3\n"), ""},
		{"SDK-5", bare(nil, `cd `+quoted(sdkDir)+` && source tool-sdk.sh; cd /; mcp_path_normalize /a/../b`), out("/b"),
			""},
		{"SDK-5", bare(nil, `cd `+quoted(sdkDir)+`; PATH=$PATH:. ; source tool-sdk.sh; cd /; mcp_byte_length abc`),
			out("3\n"), ""},
		{"SDK-5", bare(nil, `f() { local x=1; `+source+`}; f; f; mcp_byte_length abc; g() { mcp_json_arr "é"; }; g`),
			out("3\n[\"é\"]"), ""},
		{"SDK-5", bare(nil, source+`x=$(mcp_result_success 1); y=$(mcp_byte_length abc); echo "$x $y"`),
			out(`{"content":[{"type":"text","text":"{\"success\":true,\"result\":1}"}],"structuredContent":{"success":true,` +
				`"result":1},"isError":false} 3` + "\n"), ""},
		// Files of the SDK that are read later do not replace functions of the tool.
		{"SDK-4", tool{script: `mcp_log_debug() { echo "mine: $*"; }; mcp_json_obj() { echo mine; }; (mcp_error a b ` +
			`>/dev/null); mcp_error a b; mcp_byte_length abc; mcp_json_obj`},
			out("mine: mcp_error type=a: b\n" + failure("b", `{"type":"a","message":"b"}`).out + "3\nmine\n"), ""},
		// A tool may have read-only variables with names of the SDK.
		{"SDK-190", tool{args: document,
			script: `readonly name=1 value=2 row=3 text=4 path=5 json=6 file=7 key=8 i=9 n=10 rc=11 data=12 message=13; ` +
				`mcp_args_require .s; mcp_args_get '.o|keys' ; mcp_result_success '{"a":"b"}'; mcp_path_normalize /a`},
			out("text" + `["a","b"]` + result(`{"success":true,"result":{"a":"b"}}`,
				`{"success":true,"result":{"a":"b"}}`, false).out + "/a"), ""},
		// The usual way to wrap a function.
		{"SDK-4", tool{script: `eval "original_$(declare -f mcp_byte_length)"; mcp_byte_length() { echo "before"; ` +
			`original_mcp_byte_length "$@"; }; mcp_byte_length abc`}, out("before\n3\n"), ""},
	})
	if bashVersion() >= 400 { // earlier versions of Bash cannot source a pipe
		check(t, []way{byTable}, []row{
			{"SDK-5", bare([]string{"MCP_SDK=" + sdkDir},
				`source <(cat `+quoted(sdkDir+"/tool-sdk.sh")+`); mcp_byte_length abc; mcp_log_info a b; mcp_config_load || echo `+
					`"$MCP_CONFIG_JSON"`), out("3\n{}\n"), ""},
		})
	}
}

// SDK-15: the JSON tool that a tool finds by default.
func TestFindJSONTool(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a/gojq", "b/jq", "b/gojq", "own/bin/mcp-jq"} {
		write(t, filepath.Join(dir, name), "#!/bin/sh\n")
		if err := os.Chmod(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "c/jq"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "d/jq"), "not executable")
	if err := os.CopyFS(filepath.Join(dir, "own/sdk"), sdk.Files); err != nil {
		t.Fatal(err)
	}
	script := `echo "${MCPBASH_JSON_TOOL-none}:${MCPBASH_JSON_TOOL_BIN-none}"; export -p | { while read -r l; do case ` +
		`$l in *JSON_TOOL*) echo exported;; esac; done; }`
	unset := []string{"MCPBASH_JSON_TOOL", "MCPBASH_JSON_TOOL_BIN", "MCPBASH_HELPER_BIN"}
	var rows []row
	for _, c := range []struct {
		env  []string
		want string
	}{
		{[]string{"PATH=" + dir + "/c:" + dir + "/d:" + dir + "/a:" + dir + "/b"}, "jq:" + dir + "/b/jq"},
		{[]string{"PATH=" + dir + "/a"}, "gojq:" + dir + "/a/gojq"},
		{[]string{"PATH=relative"}, "none:none"},
		{[]string{"PATH=relative", "MCPBASH_HELPER_BIN=" + mcpJQ}, "jq:" + mcpJQ},
		{[]string{"PATH=relative", "MCP_SDK=" + dir + "/own/sdk"}, "jq:" + dir + "/own/sdk/../bin/mcp-jq"},
		{[]string{"PATH=" + dir + "/b", "MCPBASH_MODE=minimal"}, "none:none"},
		{[]string{"PATH=" + dir + "/b", "MCPBASH_JSON_TOOL=none"}, "none:none"},
	} {
		rows = append(rows, row{"SDK-15", tool{env: append(append([]string{"MCP_SDK=" + aloneDir}, unset...), c.env...),
			script: script}, out(c.want + "\n"), ""})
	}
	check(t, []way{byProgram}, rows[:len(rows)-1])
	last := rows[len(rows)-1]
	last.want = out("none:none\nexported\n")
	check(t, []way{byProgram}, []row{last})
}

// SDK-13, SDK-15: outside a server, the results and the script's JSON tool do not depend on where our program is.
func TestFindProgram(t *testing.T) {
	t.Parallel()
	const script = `mcp_args_get '.s | length'; mcp_path_normalize .; mcp_result_success '[1,2,3]' 5
"$MCPBASH_JSON_TOOL_BIN" -c '{b:.}' <<<'[1]'; "$MCPBASH_JSON_TOOL_BIN" -e .a <<<'{}' || echo "$MCPBASH_JSON_TOOL $?"`
	for _, c := range []struct{ name, link, tool string }{
		{"the tree's mcp-jq", "bin/mcp-jq", "/sdk/../bin/mcp-jq"},
		{"mcp-bash of the tree", "bin/mcp-bash", "__mcp_own_jq"},
		{"mcp-bash on PATH", "path/mcp-bash", "__mcp_own_jq"},
	} {
		tree := t.TempDir()
		link := filepath.Join(tree, c.link)
		if err := errors.Join(os.CopyFS(filepath.Join(tree, "sdk"), sdk.Files), os.Mkdir(filepath.Dir(link), 0o755),
			os.Symlink(mcpJQ, link),
			os.Mkdir(filepath.Join(tree, "mcp-bash"), 0o755)); err != nil {
			t.Fatal(err)
		}
		x := tool{args: `{"s":"text"}`, script: script + `; echo "$MCPBASH_JSON_TOOL_BIN"`, dir: tree, env: []string{
			"MCP_SDK=" + tree + "/sdk", "MCPBASH_HELPER_BIN", "MCPBASH_JSON_TOOL", "MCPBASH_JSON_TOOL_BIN",
			"PATH=relative:" + tree + ":" + tree + "/path",
		}}
		if strings.HasPrefix(c.tool, "/") {
			c.tool = tree + c.tool
		}
		want := out("4" + tree + result("Success: array with 3 items", `{"success":true,"result":[1,2,3]}`, false).out +
			"{\"b\":[1]}\nnull\njq 1\n" + c.tool + "\n")
		for _, options := range []string{"", "set -f; IFS=", "shopt -s nullglob nocasematch"} {
			x := x
			x.script = options + "\n" + x.script
			if got := x.run(t); got != want {
				t.Errorf("SDK-15 %s: %+v\nwant %+v", c.name, got, want)
			}
		}
	}
}

// SDK-190: settings that the SDK must not change.
func TestSettingsStay(t *testing.T) {
	t.Parallel()
	calls := `
mcp_args_get .s; mcp_args_get '.none // "x"'; mcp_args_get '.arr[0].x' || :; mcp_args_get '.arr | length'; mcp_args_int .n --max 9; mcp_meta_get .a; mcp_args_raw
mcp_json_obj a $'\t"é\\' b "c d"; mcp_json_typed_obj a string 'é"' n number 1.5 j json '[ 1 ]'; mcp_result_image "$HOME"; mcp_emit_json '{"a": "b, c"}'; mcp_result_success '{"a": [1, "x"]}'; mcp_error t m --data '{"b": 1}'; mcp_log warn l 'x'; mcp_progress 5 m
mcp_debug a; mcp_roots_contains / || :; mcp_path_normalize /a/../b; mcp_config_load --defaults '{"a":1}'; mcp_config_get .a; mcp_json_truncate '[1]' 1; mcp_extract_cli_error '{"error":"e"}'
mcp_byte_length x; mcp_is_valid_json '{'  || :; mcp_with_retry 2 0 true; mcp_run_with_progress --pattern x --extract match1 -- true; mcp_into v mcp_args_get .s
mcp_result_text_with_resource x --path "$HOME"; mcp_elicit_confirm m 2>/dev/null || :; mcp_download_safe --url x
mcp_result_with_ui u 'a "b"' '{"a": 1}'; mcp_tool_meta_with_ui u 'a, b'; mcp_ui_form --field a-b:select:x,y | tail -n 1; mcp_sample x || :; mcp_input_request k roots/list; mcp_input_wait || :`
	state := `state() { echo "$#:$*"; printf '%q\n' "${IFS-unset}"; set +o; shopt -p; trap; ulimit -n; umask; pwd; echo "${#probe}"; }
probe=é; trap 'echo e' ERR; trap 'echo u' USR1; set -- one 'two three'
`
	var want string
	for n, setting := range []string{
		":", "IFS=", "IFS=:", "unset IFS", `IFS=$'\n'`, `IFS='"'`, "set -f", "set -C", "shopt -s nocasematch",
		"shopt -s extglob nullglob", "shopt -s failglob", "shopt -s nocaseglob dotglob",
		"shopt -u patsub_replacement 2>/dev/null || :", "set -E", "set -T", "LC_ALL=C", "LC_ALL=C.UTF-8", "LANG=C",
		"unset LANG", "set -o posix", "shopt -s inherit_errexit 2>/dev/null || :",
		"BASH_COMPAT=3.2; shopt -u patsub_replacement 2>/dev/null || :",
	} {
		if testing.Short() && n%3 != 0 {
			continue
		}
		x := tool{args: document, meta: `{"a":"x"}`, script: state + setting + "\nstate \"$@\" >before; {" + calls +
			"\n} >out; state \"$@\" >after; cat out"}
		x.dir = t.TempDir()
		got := x.run(t)
		if got.rc != 0 {
			t.Errorf("SDK-190 %s: %+v", setting, got)
			continue
		}
		if before, after := read(t, x.dir+"/before"), read(t, x.dir+"/after"); before != after {
			t.Errorf("SDK-190 %s: the SDK left\n%s\nwhere was\n%s", setting, after, before)
		}
		if want == "" {
			want = got.out
		} else if got.out != want {
			t.Errorf("SDK-190 %s: other answers:\n%s\nthan\n%s", setting, got.out, want)
		}
	}
}

// SDK-191: syntax of later versions of Bash. Lines that only those versions read are marked.
func TestOnlyOldBash(t *testing.T) {
	t.Parallel()
	later := map[string]*regexp.Regexp{
		"an associative array":    regexp.MustCompile(`\b(declare|local|typeset)\s+-[a-zA-Z]*A`),
		"changing case":           regexp.MustCompile(`\$\{\w+(\[[^\]]*\])?(\^|,)`),
		"mapfile":                 regexp.MustCompile(`\b(mapfile|readarray)\b`),
		"a name reference":        regexp.MustCompile(`\b(declare|local|typeset)\s+-[a-zA-Z]*n`),
		"printf of the time":      regexp.MustCompile(`%\([^)]*\)T`),
		"a variable of the clock": regexp.MustCompile(`\bEPOCH(REALTIME|SECONDS)\b|\bSRANDOM\b`),
		"BASHPID":                 regexp.MustCompile(`\bBASHPID\b|\bBASHOPTS\b|\bBASH_ARGV0\b`),
		"coproc":                  regexp.MustCompile(`\bcoproc\b`),
		"falling through":         regexp.MustCompile(`;;?&`),
		"joined redirection":      regexp.MustCompile(`&>>|\|&`),
		"the end of an array":     regexp.MustCompile(`\[(-\d+)\]|\$\{\w+\[[@*]\]:\s*-`),
		"a test for a variable":   regexp.MustCompile(`\[\[[^\]]*\s-[vR]\s`),
		"a fraction for read":     regexp.MustCompile(`\bread\b[^|;]*-t\s*[\d]*\.`),
		"printf into an element":  regexp.MustCompile(`printf\s+-v\s*['"]?\w+\[`),
		"a named descriptor":      regexp.MustCompile(`\{\w+\}[<>]`),
		"a transformation":        regexp.MustCompile(`\$\{[^}]*@[A-Za-z]\}`),
		"options of a function":   regexp.MustCompile(`\blocal\s+-(\s|$|;)`),
		"waiting for any":         regexp.MustCompile(`\bwait\s+-n\b`),
		"a class in a class":      regexp.MustCompile(`\[[^\s\w]+\[:[^a-z]|\*\[:[^a-z]`),
		"a replacement in quotes": regexp.MustCompile(`"\$\{\w+//[^}]*"[^}]*\}`),
	}
	for _, dir := range []fs.FS{sdk.Files, lib.Files} {
		names, err := fs.Glob(dir, "*.sh")
		if err != nil || len(names) == 0 {
			t.Fatal(err, names)
		}
		for _, name := range names {
			text, err := fs.ReadFile(dir, name)
			if err != nil {
				t.Fatal(err)
			}
			for n, line := range strings.Split(string(text), "\n") {
				if strings.HasPrefix(strings.TrimSpace(line), "#") || strings.Contains(line,
					"Bash 3.2 does not run this line") {
					continue
				}
				for what, pattern := range later {
					if pattern.MatchString(line) {
						t.Errorf("SDK-191: %s:%d: %s: %s", name, n+1, what, line)
					}
				}
			}
		}
	}
	// The replacement must be a word, or a quoted variable.
	replacement := regexp.MustCompile(`\$\{\w+//(?:\\.|\[[^\]]*\]|"[^"]*"|\$'[^']*'|[^/}\\])*/((?:"[^"]*"|\$'[^']*'|` +
		`'[^']*'|\\.|[^}\\])*)\}`)
	harmless := regexp.MustCompile(`^("\$\w+"|[a-z ]?)$`)
	found := 0
	for name, text := range shellFiles(t) {
		for n, line := range strings.Split(text, "\n") {
			for _, m := range replacement.FindAllStringSubmatch(line, -1) {
				found++
				if !harmless.MatchString(m[1]) && m[1] != "_" {
					t.Errorf("SDK-192: %s.sh:%d: %s", name, n+1, line)
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("SDK-192: only %d replacements seen", found)
	}
	// The search itself is correct.
	for _, line := range []string{"declare -A x", "${x^^}", "${x,,}", "mapfile -t a", "local -n r=x", "printf '%(%s)T'",
		"$EPOCHREALTIME", "x & ;& y", "&>> f", "${a[-1]}", "[[ -v x ]]", "read -t 0.1 x", "printf -v 'a[1]' x",
		"exec {fd}<x", "*[{}[:,]*", `"${x//"$a"/b}"`} {
		found := false
		for _, pattern := range later {
			found = found || pattern.MatchString(line)
		}
		if !found {
			t.Errorf("nothing objects to %s", line)
		}
	}
}

// SDK-6, T-65: library files of the Bash edition that tools source.
func TestLibrary(t *testing.T) {
	t.Parallel()
	tree := t.TempDir()
	for sub, files := range map[string]fs.FS{"sdk": sdk.Files, "lib": lib.Files} {
		if err := os.CopyFS(filepath.Join(tree, sub), files); err != nil {
			t.Fatal(err)
		}
	}
	names, _ := fs.Glob(lib.Files, "*.sh")
	if want := "path.sh program.sh progress-passthrough.sh resource_content.sh ui-templates.sh"; strings.Join(names,
		" ") != want {
		t.Errorf("lib holds %v", names)
	}
	env := []string{"MCP_SDK=" + tree + "/sdk", "MCPBASH_HOME=" + tree}
	var rows []row
	for file, call := range map[string]string{
		`"${MCP_SDK}/../lib/path.sh"`:                 `mcp_path_normalize /a/../b; mcp_path_collapse /c/..`,
		`"${MCP_SDK}/../lib/progress-passthrough.sh"`: `mcp_run_with_progress --pattern x --extract match1 -- printf /b/`,
		`"${MCPBASH_HOME}/lib/resource_content.sh"`:   `printf /b; mcp_result_text_with_resource x >/dev/null; printf /`,
	} {
		rows = append(rows,
			row{"SDK-6", tool{bare: true, env: env, script: "source " + file + "; " + call + "; false; echo \" $-\""},
				out("/b/ hB\n"), ""},
			row{"SDK-6", tool{env: env, script: "source " + file + "; " + call}, out("/b/"), ""},
			row{"SDK-6", tool{bare: true, env: env, script: "source " + file + "; source \"$MCP_SDK/tool-sdk.sh\"; " +
				call + `; echo " $-"`}, out("/b/ ehuB\n"), ""},
			row{"SDK-6", tool{bare: true, env: env, script: "cd \"$MCPBASH_HOME/lib\"; source ./" +
				strings.Trim(file[strings.LastIndex(file, "/")+1:], `"`) + "; cd /; " + call}, out("/b/"), ""},
		)
	}
	check(t, []way{byTable}, rows)
}

// SDK-180: a trace contains no payload.
// SDK-133a: the functions that mcp_sdk_load_path_helpers loaded are there after it, also with `set -eu`.
func TestPathHelpers(t *testing.T) {
	t.Parallel()
	got := tool{script: `set -eu; mcp_sdk_load_path_helpers && mcp_path_collapse /a/./b/../c`}.run(t)
	if got.rc != 0 || got.out != "/a/c" {
		t.Errorf("%+v", got)
	}
}

func TestTrace(t *testing.T) {
	t.Parallel()
	const secret = "SECRET-7f3a"
	args := fmt.Sprintf(`{"token":"%[1]s-a","lines":"%[1]s\nb","flag":true,"n":5,"path":"/%[1]s","o":{"k":"%[1]s"},"s":5}`,
		secret)
	dir := t.TempDir()
	for i, file := range []string{"", write(t, filepath.Join(dir, "args"), args)} {
		for _, w := range ways {
			trace := filepath.Join(dir, fmt.Sprintf("trace%d%s", i, w))
			x := tool{way: w, args: args, meta: fmt.Sprintf(`{"client_secret":"%s","lines":"%[1]s\nx"}`, secret),
				env:  []string{"TRACE=" + trace, "MCP_TOOL_ARGS_FILE=" + file, `CFG={"key":"` + secret + `"}`},
				bare: false}
			x.script = `x=1
{ mcp_args_raw; mcp_meta_raw; mcp_args_get .token; mcp_args_get .; mcp_args_get '.lines // "d"'; mcp_args_get '.token, .s.x' || :; mcp_args_get '.o|.k'; mcp_args_get .s.x --default d || :
mcp_meta_get .client_secret; mcp_meta_get '.|keys'; mcp_meta_get .; mcp_args_require .token; mcp_args_bool .flag; mcp_args_bool .token; mcp_args_int .n --max 9; mcp_require_path .path
( mcp_args_int .token ) || :; ( mcp_args_require .nope ) || :; mcp_into hidden mcp_args_get .token; mcp_into hidden2 mcp_args_get '.o|.k'
mcp_config_load --env CFG; mcp_config_get .key; mcp_config_get '.key|.'; mcp_into hidden3 mcp_config_get .key; __mcp_sdk_payload_from_env_vars MCP_TOOL_ARGS_JSON MCP_TOOL_ARGS_FILE '{}'; mcp_json_arr public; mcp_byte_length 1
} >/dev/null 2>errors
case $- in *x*) echo still tracing ;; esac`
			x.dir = t.TempDir()
			cmd := x.command(t)
			// The server traces scripts from their first line.
			text := read(t, cmd.Args[1])
			write(t, cmd.Args[1], "exec 7>\"$TRACE\"; BASH_XTRACEFD=7; PS4='+ '; set -x\n"+text)
			got := runCommand(t, cmd)
			text = read(t, trace)
			if bashVersion() < 401 { // without BASH_XTRACEFD, Bash traces to standard error (T-260)
				text, got.err = got.err+read(t, x.dir+"/errors"), ""
			}
			if got != out("still tracing\n") {
				t.Fatalf("SDK-180 %s: %+v %s", w, got, read(t, x.dir+"/errors"))
			}
			for _, name := range []string{"mcp_args_get .token", "mcp_meta_get .client_secret",
				"mcp_args_require .token", "mcp_config_get .key", "mcp_into hidden mcp_args_get",
				"mcp_json_arr public"} {
				if !strings.Contains(text, name) {
					t.Errorf("SDK-180 %s: the trace lacks %s", w, name)
				}
			}
			for line := range strings.Lines(text) {
				if strings.Contains(line, secret) {
					t.Errorf("SDK-180 %s: leaked: %s", w, line)
				}
			}
		}
	}
}
