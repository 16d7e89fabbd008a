package sdk_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/pkg/json/rawjson"
)

func TestBuilders(t *testing.T) {
	t.Parallel()
	check(t, ways, []row{
		{"SDK-40", tool{script: `mcp_json_escape 'a"b'; mcp_json_escape; mcp_json_escape ''`}, out(`"a\"b"""""`), ""},
		{"SDK-41", tool{script: `mcp_json_obj message 'Hello "World"' count 42`},
			out(`{"message":"Hello \"World\"","count":"42"}`), ""},
		{"SDK-41", tool{script: `mcp_json_obj; mcp_json_obj a ''; mcp_json_obj a 1 a 2`},
			out(`{}{"a":""}{"a":"1","a":"2"}`), ""},
		{"SDK-41", tool{script: `mcp_json_obj a b c; echo reached`},
			outcome{rc: 1, err: "mcp_json_obj: expected even number of arguments (key value ...), got 3\n"}, ""},
		{"SDK-42", tool{script: `mcp_json_arr one two ''; mcp_json_arr`}, out(`["one","two",""][]`), ""},
		{"SDK-43", tool{env: []string{"MCPBASH_MODE=minimal"},
			script: `mcp_json_obj $'k\001' $'\b\f\037\177\t\r\n\\"'`}, out(`{"k\u0001":"\b\f\u001f\u007f\t\r\n\\\""}`),
			""},
		{"SDK-18", tool{script: `mcp_json_escape ` + bashWord("/<>&\u2028é☃😀")}, out("\"/<>&\u2028é☃😀\""), ""},
		{"SDK-18", tool{script: `mcp_json_arr $'a\xff' $'\xc3(' $'\xe2\x82' $'\xed\xa0\x80' $'\xf5\x80' $'\xc0\xaf'`},
			out("[\"a\uFFFD\",\"\uFFFD(\",\"\uFFFD\uFFFD\",\"\uFFFD\uFFFD\uFFFD\",\"\uFFFD\uFFFD\",\"\uFFFD\uFFFD\"]"),
			""},
		{"SDK-18", tool{env: []string{"MCPBASH_MODE=minimal"},
			script: `mcp_json_escape $'é\xff☃\xe2\x82😀\xf0\x9f\x98'`},
			out("\"é\uFFFD☃\uFFFD\uFFFD😀\uFFFD\uFFFD\uFFFD\""), ""},
		{"SDK-7", tool{script: `__mcp_sdk_json_escape 'a"b'; __mcp_sdk_warn 'to stderr'`},
			outcome{out: `"a\"b"`, err: "to stderr\n"}, ""},
	})
}

// hostile are strings with special characters (SDK-44, SDK-211).
var hostile = []string{
	"", " ", "--arg", "-n", "-e", "--", "%s", "%d\\n", "$(x)", "`x`", "*", "?", "[a-z]", "~", "&", "a & b", "\\n", "\\",
	"\\\\", "\\\\n", "a\\",
	"'", "\"", "\"\"", "\\\"", "\n", "\n\n", "a\n", "\na", "\t", "\r\n", "\x01", "\x7f", "\x02\x03", "\x1b[0m", "é",
	"☃", "😀", "\u2028", "\uFEFF",
	"a\n.name\tsX", ".name\tsX", "null", "true", "{}", "[1,2]", "{\"a\":1}", ",", ":", " : ", ", ", "v,v", "kv",
	"${HOME}", "$HOME", "!", "#", "a#b", "=", "a=b",
	"|", ";", "<", ">", "/", "//", "x // y", "'\"'\"'", "\\u0041", "\\x41", "\x0b\x0c\x08",
	strings.Repeat("ä\"\\\n", 300), strings.Repeat("😀\"\x01é", 600), strings.Repeat("long ", 4000),
}

