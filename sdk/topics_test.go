package sdk_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mcp-bash/sdk"
)

// sdkFile is the file that tools source. All other files except ui-sdk.sh are topics.
const sdkFile = "tool-sdk"

// shellFiles returns the files of the SDK, by their names without ".sh".
func shellFiles(t *testing.T) map[string]string {
	t.Helper()
	names, err := fs.Glob(sdk.Files, "*.sh")
	if err != nil || len(names) < 3 {
		t.Fatal(err, names)
	}
	files := map[string]string{}
	for _, name := range names {
		text, err := fs.ReadFile(sdk.Files, name)
		if err != nil {
			t.Fatal(err)
		}
		files[strings.TrimSuffix(name, ".sh")] = string(text)
	}
	return files
}

var (
	comment  = regexp.MustCompile(`(?m)(^|[ \t])#( .*)?$`)
	function = regexp.MustCompile(`(?m)^\s*(?:declare -F \w+ \|\| )?(\w+)\(\) \{`)
	variable = regexp.MustCompile(`(?m)^(__mcp_\w+)=`)
	name     = regexp.MustCompile(`__mcp_\w+`)
	stub     = regexp.MustCompile(`__mcp_(?:call ([\w-]+)|load ([\w-]+);) (__mcp_\w+)`)
	loads    = regexp.MustCompile(`(?m)^([ \t]*).*?__mcp_load ([\w-]+(?: [\w-]+)*)`)
)

// misplaced returns faults in the division of the SDK into files: functions in the wrong file, and missing loads.
func misplaced(files map[string]string) (wrong []string) {
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	// of functions and of variables that are set at load time
	home := map[string]string{}
	always, all := map[string][]string{}, map[string][]string{} // loaded files, at load time and in all
	code := map[string]string{}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		code[file] = comment.ReplaceAllString(files[file], "")
		for _, m := range append(function.FindAllStringSubmatch(code[file], -1),
			variable.FindAllStringSubmatch(code[file], -1)...) {
			if other, ok := home[m[1]]; ok && other != file {
				complain("%s is defined in %s.sh and in %s.sh", m[1], other, file)
			}
			home[m[1]] = file
		}
		for _, m := range loads.FindAllStringSubmatch(code[file], -1) {
			all[file] = append(all[file], strings.Fields(m[2])...)
			if m[1] == "" {
				always[file] = append(always[file], strings.Fields(m[2])...)
			}
		}
	}
	called := map[string]bool{} // topics whose functions __mcp_call runs
	for _, m := range stub.FindAllStringSubmatch(code[sdkFile], -1) {
		called[m[1]] = true
		if topic := m[1] + m[2]; home[m[3]] != topic {
			complain("%s.sh has no %s", topic, m[3])
		}
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if file == sdkFile {
			continue
		}
		there := map[string]bool{file: true, sdkFile: true}
		var reach func(topics []string)
		reach = func(topics []string) {
			for _, topic := range topics {
				if there[topic] = true; files[topic] == "" {
					complain("%s.sh loads %s.sh, which is not there", file, topic)
				}
				reach(always[topic])
			}
		}
		reach(always[file])
		if called[file] && !there["common"] {
			complain("%s.sh does not load common.sh, which has __mcp_run", file)
		}
		reach(all[file])
		used := map[string]bool{}
		for _, at := range name.FindAllStringIndex(code[file], -1) {
			word, rest := code[file][at[0]:at[1]], code[file][at[1]:]
			where, ok := home[word]
			if used[where] = true; ok && !there[where] && !strings.HasPrefix(rest, "=") && code[file][at[0]-1] != '$' {
				complain("%s.sh uses %s without loading %s.sh", file, word, where)
			}
		}
		for _, topic := range all[file] {
			if !used[topic] && topic != "common" {
				complain("%s.sh loads %s.sh for nothing", file, topic)
			}
		}
	}
	return wrong
}