// SDK-40 to SDK-44: values come out unchanged.
func TestHostileStrings(t *testing.T) {
	t.Parallel()
	var words strings.Builder
	for _, s := range hostile {
		words.WriteString(" " + bashWord(s))
	}
	for _, env := range [][]string{nil, {"MCPBASH_MODE=minimal"}, {"LANG=C"}, {"LC_ALL=C"}, {"LC_ALL=C.UTF-8"},
		{"LC_ALL=no_SUCH.locale", "LANG"}} {
		for _, options := range []string{":", "set -f; IFS=", "IFS=:,\\\"; shopt -s nocasematch extglob nullglob"} {
			t.Run(strings.Join(env, " ")+" "+options, func(t *testing.T) {
				t.Parallel()
				x := tool{env: env, script: "set --" + words.String() + "\n" + options + `
mcp_json_arr "$@"; printf '\n'
mcp_json_obj "$@" "$@"; printf '\n'
for s; do mcp_json_escape "$s"; printf '\n'; done
for s; do mcp_emit_text "$s"; printf '\0'; done`}
				got := x.run(t)
				if got.rc != 0 || strings.ReplaceAll(got.err, localeWarning(env), "") != "" {
					t.Fatalf("%+v", got)
				}
				lines := strings.SplitN(got.out, "\n", len(hostile)+3)
				var list []string
				if err := json.Unmarshal([]byte(lines[0]), &list); err != nil {
					t.Fatal(err)
				}
				for i, s := range hostile {
					if list[i] != s {
						t.Errorf("mcp_json_arr: %q became %q", s, list[i])
					}
					if want := string(rawjson.Quote(s)); lines[i+2] != want {
						t.Errorf("mcp_json_escape %q: %s, want %s", s, lines[i+2], want)
					}
				}
				n := 0
				for name, value := range rawjson.All([]byte(lines[1])) {
					text, _ := rawjson.Text(value)
					if want := hostile[(2*n)%len(hostile)]; name != want || text != hostile[(2*n+1)%len(hostile)] {
						t.Errorf("mcp_json_obj: %q: %q", name, text)
					}
					n++
				}
				if n != len(hostile) {
					t.Errorf("mcp_json_obj: %d members", n)
				}
				if raw := strings.Split(lines[len(hostile)+2], "\x00"); len(raw) != len(hostile)+1 ||
					strings.Join(raw, "|") != strings.Join(hostile, "|")+"|" {
					t.Errorf("SDK-50: mcp_emit_text changed something")
				}
			})
		}
	}
}

// localeWarning returns the warning of Bash about a missing locale.
func localeWarning(env []string) string {
	for _, setting := range env {
		if setting == "LC_ALL=no_SUCH.locale" {
			return fmt.Sprintf("%s: warning: setlocale: LC_ALL: cannot change locale (no_SUCH.locale)\n", bash())
		}
	}
	return ""
}

// bashWord quotes any text for Bash.
func bashWord(s string) string {
	var b strings.Builder
	b.WriteString("$'")
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, "\\x%02x", c)
	}
	return b.String() + "'"
}

func TestEmit(t *testing.T) {
	t.Parallel()
	var rows []row
	for _, c := range []struct{ clause, script, want string }{
		{"SDK-50", `mcp_emit_text $'a\n'; mcp_emit_text '%s\n'`, "a\n%s\\n"},
		{"SDK-53", `mcp_emit_text`, ""},
		{"SDK-51", `mcp_emit_json '{ "b" : 1, "a": [1] }'`, `{"b":1,"a":[1]}`},
		{"SDK-51", `mcp_emit_json '{"a":"b c, d: e","f":[1,"\" x"]}'`, `{"a":"b c, d: e","f":[1,"\" x"]}`},
		{"SDK-51", `mcp_emit_json $'\n{"a":\t"x, y" ,\r\n"b":[ ]}\n'`, `{"a":"x, y","b":[]}`},
		{"SDK-51", `mcp_emit_json ' false '; mcp_emit_json ' "a b" '; mcp_emit_json 5`, `false"a b"5`},
		{"SDK-51", `mcp_emit_json '{"a":"He said \"x\"","b":[],"c":{},"d":"","e":"\\"}'`,
			`{"a":"He said \"x\"","b":[],"c":{},"d":"","e":"\\"}`},
		{"SDK-51", `MCPBASH_MODE=minimal; mcp_emit_json '{ "b" : 1 }'; mcp_emit_json no`, `{ "b" : 1 }no`},
	} {
		rows = append(rows, row{c.clause, tool{script: c.script}, out(c.want), ""})
	}
	// Output that is not JSON is printed unchanged, with a warning on standard error.
	const says = "mcp_emit_json: not one JSON value, so the client gets text; " +
		"mcp_json_typed_obj writes JSON whatever the values hold: "
	for _, text := range []string{
		"", "no, JSON", "plain", "05", `{"a":1`, `{"a": 1} x`, `{"a": 1} {"b": 2}`, `{"a":1}{"b":2}x`,
		`{"said":"He said "x""}`, `{"a":"x"y}`, `{"n":}`, `{"n":,"m":1}`, `[1,]`, "{\"a\": \"line\nline\"}",
	} {
		want := outcome{out: text, err: says + strings.ReplaceAll(text, "\n", " ") + "\n"}
		rows = append(rows, row{"SDK-51", tool{script: `mcp_emit_json ` + quoted(text)}, want, ""})
	}
	rows = append(rows, row{"SDK-53", tool{script: `mcp_emit_json`}, outcome{err: says + "\n"}, ""})
	check(t, ways, rows)
	big := `{ "text" : "` + strings.Repeat("x, ", 20000) + `" }`
	check(t, ways, []row{{"SDK-212", tool{args: "{}", script: "mcp_emit_json " + quoted(big)},
		out(strings.ReplaceAll(strings.ReplaceAll(big, `{ "text" : `, `{"text":`), ` }`, `}`)), ""}})
}

func TestFail(t *testing.T) {
	t.Parallel()
	line := func(code, message, data string) outcome {
		return outcome{out: `{"code":` + code + `,"message":` + string(rawjson.Quote(message)) + `,"data":` + data +
			"}\n", err: message + "\n", rc: 1}
	}
	minimal := []string{"MCPBASH_MODE=minimal"}
	check(t, ways, []row{
		{"SDK-60", tool{script: `mcp_fail -32001 'boom "q"' '{"a":1}'; echo reached`},
			line("-32001", `boom "q"`, `{"a":1}`), ""},
		{"SDK-61", tool{script: `mcp_fail abc m`}, line("-32603", "m", "null"), ""},
		{"SDK-61", tool{script: `mcp_fail 1.5 m`}, line("-32603", "m", "null"), ""},
		{"SDK-61", tool{script: `mcp_fail '' m`}, line("-32603", "m", "null"), ""},
		{"SDK-61", tool{script: `mcp_fail`}, line("-32603", "Tool failed", "null"), ""},
		{"SDK-61", tool{script: `mcp_fail +5`}, line("5", "Tool failed", "null"), ""},
		{"SDK-61", tool{script: `mcp_fail -0032 m`}, line("-32", "m", "null"), ""},
		{"SDK-61", tool{script: `mcp_fail 007 m`}, line("7", "m", "null"), ""},
		{"SDK-62", tool{script: `mcp_fail -1 m '{ "a" : [ 1 , {"b":"c d"} ] }'`},
			line("-1", "m", `{"a":[1,{"b":"c d"}]}`), ""},
		{"SDK-62", tool{script: `mcp_fail -1 m 'no JSON'`}, line("-1", "m", "null"), ""},
		{"SDK-62", tool{script: `mcp_fail -1 m '1 2'`}, line("-1", "m", "null"), ""},
		{"SDK-62", tool{script: `mcp_fail -1 m '"\ud800"'`}, line("-1", "m", "\"\uFFFD\""), ""},
		{"SDK-62", tool{env: minimal, script: `mcp_fail -1 m '{"a": 1}'`}, line("-1", "m", `{"a": 1}`), ""},
		{"SDK-65", tool{env: minimal, script: `mcp_fail -1 $'a\nb'`}, line("-1", "a\nb", "null"), ""},
		{"SDK-63", tool{script: `mcp_fail_invalid_args`}, line("-32602", "Invalid params", "null"), ""},
		{"SDK-63", tool{script: `mcp_fail_invalid_args 'bad x' '{"x":1}'`}, line("-32602", "bad x", `{"x":1}`), ""},
		{"SDK-60", tool{env: []string{"MCP_TOOL_ERROR_FILE=" + absentDir + "/x"}, script: `mcp_fail -1 m`},
			line("-1", "m", "null"), ""},
	})
	file := write(t, filepath.Join(t.TempDir(), "error"),
		"something longer that stood there before, and more and more and more and more")
	got := tool{env: []string{"MCP_TOOL_ERROR_FILE=" + file},
		script: `set -C; trap 'echo trap' EXIT; mcp_fail -5 m`}.run(t)
	if want := line("-5", "m", "null"); got.out != want.out+"trap\n" || read(t, file) != want.out {
		t.Errorf("SDK-60: %+v, error file %q", got, read(t, file))
	}
}

// result returns the line of a CallToolResult with one text.
func result(text, structured string, isError bool) outcome {
	return out(fmt.Sprintf(`{"content":[{"type":"text","text":%s}],"structuredContent":%s,"isError":%t}`+"\n",
		rawjson.Quote(text), structured, isError))
}

func failure(text, problem string) outcome {
	return result(text, `{"success":false,"error":`+problem+`}`, true)
}

func internal(message string) outcome {
	return failure(message, `{"type":"internal_error","message":`+string(rawjson.Quote(message))+`}`)
}