// SDK-6: each function is in its expected file, and each file loads the files that it needs.
func TestTopics(t *testing.T) {
	t.Parallel()
	files := shellFiles(t)
	for _, wrong := range misplaced(files) {
		t.Error(wrong)
	}
	// The check itself is correct.
	for _, c := range []struct{ file, old, new, want string }{
		{"json", "__mcp_load common utf8", "__mcp_load common", "json.sh uses __mcp_is_utf8 without loading utf8.sh"},
		{"progress", "__mcp_progress()", "__mcp_other()", "progress.sh has no __mcp_progress"},
		{sdkFile, "__mcp_load retry; ", "__mcp_load cli; ", "cli.sh has no __mcp_with_retry"},
		{"retry", "__mcp_load numbers", "__mcp_load numbers json", "retry.sh loads json.sh for nothing"},
		{"ui", "__mcp_load common\n", "", "ui.sh does not load common.sh, which has __mcp_run"},
		{"log", "__mcp_log_line()", "__mcp_fail()", "__mcp_fail is defined in errors.sh and in log.sh"},
	} {
		changed := maps.Clone(files)
		changed[c.file] = strings.ReplaceAll(files[c.file], c.old, c.new)
		if got := misplaced(changed); !slices.Contains(got, c.want) {
			t.Errorf("%s: %q", c.want, got)
		}
	}
}

// SDK-6: every file can be loaded first, and prints nothing.
func TestEachTopicFirst(t *testing.T) {
	t.Parallel()
	script := "shopt -s extglob\n"
	for file := range shellFiles(t) {
		if file != sdkFile && file != "ui-sdk" {
			script += "(__mcp_load " + file + "; [[ $- == *e*u* ]] || echo changed)\n"
		}
	}
	for _, options := range []string{"", "IFS=:", "set -f; shopt -s nocasematch", "shopt -s failglob", "set -o posix",
		"set -C"} {
		if got := (tool{script: options + "\n" + script}).run(t); got != out("") {
			t.Errorf("SDK-6 %s: %+v", options, got)
		}
	}
}

// SDK-5: a missing file of the SDK.
func TestMissingFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := read(t, "tool-sdk.sh")
	some := filepath.Join(dir, "some") // without json.sh, and with a directory for log.sh
	if err := os.CopyFS(some, sdk.Files); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"json.sh", "log.sh"} {
		if err := os.Remove(filepath.Join(some, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(some, "log.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	alone := filepath.Join(dir, "alone")
	write(t, filepath.Join(alone, "tool-sdk.sh"), text)
	ends := func(file string) outcome {
		return outcome{rc: 1, err: "tool-sdk: cannot read " + file +
			", a part of the SDK: copy the whole directory sdk, not tool-sdk.sh alone\n"}
	}
	in := func(dir, script string, env ...string) tool {
		return tool{args: `{"s":"text"}`, env: append([]string{"MCP_SDK=" + dir}, env...), script: script}
	}
	source := `source ` + quoted(alone+"/tool-sdk.sh") + "\n"
	check(t, []way{byTable}, []row{
		{"SDK-5", in(some, `mcp_result_success 1 || :; echo reached`), ends(some + "/json.sh"), ""},
		{"SDK-5", in(some, `set +e; x=$(mcp_is_valid_json 1) || exit; echo reached`), ends(some + "/json.sh"), ""},
		{"SDK-5", in(some, `mcp_log_info a b`), ends(some + "/log.sh"), ""},
		{"SDK-5", in(some, `mcp_args_get .s; mcp_path_normalize /a/../b`), out("text/b"), ""},
		// tool-sdk.sh alone: its own functions work, and the others if a server provides the SDK.
		{"SDK-5", in(alone, `mcp_args_get .s; mcp_json_obj a b; mcp_emit_text c`), out(`text{"a":"b"}c`), ""},
		{"SDK-5", in(alone, `mcp_progress 5`), ends(alone + "/common.sh"), ""},
		{"SDK-5", tool{bare: true, script: source + `echo reached`}, ends(alone + "/program.sh"), ""},
		{"SDK-5", tool{bare: true, env: []string{"MCP_SDK=" + sdkDir}, script: source + `mcp_byte_length abc`},
			out("3\n"), ""},
	})
}