func TestResultSuccess(t *testing.T) {
	t.Parallel()
	success := func(data string) outcome {
		all := `{"success":true,"result":` + data + `}`
		return result(all, all, false)
	}
	summary := func(data, text string) outcome { return result(text, `{"success":true,"result":`+data+`}`, false) }
	long := strings.Repeat("aé", 80)
	several := func(n int) outcome {
		return failure("Error: input must be single JSON value",
			fmt.Sprintf(`{"type":"internal_error","message":"Input contained multiple JSON values","count":%d}`, n))
	}
	var rows []row
	for _, data := range []string{`{"foo":"bar"}`, `false`, `null`, `[]`, `"s"`, `12345678901234567890`, `{"result":1}`,
		`{"a":{"b":[{},[null,"x\\y\"z\n"]]}}`, `"\u0001"`} {
		rows = append(rows, row{"SDK-70", tool{script: "mcp_result_success " + quoted(data)}, success(data), ""})
	}
	rows = append(rows, []row{
		{"SDK-70", tool{script: `mcp_result_success '{ "a" : [1, 2] }'`}, success(`{"a":[1,2]}`), ""},
		{"SDK-70", tool{script: `mcp_result_success '[1,2,3]' 10`}, summary("[1,2,3]", "Success: array with 3 items"),
			""},
		{"SDK-70", tool{script: `mcp_result_success '{"a":1}' 10`}, summary(`{"a":1}`, "Success: object with 1 keys"),
			""},
		{"SDK-70", tool{script: `mcp_result_success null 5`}, summary("null", "Success: null"), ""},
		{"SDK-70", tool{script: "mcp_result_success '\"" + long + "\"' 5"},
			summary(`"`+long+`"`, "Success: "+strings.Repeat("aé", 50)), ""},
		{"SDK-70", tool{script: `mcp_result_success '"é"' 30`}, success(`"é"`), ""},
		{"SDK-70", tool{script: `mcp_result_success '"é"' 29`}, summary(`"é"`, "Success: é"), ""},
		{"SDK-70", tool{env: []string{"MCPBASH_MAX_TEXT_BYTES=5"}, script: `mcp_result_success '[1]'`},
			summary("[1]", "Success: array with 1 items"), ""},
		{"SDK-70", tool{env: []string{"MCPBASH_MAX_TEXT_BYTES=5"}, script: `mcp_result_success '[1]' ' 50 '`},
			success("[1]"), ""},
		{"SDK-70", tool{env: []string{"MCPBASH_MAX_TEXT_BYTES=many"}, script: `mcp_result_success '[1]' x`},
			success("[1]"), ""},
		{"SDK-70", tool{script: `mcp_result_success '[1]' 99999999999999999999`}, success("[1]"), ""},
		{"SDK-70", tool{script: `(mcp_result_success ''); mcp_result_success`},
			out(internal("Empty data passed to mcp_result_success").out +
				internal("Empty data passed to mcp_result_success").out), ""},
		{"SDK-70", tool{script: `mcp_result_success 'not JSON'`}, internal("Invalid JSON passed to mcp_result_success"),
			""},
		{"SDK-70", tool{script: `mcp_result_success '1 2 3'`}, several(3), ""},
		{"SDK-70", tool{script: `mcp_result_success '  '`}, several(0), ""},
		{"SDK-185", tool{env: []string{"MCPBASH_MODE=minimal"}, script: `mcp_result_success '{"a": 1}'`},
			success(`{"a": 1}`), ""},
		{"SDK-185", tool{env: []string{"MCPBASH_MODE=minimal"}, script: `mcp_result_success '{"a": 1}' 5`},
			summary(`{"a": 1}`, "Success: response too large for text content"), ""},
	}...)
	check(t, ways, rows)
}

func TestResultError(t *testing.T) {
	t.Parallel()
	minimal := []string{"MCPBASH_MODE=minimal"}
	check(t, ways, []row{
		{"SDK-71", tool{script: `mcp_result_error '{"type":"not_found","message":"User not found"}'`},
			failure("User not found", `{"type":"not_found","message":"User not found"}`), ""},
		{"SDK-71", tool{script: `mcp_result_error '{"message":"m"}'`},
			failure("m", `{"message":"m","type":"internal_error"}`), ""},
		{"SDK-71", tool{script: `mcp_result_error '{"type":null,"message":false,"x":1}'`},
			failure("Unknown error", `{"type":"internal_error","message":"Unknown error","x":1}`), ""},
		{"SDK-71", tool{script: `mcp_result_error '{"x":1}'`}, failure("Unknown error",
			`{"x":1,"type":"internal_error","message":"Unknown error"}`), ""},
		{"SDK-71", tool{script: `mcp_result_error '{"type":"t","message":42}'`},
			failure("42", `{"type":"t","message":42}`), ""},
		{"SDK-71", tool{script: `mcp_result_error '{"type":"t","message":{"a":[1]}}'`},
			failure(`{"a":[1]}`, `{"type":"t","message":{"a":[1]}}`), ""},
		{"SDK-71", tool{script: `mcp_result_error '{"type":"t","message":"a \"b\" \\ c\n","data":{"x":["y"]}}'`},
			failure("a \"b\" \\ c\n", `{"type":"t","message":"a \"b\" \\ c\n","data":{"x":["y"]}}`), ""},
		{"SDK-71", tool{script: `mcp_result_error '{"type":"t","message":"a \"b\" \\ c\n","n":true}'`},
			failure("a \"b\" \\ c\n", `{"type":"t","message":"a \"b\" \\ c\n","n":true}`), ""},
		{"SDK-71", tool{script: `mcp_result_error '{"type":"null","message":"false"}'`},
			failure("false", `{"type":"null","message":"false"}`), ""},
		{"SDK-71", tool{script: `mcp_result_error ''`}, internal("Unknown error (empty error object)"), ""},
		{"SDK-71", tool{script: `mcp_result_error 'nope "x"'`}, failure("Invalid error JSON passed to mcp_result_error",
			`{"type":"internal_error","message":"Invalid error JSON passed to mcp_result_error","raw":"nope \"x\""}`),
			""},
		{"SDK-71", tool{script: `mcp_result_error '"text"'`}, failure("Error payload must be an object",
			`{"type":"internal_error","message":"Error payload must be an object","raw":"text"}`), ""},
		{"SDK-71", tool{script: `mcp_result_error '[1, 2]'`}, failure("Error payload must be an object",
			`{"type":"internal_error","message":"Error payload must be an object","raw":"[1,2]"}`), ""},
		{"SDK-71", tool{script: `mcp_result_error '{} {}'`}, failure("Error payload must be single JSON value",
			`{"type":"internal_error","message":"Error payload must be single JSON value","raw":"multiple values: 2"}`),
			""},
		{"SDK-71", tool{script: `mcp_result_error ' '`}, failure("Error payload must be single JSON value",
			`{"type":"internal_error","message":"Error payload must be single JSON value","raw":"multiple values: 0"}`),
			""},
		{"SDK-185", tool{env: minimal, script: `mcp_result_error '{"type":"t","message":"m \"q\"","d":{}}'`},
			failure(`m "q"`, `{"type":"internal_error","message":"m \"q\"","raw":"{\"type\":\"t\",\"message\":\"m \\\"q\\\"\",`+
				`\"d\":{}}"}`), ""},
		{"SDK-185", tool{env: minimal, script: `mcp_result_error 'no'`},
			failure("Unknown error", `{"type":"internal_error","message":"Unknown error","raw":"no"}`), ""},
	})
}

func TestError(t *testing.T) {
	t.Parallel()
	minimal := []string{"MCPBASH_MODE=minimal"}
	check(t, ways, []row{
		{"SDK-75", tool{script: `mcp_error validation_error 'bad "x"' --hint 'use y' --data '{"a": [1]}'`},
			failure(`bad "x"`, `{"type":"validation_error","message":"bad \"x\"","hint":"use y","data":{"a":[1]}}`),
			""},
		{"SDK-75", tool{script: `mcp_error`}, failure("Unknown error",
			`{"type":"internal_error","message":"Unknown error"}`), ""},
		{"SDK-75", tool{script: `mcp_error '' '' --hint '' --data ''`},
			failure("Unknown error", `{"type":"internal_error","message":"Unknown error"}`), ""},
		{"SDK-75", tool{script: `mcp_error t m --data null`}, failure("m", `{"type":"t","message":"m"}`), ""},
		{"SDK-75", tool{script: `mcp_error t m --data false`}, failure("m", `{"type":"t","message":"m","data":false}`),
			""},
		{"SDK-75", tool{script: `mcp_error t m --data 'no "JSON"'`}, failure("m",
			`{"type":"t","message":"m","data":{"_invalid_json":"no \"JSON\""}}`), ""},
		{"SDK-75", tool{script: `mcp_error t m --data '1 2'`}, failure("m",
			`{"type":"t","message":"m","data":{"_invalid_json":"1 2"}}`), ""},
		{"SDK-75", tool{script: `mcp_error t m word --hint`}, failure("m", `{"type":"t","message":"m"}`), ""},
		{"SDK-75", tool{script: `mcp_error t m --bogus --data 1 --hint h`},
			failure("m", `{"type":"t","message":"m","hint":"h","data":1}`), ""},
		{"SDK-185", tool{env: minimal, script: `mcp_error validation_error m --hint h --data '{"a": 1}'`},
			failure("m", `{"type":"internal_error","message":"m","raw":"{\"type\":\"validation_error\",\"message\":\"m\",`+
				`\"hint\":\"h\",\"data\":{\"a\": 1}}"}`), ""},
		{"SDK-76", tool{env: []string{"MCP_LOG_STREAM=/dev/fd/1"}, script: `mcp_error t 'the message' --hint h`},
			out(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"debug","logger":"mcp_error",` +
				`"data":"type=t: the message"}}` + "\n" +
				`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"mcp_error",` +
				`"data":"type=t hint: the message"}}` + "\n" +
				failure("the message", `{"type":"t","message":"the message","hint":"h"}`).out), ""},
	})
}

func TestResources(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.txt"), "text")
	write(t, filepath.Join(dir, "plain"), "text é")
	write(t, filepath.Join(dir, "x.json"), "{}")
	write(t, filepath.Join(dir, "page.HTML"), "<p>")
	write(t, filepath.Join(dir, "empty.png"), "")
	write(t, filepath.Join(dir, "pic"), "\x89PNG\r\n\x1a\n\x00\x00")
	write(t, filepath.Join(dir, "bin"), "\x00\x01")
	write(t, filepath.Join(dir, `odd "name"`), "x")
	success := `{"success":true,"result":"Report ready"}`
	ok := result(success, success, false).out
	stream := filepath.Join(dir, "log")
	run := func(script string, w way, env ...string) (outcome, string) {
		file := write(t, filepath.Join(t.TempDir(), "resources"), "untouched")
		got := tool{way: w, dir: dir, script: script, env: append([]string{"MCP_TOOL_RESOURCES_FILE=" + file},
			env...)}.run(t)
		return got, read(t, file)
	}
	for _, c := range []struct{ clause, flags, want string }{
		{"SDK-82", ``, `untouched`},
		{"SDK-82", `--path a.txt --mime text/x --uri 'u:"x"' --path bin --mime application/octet-stream`,
			`[{"path":"a.txt","mimeType":"text/x","uri":"u:\"x\""},{"path":"bin","mimeType":"application/octet-stream",` +
				`"uri":null}]`},
		{"SDK-81", `--mime lost --uri lost --path a.txt --mime one --mime two`,
			`[{"path":"a.txt","mimeType":"two","uri":null}]`},
		{"SDK-82", `--path ''`, `[]`},
		{"SDK-82", `--path`, `[]`},
		{"SDK-83", `--path none --path . --path a.txt --mime m --bogus`,
			`[{"path":"a.txt","mimeType":"m","uri":null}]`},
		{"SDK-82", `--path a.txt --mime m --path 'odd "name"' --mime m`,
			`[{"path":"a.txt","mimeType":"m","uri":null},{"path":"odd \"name\"","mimeType":"m","uri":null}]`},
	} {
		for _, w := range ways {
			if got, file := run("mcp_result_text_with_resource 'Report ready' "+c.flags, w); got != out(ok) ||
				file != c.want {
				t.Errorf("%s %s: %+v, file %s", c.clause, c.flags, got, file)
			}
		}
	}
	_, file := run("mcp_result_text_with_resource '1' --path a.txt --path plain --path x.json --path page.HTML --path "+
		"empty.png --uri u --path none --path pic --path bin", byTable)
	if want := `[{"path":"a.txt","mimeType":"text/plain","uri":null},` +
		`{"path":"plain","mimeType":"text/plain","uri":null},` +
		`{"path":"x.json","mimeType":"application/json","uri":null},{"path":"page.HTML","mimeType":"text/html","uri":null},` +
		`{"path":"empty.png","mimeType":"text/plain","uri":"u"},{"path":"pic","mimeType":"image/png","uri":null},` +
		`{"path":"bin","mimeType":"application/octet-stream","uri":null}]`; file != want {
		t.Errorf("SDK-84: %s", file)
	}
	if _, file := run("mcp_result_text_with_resource '1' --path a.txt",
		byJSONTool); file != `[{"path":"a.txt","mimeType":"application/octet-stream","uri":null}]` {
		t.Errorf("SDK-84 without a program: %s", file)
	}
	if _, file := run("mcp_result_text_with_resource 1 --path a.txt --mime m; mcp_result_text_with_resource 1 --path "+
		"bin --mime n", byTable); file != `[{"path":"bin","mimeType":"n","uri":null}]` {
		t.Errorf("SDK-82, twice: %s", file)
	}
	run("mcp_result_text_with_resource 1 --path '' --path none --bogus", byTable, "MCP_LOG_STREAM="+stream)
	if got, want := logged(t, stream), `debug sdk mcp_result_text_with_resource: unknown flag ignored: --bogus
debug sdk mcp_result_text_with_resource: empty path, skipping
warning sdk mcp_result_text_with_resource: not a readable file, skipping path=none
`; got != want {
		t.Errorf("SDK-83: %s", got)
	}
	got := tool{dir: dir, env: []string{"MCP_LOG_STREAM=" + stream + "2"},
		script: "mcp_result_text_with_resource 1 --path a.txt"}.run(t)
	if want := "warning sdk mcp_result_text_with_resource: MCP_TOOL_RESOURCES_FILE not set, resources will not be " +
		"embedded\n"; got.rc != 0 || logged(t, stream+"2") != want {
		t.Errorf("SDK-83: %+v", got)
	}
	check(t, ways, []row{
		{"SDK-85", tool{script: `mcp_result_text_with_resource ''`},
			internal("Empty data passed to mcp_result_success"), ""},
		{"SDK-85", tool{script: `mcp_result_text_with_resource '{"a": 1}'`},
			result(`{"success":true,"result":{"a":1}}`, `{"success":true,"result":{"a":1}}`, false), ""},
		{"SDK-85", tool{script: `mcp_result_text_with_resource '1 2'`},
			result(`{"success":true,"result":"1 2"}`, `{"success":true,"result":"1 2"}`, false), ""},
	})
}

// logged parses a log stream: one line for each message with level, logger and data.
func logged(t testing.TB, file string) string {
	t.Helper()
	var b strings.Builder
	for line := range strings.Lines(read(t, file)) {
		var message struct {
			JSONRPC, Method string
			Params          struct {
				Level, Logger string
				Data          json.RawMessage
			}
		}
		if err := json.Unmarshal([]byte(line), &message); err != nil || message.JSONRPC != "2.0" ||
			message.Method != "notifications/message" {
			t.Fatalf("log line %q: %v", line, err)
		}
		data := string(message.Params.Data)
		if text, ok := rawjson.Text(message.Params.Data); ok {
			data = text
		}
		fmt.Fprintf(&b, "%s %s %s\n", message.Params.Level, message.Params.Logger, data)
	}
	return b.String()
}

func TestSmallChecks(t *testing.T) {
	t.Parallel()
	var rows []row
	for text, rc := range map[string]int{`{}`: 0, `false`: 0, ` null `: 0, `{"a":[1,{"b":"c"}]}`: 0, ``: 1, ` `: 1,
		`1 2`: 1, `{} x`: 1, `{"a":}`: 1, `nul`: 1, `[1,]`: 1, `01`: 1, `"a` + "\n" + `b"`: 1} {
		rows = append(rows, row{"SDK-87", tool{script: "mcp_is_valid_json " + quoted(text)}, outcome{rc: rc}, ""})
	}
	rows = append(rows, []row{
		{"SDK-87", tool{env: []string{"MCPBASH_MODE=minimal"}, script: `mcp_is_valid_json nope`}, out(""), ""},
		{"SDK-87", tool{script: `MCPBASH_JSON_TOOL_BIN=; mcp_is_valid_json nope`}, out(""), ""},
		{"SDK-88", tool{script: `mcp_byte_length 'é☃'; mcp_byte_length; mcp_byte_length ''`}, out("5\n0\n0\n"), ""},
		{"SDK-88", tool{env: []string{"LC_ALL=C"}, script: `mcp_byte_length 'é☃'`}, out("5\n"), ""},
	}...)
	for _, c := range [][3]string{{"42", "0", "42"}, {"  42  ", "0", "42"}, {"", "100", "100"}, {"abc", "50", "50"},
		{"abc", "not-a-number", "0"}, {"-5", "7", "7"}, {"08", "0", "8"}, {"000", "1", "0"}, {"x", " 7\t", "7"}} {
		rows = append(rows, row{"SDK-8", tool{script: fmt.Sprintf("__mcp_sdk_uint_or_default %s %s", quoted(c[0]),
			quoted(c[1]))}, out(c[2]), ""})
	}
	check(t, ways, rows)
}

func TestTruncate(t *testing.T) {
	t.Parallel()
	var rows []row
	add := func(clause, call, want string) {
		rows = append(rows, row{clause, tool{script: "mcp_json_truncate " + call}, out(want + "\n"), ""})
	}
	problem := func(kind, message, raw string) string {
		if raw != "" {
			raw = `,"raw":` + string(rawjson.Quote(raw))
		}
		return fmt.Sprintf(`{"result":null,"truncated":false,"error":{"type":%q,"message":%s%s}}`, kind,
			rawjson.Quote(message), raw)
	}
	const id = "SDK-86"
	add(id, `'[1, 2, 3]'`, `{"result":[1,2,3],"truncated":false}`)
	add(id, `'[1,2,3,4,5]' 7`, `{"result":[1,2,3],"truncated":true,"kept":3,"total":5}`)
	add(id, `'[1,2,3,4,5]' 8`, `{"result":[1,2,3],"truncated":true,"kept":3,"total":5}`)
	add(id, `'["é","é"]' 7`, `{"result":["é"],"truncated":true,"kept":1,"total":2}`)
	add(id, `'["long"]' 4`, `{"result":[],"truncated":true,"kept":0,"total":1,"_warning":"individual items exceed `+
		`max_bytes"}`)
	add(id, `'[]' 1`, `{"result":[],"truncated":true,"kept":0,"total":0,"_warning":"individual items exceed max_bytes"}`)
	add(id, `'{"results":[1,2,3],"n":1}' 23`, `{"result":{"results":[1,2],"n":1},"truncated":true,"kept":2,"total":3}`)
	add(id, `'{"d":[1,2,3]}' --array-path .d`, `{"result":{"d":[1,2,3]},"truncated":false,"kept":3,"total":3}`)
	add(id, `--array-path .d '{"d":[1,2,3]}' 9`, `{"result":{"d":[1]},"truncated":true,"kept":1,"total":3}`)
	add(id, `'{"d":[1,2,3],"x":{"y":1}}' 22 --array-path .d`,
		`{"result":{"d":[1],"x":{"y":1}},"truncated":true,"kept":1,"total":3}`)
	add(id, `'{"d":[10,2]}' 8 --array-path .d`, `{"result":{"d":[]},"truncated":true,"kept":0,"total":2}`)
	add(id, `'{"a":{"b":[1,2]},"c":3}' 21 --array-path .a.b`,
		`{"result":{"a":{"b":[1]},"c":3},"truncated":true,"kept":1,"total":2}`)
	add(id, `'{"d":[]}' 1 --array-path .d`, `{"result":{"d":[]},"truncated":false,"kept":0,"total":0}`)
	add(id, `'{"d":[1]}' 7 --array-path .d`, problem("output_too_large",
		"Response too large (8 bytes) even with empty array at .d", ""))
	add(id, `'{"a":"1234567890123456789012345678901234"}' 20`, problem("output_too_large",
		"Response too large (42 bytes) and cannot be safely truncated (not an array)", ""))
	add(id, `'"text"' 3`, problem("output_too_large",
		"Response too large (6 bytes) and cannot be safely truncated (not an array)", ""))
	add(id, `'no "JSON"'`, problem("invalid_json", "Invalid JSON: parse error", `no "JSON"`))
	add(id, `''`, `{"result":null,"truncated":false,"error":{"type":"invalid_json","message":"Empty input: expected `+
		`exactly one JSON value","raw":""}}`)
	add(id, `' '`, problem("invalid_json", "Empty input: expected exactly one JSON value", " "))
	add(id, `'1 2'`, problem("invalid_json", "Multiple JSON values found (2): expected exactly one", "1 2"))
	add(id, `'{}' --array-path`, problem("invalid_path_syntax", "--array-path requires a value", ""))
	add(id, `'{}' --array-path ''`, problem("invalid_path_syntax", "--array-path requires a value", ""))
	add(id, `'{}' --array-path --x`, problem("invalid_path_syntax", "--array-path requires a value", ""))
	add(id, `'{}' --array-path d`, problem("invalid_path_syntax",
		"Invalid path syntax: d (must be .key or .key.nested format)", ""))
	add(id, `'{}' --array-path '.a[0]'`, problem("invalid_path_syntax",
		"Invalid path syntax: .a[0] (must be .key or .key.nested format)", ""))
	add(id, `'{}' --array-path .q`, problem("path_not_found", "Path not found: .q", ""))
	add(id, `'{"q":null}' --array-path .q.r`, problem("path_not_found", "Path not found: .q.r", ""))
	add(id, `'{"d":"x"}' --array-path .d`, problem("invalid_array_path", "Path is not an array: .d", ""))
	add(id, `'{"d":"x"}' --array-path .d.e`, problem("invalid_path", "Invalid path or malformed JSON: .d.e", ""))
	rows = append(rows, []row{
		{id, tool{env: []string{"MCPBASH_MAX_TOOL_OUTPUT_SIZE=7"},
			script: `mcp_json_truncate '[1,2,3,4]' bogus; echo reached`},
			out(`{"result":[1,2,3],"truncated":true,"kept":3,"total":4}` + "\nreached\n"), ""},
		{id, tool{env: []string{"MCPBASH_MODE=minimal"}, script: `mcp_json_truncate '[1, 2]' 1`},
			out(`{"result":[1, 2],"truncated":false,"_warning":"truncation unavailable in minimal mode"}` + "\n"), ""},
		{"SDK-187", tool{script: `MCPBASH_JSON_TOOL_BIN=; mcp_json_truncate '[1, 2]' 1`},
			out(`{"result":[1, 2],"truncated":false,"_warning":"truncation unavailable: put jq or mcp-bash on PATH"}` +
				"\n"), ""},
	}...)
	check(t, ways, rows)
}

func TestCLIError(t *testing.T) {
	t.Parallel()
	var rows []row
	for _, c := range [][4]string{
		{`{"error":{"message":"E"}}`, "err", "1", "E"},
		{`{"ok":true,"error":{"message":"E"}}`, "err", "1", "E"},
		{`{"error":"text"}`, "err", "1", "text"},
		{`{"success":false,"message":"m"}`, "err", "1", "m"},
		{`{"ok":false,"message":"m"}`, "err", "1", "m"},
		{`{"status":"error","message":"m"}`, "err", "1", "m"},
		{`{"errors":[{"message":"first"},{"message":"second"}]}`, "err", "1", "first"},
		{`{"error":{"message":null},"errors":[{"message":"e"}]}`, "err", "1", "e"},
		{`{"error":{"message":null}}`, "stderr msg", "1", "stderr msg"},
		{`{"error":{"message":""}}`, "stderr msg", "1", "stderr msg"},
		{`{"success":true,"message":"x"}`, "fallback", "1", "fallback"},
		{`[1,2,3]`, "fallback", "1", "fallback"},
		{`{"errors":"no"}`, "fallback", "1", "fallback"},
		{`{"error":{"message":42}}`, "err", "1", "42"},
		{`{"error":{"message":{"a":[1]}}}`, "err", "1", `{"a":[1]}`},
		{`{"error":`, "fallback", "1", "fallback"},
		{`{} {}`, "fallback", "1", "fallback"},
		{``, "", "42", "CLI exited with code 42"},
	} {
		rows = append(rows, row{"SDK-89", tool{script: fmt.Sprintf("mcp_extract_cli_error %s %s %s", quoted(c[0]),
			quoted(c[1]), c[2])}, out(c[3]), ""})
	}
	rows = append(rows,
		row{"SDK-89", tool{script: `mcp_extract_cli_error`}, out("CLI exited with code "), ""},
		row{"SDK-89", tool{env: []string{"MCPBASH_MODE=minimal"}, script: `mcp_extract_cli_error '{"error":"x"}' '' 3`},
			out("CLI exited with code 3"), ""})
	check(t, ways, rows)
}
