package sdk_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

const document = `{"s":"text","e":"","n":5,"f":3.14,` +
	`"big":123456789012345678901234567890,"t":true,"fa":false,"z":null,` +
	`"o":{"b":1,"a":[1,"x",null]},"arr":["p","q"],"lines":"line\n\n","null":"null","q":"a\\b\"c","k y":"spaced",` +
	`"é":"acute"}`

func TestArgsGet(t *testing.T) {
	t.Parallel()
	failed := func(rc int, filter string) outcome {
		return outcome{rc: rc, err: fmt.Sprintf("mcp_args_get: jq error (rc=%d) filter=%s payload_len=%d\n", rc, filter,
			len([]rune(document)))}
	}
	lacks := func(filter, what string) outcome {
		want := failed(3, filter)
		want.err += "mcp_args_get: the filter " + filter + " " + what + "\n"
		return want
	}
	var rows []row
	for _, c := range []struct {
		clause, filter string
		want           outcome
	}{
		{"SDK-22", `.s`, out("text")},
		{"SDK-22", `.lines`, out("line")},
		{"SDK-22", `.n`, out("5")},
		{"SDK-22", `.f`, out("3.14")},
		{"SDK-17", `.big`, out("123456789012345678901234567890")},
		{"SDK-22", `.t`, out("true")},
		{"SDK-22", `.fa`, out("false")},
		{"SDK-22", `.z`, out("null")},
		{"SDK-22", `.nope`, out("null")},
		{"SDK-22", `.arr[7]`, out("null")},
		{"SDK-22", `.z.deeper[1]`, out("null")},
		{"SDK-22", `.nope.deeper`, out("null")},
		{"SDK-16", `.o`, out(`{"b":1,"a":[1,"x",null]}`)},
		{"SDK-22", `.o.a`, out(`[1,"x",null]`)},
		{"SDK-22", `.o.a[1]`, out("x")},
		{"SDK-22", `.e`, out("")},
		{"SDK-22", `empty`, out("")},
		{"SDK-22", `.arr[]`, out("p\nq")},
		{"SDK-22", `.s,.n`, out("text\n5")},
		{"SDK-22", `bad((`, failed(3, "bad((")},
		{"SDK-23", `.a-b`, lacks(".a-b", `needs quotes: ."a-b"`)},
		{"SDK-23", `a-b`, lacks("a-b", `needs quotes: ."a-b"`)},
		{"SDK-23", `s`, lacks("s", "needs a dot: .s")},
		{"SDK-23", `o.a`, lacks("o.a", "needs a dot: .o.a")},
		{"SDK-23", `keys|length`, out("15")},
		{"SDK-23", `.a-1`, failed(5, ".a-1")},
		{"SDK-23", `.o.x-y`, failed(3, ".o.x-y")},
		{"SDK-22", `.x // 'y'`, failed(3, ".x // 'y'")},
		{"SDK-22", `.s.x`, failed(5, ".s.x")},
		{"SDK-22", `.n[0]`, failed(5, ".n[0]")},
		{"SDK-22", `.arr.k`, failed(5, ".arr.k")},
		{"SDK-22", `.s,.s.x`, failed(5, ".s,.s.x")},
		{"SDK-22", ``, out(document)},
		{"SDK-22", `.`, out(document)},
		{"SDK-24", `.nope // "d"`, out("d")},
		{"SDK-24", `.s.x // "d"`, failed(5, `.s.x // "d"`)},
		{"SDK-24", `.fa // "d"`, out("d")},
		{"SDK-24", `.e // "d"`, out("")},
		{"SDK-24", `.missing // empty`, out("")},
		{"SDK-24", `.s.x?`, out("")},
		{"SDK-209", `.nope//5`, out("5")},
		{"SDK-209", " .nope\t//  -12 ", out("-12")},
		{"SDK-209", `.nope // null`, out("null")},
		{"SDK-209", `.s // empty`, out("text")},
		{"SDK-209", `."s"`, out("text")},
		{"SDK-209", `."k y"`, out("spaced")},
		{"SDK-209", `."é"`, out("acute")},
		{"SDK-209", `."no pe" // "a b // c"`, out("a b // c")},
		{"SDK-209", `. // 5`, out(document)},
		{"SDK-209", `.nope // 1 // 2`, out("1")},
		{"SDK-210", `.s[0]`, failed(5, ".s[0]")},
		{"SDK-210", `.t.x // empty`, failed(5, ".t.x // empty")},
		{"SDK-22", `.q`, out(`a\b"c`)},
		{"SDK-22", `.o | keys | .[0]`, out("a")},
	} {
		rows = append(rows, row{clause: c.clause, tool: tool{args: document, script: "mcp_args_get " +
			quoted(c.filter)}, want: c.want})
	}
	rows = append(rows, []row{
		{"SDK-22", tool{args: document, script: `mcp_args_get`}, out(document), ""},
		{"SDK-26", tool{script: `mcp_args_get .name --default World`}, out("World"), ""},
		{"SDK-26", tool{script: `mcp_args_get .name --bogus 1 --default World`}, out("World"), ""},
		{"SDK-26", tool{script: `mcp_args_get 'empty' --default ''; mcp_args_get .x --default`}, out(""), ""},
		{"SDK-26", tool{args: document,
			script: `mcp_args_get .fa --default d; mcp_args_get .e --default d; mcp_args_get .s --default d`},
			out("falsedtext"), ""},
		{"SDK-26", tool{args: `{"e":"","z":0,"s":"null","l":[],"d":[""]}`,
			script: `for f in .e '.e // .z' '.d[]' '.e|.' '.e + ""' .z .s .l; do mcp_args_get "$f" --default d; echo; done`},
			out("d\nd\nd\nd\nd\n0\nnull\n[]\n"), ""},
		{"SDK-26", tool{args: `{"e":""}`, script: `mcp_args_get .e --default '' --default d; mcp_args_get .e`}, out(""), ""},
		{"SDK-26", tool{args: document, script: `mcp_args_get .s.x --default d`}, failed(5, ".s.x"), ""},
		{"SDK-25", tool{args: document, script: `x="$(mcp_args_get .s.x 2>/dev/null)"; echo reached`}, outcome{rc: 5},
			""},
		{"SDK-25", tool{args: document,
			script: `x="$(mcp_args_get '.path // empty' 2>/dev/null || true)"; echo "[$x]"`}, out("[]\n"), ""},
		{"SDK-22", tool{script: `mcp_args_get .x`, env: []string{"MCPBASH_MODE=minimal"}},
			outcome{rc: 1, err: "mcp_args_get: JSON tooling unavailable; use mcp_args_raw instead\n"}, ""},
		{"SDK-15", tool{script: `MCPBASH_JSON_TOOL_BIN=; mcp_args_get '.x|.y'`},
			outcome{rc: 1, err: "mcp_args_get: JSON tooling unavailable; " +
				"use mcp_args_raw instead, or put jq or mcp-bash on PATH\n"}, ""},
		{"SDK-22", tool{args: `{"a":`, script: `mcp_args_get .a`},
			outcome{rc: 5, err: "mcp_args_get: jq error (rc=5) filter=.a payload_len=5\n"}, ""},
		{"SDK-23", tool{args: `{"é☃":"😀"}`, script: `mcp_args_get '.[0]'`},
			outcome{rc: 5, err: "mcp_args_get: jq error (rc=5) filter=.[0] payload_len=10\n"}, ""},
		{"SDK-18", tool{args: `{"a":"x\u0000y\u001f"}`, script: `mcp_args_get .a`}, out("xy\x1f"), ""},
		{"SDK-18", tool{args: `{"a":"\ud800 \u00e9"}`, script: `mcp_args_get .a`}, out("\uFFFD é"), ""},
		{"SDK-19", tool{args: `{"a":1,"b":2,"a":3}`, script: `mcp_args_get .a; mcp_args_get .`}, out(`3{"a":3,"b":2}`),
			""},
		{"SDK-35", tool{env: []string{"MCP_TOOL_ARGS_JSON"}, script: `mcp_args_get .; mcp_args_get .x`},
			outcome{out: "{}null", err: "mcp_args_get: no arguments were given; " + byHand}, ""},
		{"SDK-22", tool{env: []string{"MCP_TOOL_ARGS_JSON="}, script: `mcp_args_get .`}, out("{}"), ""},
	}...)
	check(t, ways, rows)
}

// SDK-17: numbers, which real jq prints differently.
func TestNumbers(t *testing.T) {
	t.Parallel()
	args := `{"a":12345678901234567,"b":1.50,"c":1.0,"d":1e3,"e":1E-7,"f":-0,"g":[1.50,1e3]}`
	check(t, []way{byTable, byProgram}, []row{
		{"SDK-17", tool{args: args, script: `for k in a b c d e f g; do mcp_args_get ".$k"; echo; done`},
			out("12345678901234567\n1.5\n1\n1000\n1e-7\n0\n[1.50,1e3]\n"), ""},
	})
}

func TestRaw(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := write(t, filepath.Join(dir, "args.json"), "{\"from\": \"file\"}\n\n")
	check(t, ways, []row{
		{"SDK-20", tool{args: `{"name":"World"}`, script: `mcp_args_raw`}, out(`{"name":"World"}`), ""},
		{"SDK-20", tool{script: `mcp_args_raw`, env: []string{"MCP_TOOL_ARGS_FILE=" + file}},
			out("{\"from\": \"file\"}\n\n"), ""},
		{"SDK-20", tool{args: `{"a":1}`, script: `mcp_args_raw`, env: []string{"MCP_TOOL_ARGS_FILE=" + dir + "/none"}},
			out(`{"a":1}`), ""},
		{"SDK-20", tool{args: `{"a":1}`, script: `mcp_args_raw`, env: []string{"MCP_TOOL_ARGS_FILE=" + dir}},
			out(`{"a":1}`), ""},
		{"SDK-20", tool{script: `mcp_args_raw`, env: []string{"MCP_TOOL_ARGS_JSON="}}, out("{}"), ""},
		{"SDK-20", tool{args: `no JSON`, script: `mcp_args_raw`}, out("no JSON"), ""},
		{"SDK-21", tool{meta: `{"progressToken":"tok","tenant":"a"}`, script: `mcp_meta_raw`},
			out(`{"progressToken":"tok","tenant":"a"}`), ""},
		{"SDK-21", tool{script: `mcp_meta_raw`, env: []string{"MCP_TOOL_META_FILE=" + file, "MCPBASH_MODE=minimal"}},
			out("{\"from\": \"file\"}\n\n"), ""},
		{"SDK-20", tool{script: `mcp_args_get .from`, env: []string{"MCP_TOOL_ARGS_FILE=" + file}}, out("file"), ""},
		{"SDK-7", tool{script: `A=inline F=; __mcp_sdk_payload_from_env_vars A F D; A=; __mcp_sdk_payload_from_env_vars A ` +
			`F D; F=` + quoted(file) + `; __mcp_sdk_payload_from_env_vars A F D`},
			out("inlineD{\"from\": \"file\"}\n\n"), ""},
	})
}

func TestMetaGet(t *testing.T) {
	t.Parallel()
	meta := `{"a":"x","s":"y","z":null,"n":{"k":[1,2]}}`
	check(t, ways, []row{
		{"SDK-27", tool{meta: meta, script: `mcp_meta_get .a; mcp_meta_get .z; mcp_meta_get .none; mcp_meta_get .n`},
			out("x\nnull\nnull\n{\"k\":[1,2]}\n"), ""},
		{"SDK-27", tool{meta: meta, script: `mcp_meta_get empty`}, out(""), ""},
		{"SDK-27", tool{meta: meta, script: `mcp_meta_get 'bad(('`}, outcome{rc: 3}, ""},
		{"SDK-27", tool{meta: meta, script: `mcp_meta_get .s.x`}, outcome{rc: 5}, ""},
		{"SDK-27", tool{meta: meta, script: `mcp_meta_get .none --default d`}, out("d\n"), ""},
		{"SDK-27", tool{meta: `{"e":""}`, script: `mcp_meta_get .e --default d`}, out("d\n"), ""},
		{"SDK-27", tool{meta: meta, script: `mcp_meta_get .a`, env: []string{"MCPBASH_MODE=minimal"}},
			outcome{rc: 1, err: "mcp_meta_get: JSON tooling unavailable; use mcp_meta_raw instead\n"}, ""},
	})
	check(t, []way{byTable, byProgram}, []row{
		{"SDK-27", tool{meta: meta, script: `mcp_meta_get '.a,.s.x'`}, outcome{out: "x\n", rc: 5}, ""},
	})
}

// rejected is the outcome of invalid arguments.
func rejected(message string) outcome {
	return outcome{out: `{"code":-32602,"message":"` + message + `","data":null}` + "\n", err: message + "\n", rc: 1}
}

func TestTypedGetters(t *testing.T) {
	t.Parallel()
	var rows []row
	for _, c := range []struct {
		clause, call string
		want         outcome
	}{
		{"SDK-31", `mcp_args_require .s`, out("text")},
		{"SDK-31", `mcp_args_require .fa`, out("false")},
		{"SDK-31", `mcp_args_require .o`, out(`{"b":1,"a":[1,"x",null]}`)},
		{"SDK-31", `mcp_args_require .name`, rejected(".name is required")},
		{"SDK-31", `mcp_args_require .name ''`, rejected(".name is required")},
		{"SDK-31", `mcp_args_require .name 'Give a name'`, rejected("Give a name")},
		{"SDK-30", `mcp_args_require .e`, rejected(".e is required")},
		{"SDK-30", `mcp_args_require .z`, rejected(".z is required")},
		{"SDK-30", `mcp_args_require 'bad(('`, rejected("bad(( is required")},
		{"SDK-30", `mcp_args_require .s.x`, rejected(".s.x is required")},
		{"SDK-30", `mcp_args_require s`, rejected("s is required: the filter needs a dot: .s")},
		{"SDK-30", `mcp_args_int user.age`, rejected("user.age is required: the filter needs a dot: .user.age")},
		{"SDK-30", `mcp_args_require s 'say it'`, rejected("say it")},
		{"SDK-30", `mcp_args_int n --default 7`, outcome{out: "7",
			err: "mcp_args_int: the filter n needs a dot: .n\n"}},
		{"SDK-30", `mcp_args_require .null`, out("null")},
		{"SDK-31", `mcp_args_require '.arr[]'`, out("p\nq")},
		{"SDK-32", `mcp_args_bool .t`, out("true")},
		{"SDK-32", `mcp_args_bool .fa`, out("false")},
		{"SDK-32", `mcp_args_bool .fa --default true`, out("false")},
		{"SDK-32", `mcp_args_bool .n`, out("false")},
		{"SDK-32", `mcp_args_bool '.o.b'`, out("true")},
		{"SDK-32", `mcp_args_bool .o`, out("false")},
		{"SDK-32", `mcp_args_bool .none --default true`, out("true")},
		{"SDK-32", `mcp_args_bool .none --default 1`, out("true")},
		{"SDK-32", `mcp_args_bool .none --default yes`, out("false")},
		{"SDK-32", `mcp_args_bool .none`, rejected(".none is required")},
		{"SDK-32", `mcp_args_bool '.none // true'`, out("true")},
		{"SDK-34", `mcp_args_bool .none --bogus --default true`, rejected(".none is required")},
		{"SDK-34", `mcp_args_bool .none --default`, out("false")},
		{"SDK-33", `mcp_args_int .n`, out("5")},
		{"SDK-33", `mcp_args_int .n --min 5 --max 5`, out("5")},
		{"SDK-33", `mcp_args_int .n --min 6`, rejected(".n must be >= 6")},
		{"SDK-33", `mcp_args_int .n --max 4`, rejected(".n must be <= 4")},
		{"SDK-33", `mcp_args_int .n --min 6 --max 4`, rejected("mcp_args_int: --min cannot exceed --max")},
		{"SDK-33", `mcp_args_int .n --min a --max 4`, rejected("mcp_args_int: --min cannot exceed --max")},
		{"SDK-33", `mcp_args_int .n --min a`, rejected(".n must be >= a")},
		{"SDK-33", `mcp_args_int .n --max a`, rejected(".n must be <= a")},
		{"SDK-33", `mcp_args_int .none`, rejected(".none is required")},
		{"SDK-33", `mcp_args_int .none --default 7 --min 1`, out("7")},
		{"SDK-33", `mcp_args_int .none --default 0 --min 1`, rejected(".none must be >= 1")},
		{"SDK-33", `mcp_args_int .none --default x`, rejected(".none must be an integer")},
		{"SDK-34", `mcp_args_int .none --default`, rejected(".none must be an integer")},
		{"SDK-34", `mcp_args_int .n --min`, out("5")},
		{"SDK-33", `mcp_args_int .f`, rejected(".f must be an integer")},
		{"SDK-33", `mcp_args_int .t`, rejected(".t must be an integer")},
		{"SDK-33", `mcp_args_int .arr`, rejected(".arr must be an integer")},
		{"SDK-33", `mcp_args_int '.o.b' --min -3`, out("1")},
		{"SDK-33", `mcp_args_int .big --min 5`, out("123456789012345678901234567890")},
		{"SDK-33", `mcp_args_int .big --max 9223372036854775807`, rejected(".big must be <= 9223372036854775807")},
		{"SDK-33", `mcp_args_int .n --min -123456789012345678901234567890`, out("5")},
	} {
		rows = append(rows, row{clause: c.clause, tool: tool{args: document, script: c.call}, want: c.want})
	}
	for value, want := range map[string]outcome{
		`3.0`: out("3"), `1e2`: out("100"), `"7"`: out("7"), `"007"`: out("007"), `-4`: out("-4"), `"-0"`: out("-0"),
		`"+7"`: rejected(".v must be an integer"), `" 5 "`: rejected(".v must be an integer"),
		`[1]`: rejected(".v must be an integer"), `"12\nabc"`: rejected(".v must be an integer"),
		`"-"`: rejected(".v must be an integer"),
	} {
		rows = append(rows, row{"SDK-33", tool{args: `{"v":` + value + `}`, script: `mcp_args_int .v`}, want, ""})
	}
	for value, want := range map[string]string{`true`: "true", `1`: "true", `"true"`: "true", `"1"`: "true",
		`false`: "false", `0`: "false", `"True"`: "false", `"yes"`: "false", `{}`: "false"} {
		rows = append(rows, row{"SDK-32", tool{args: `{"v":` + value + `}`, script: `mcp_args_bool .v`}, out(want), ""})
	}
	check(t, ways, rows)
}

// byHand is the error of scripts that were started by hand.
const byHand = "start the script with mcp-runtool NAME --args JSON\n"

// SDK-35: a script that was started by hand, with only MCP_SDK set.
func TestStartedByHand(t *testing.T) {
	t.Parallel()
	const args, client = "no arguments were given; " + byHand, "there is no client to ask; " + byHand
	missing := func(pointer string) outcome {
		return rejected(pointer + " is required: " + strings.TrimSuffix(args, "\n"))
	}
	var rows []row
	for script, want := range map[string]outcome{
		`mcp_args_require .name`: missing(".name"),
		`mcp_args_int .n`:        missing(".n"),
		`mcp_require_path .p`:    missing(".p"),
		`mcp_args_raw`:           {out: "{}", err: "mcp_args_raw: " + args},
		`mcp_args_int .n --default 5; mcp_args_get .n --default 6; mcp_args_bool .b --default true`: out("56true"),
		`mcp_elicit m '{}'`: {out: `{"action":"decline","content":null}`, rc: 1,
			err: "mcp_elicit: " + client + "mcp_elicit: Client does not support elicitation\n"},
		`mcp_sample hi`: {out: `{"error":{"code":-32601,"message":"Not supported by the client"}}`, rc: 1,
			err: "tool-sdk: " + client},
		`MCP_TOOL_ARGS_JSON=; mcp_args_require .name`: rejected(".name is required"),
	} {
		rows = append(rows, row{"SDK-35", tool{env: []string{"MCP_TOOL_ARGS_JSON"}, script: script}, want, ""})
	}
	check(t, ways, rows)
	file := write(t, filepath.Join(t.TempDir(), "tool.sh"),
		"source \"${MCP_SDK:?run this tool with mcp-runtool}/tool-sdk.sh\"\n")
	got := tool{bare: true, script: quoted(bash()) + " " + quoted(file)}.run(t)
	if want := file + ": line 1: MCP_SDK: run this tool with mcp-runtool\n"; got.err != want || got.rc == 0 {
		t.Errorf("SDK-1: %+v", got)
	}
}

func TestTypedGettersEndTheTool(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	errorFile := write(t, filepath.Join(dir, "error"), "")
	check(t, ways, []row{
		{"SDK-30", tool{script: `v="$(mcp_args_int .x)"; echo reached`}, outcome{err: ".x is required\n", rc: 1}, ""},
		{"SDK-30", tool{script: `mcp_args_int .x; echo reached`}, rejected(".x is required"), ""},
		{"SDK-202", tool{script: `mcp_into v mcp_args_int .x; echo reached`}, rejected(".x is required"), ""},
		{"SDK-30", tool{script: `f() { local v="$(mcp_args_int .x)"; echo went on; }; f`},
			outcome{out: "went on\n", err: ".x is required\n"}, ""},
	})
	got := tool{script: `mcp_args_require .x`, env: []string{"MCP_TOOL_ERROR_FILE=" + errorFile}}.run(t)
	if want := rejected(".x is required"); got != want || read(t, errorFile) != want.out {
		t.Errorf("SDK-30: %+v, error file %q", got, read(t, errorFile))
	}
	// Tests of tools replace mcp_fail_invalid_args.
	got = tool{script: `mcp_fail_invalid_args() { echo "mock: $1"; return 9; }
mcp_args_int .x || echo "rc $?"; mcp_args_int 'x|y' || echo "rc $?"`}.run(t)
	if want := out("mock: .x is required\nrc 9\nmock: x|y is required\nrc 9\n"); got != want {
		t.Errorf("replaced mcp_fail_invalid_args: %+v", got)
	}
}

func TestMinimalGetters(t *testing.T) {
	t.Parallel()
	minimal := []string{"MCPBASH_MODE=minimal"}
	check(t, ways, []row{
		{"SDK-31", tool{args: document, env: minimal, script: `mcp_args_require .s`}, rejected(".s is required"), ""},
		{"SDK-32", tool{args: document, env: minimal, script: `mcp_args_bool .t`},
			rejected(".t requires JSON tooling or a default"), ""},
		{"SDK-32", tool{args: document, env: minimal, script: `mcp_args_bool .fa --default true`}, out("true"), ""},
		{"SDK-33", tool{args: document, env: minimal, script: `mcp_args_int .n`},
			rejected(".n requires JSON tooling or a default"), ""},
		{"SDK-33", tool{args: document, env: minimal, script: `mcp_args_int .n --default 3`}, out("3"), ""},
	})
}

// SDK-187: a script without a program that reads JSON gets no default for an argument that nobody has read.
func TestGettersWithoutProgram(t *testing.T) {
	t.Parallel()
	failed := func(filter string) outcome {
		message := filter + " cannot be read: put jq or mcp-bash on PATH"
		return outcome{out: `{"code":-32603,"message":"` + message + `","data":null}` + "\n", err: message + "\n", rc: 1}
	}
	without := `MCPBASH_JSON_TOOL_BIN=; `
	var rows []row
	for filter, calls := range map[string][]string{
		".n": {"mcp_args_int .n --default 3", "mcp_args_int .n", "mcp_args_bool .n --default true", "mcp_args_bool .n",
			"mcp_args_require .n", "mcp_args_require .n 'give n'", "mcp_into v mcp_args_int .n --default 3",
			"mcp_require_path .n --allow-empty", "mcp_require_path .n", "argv=(); mcp_argv_switch argv .n --x",
			"argv=(); mcp_argv_option argv .n --x", "argv=(); mcp_argv_option argv .n --x --default 5",
			"argv=(); mcp_argv_operand argv .n", "mcp_argv_need .n .m"},
	} {
		for _, call := range calls {
			rows = append(rows,
				row{"SDK-187", tool{args: document, script: without + call + "; echo went on"}, failed(filter), ""},
				// Without arguments, there is nothing to read.
				row{"SDK-187", tool{script: without + "mcp_args_int .n --default 3; mcp_args_bool .n --default true"},
					out("3true"), ""})
		}
	}
	check(t, []way{byJSONTool}, rows)
	check(t, []way{byTable}, []row{
		{"SDK-187", tool{args: document, script: without + `mcp_args_int .n --default 3`}, out("5"), ""},
		{"SDK-187", tool{args: document, script: without + `mcp_args_int '.n|.' --default 3`}, failed(".n|."), ""},
	})
}

// SDK-208: the document differs from the table's.
func TestStaleTable(t *testing.T) {
	t.Parallel()
	file := write(t, filepath.Join(t.TempDir(), "args"), `{"a":"file"}`)
	check(t, []way{byTable}, []row{
		{"SDK-208", tool{args: `{"a":"old"}`,
			script: `MCP_TOOL_ARGS_JSON='{"a":"new"}'; mcp_args_get .a; mcp_args_require .a`}, out("newnew"), ""},
		{"SDK-208", tool{args: `{"a":"old"}`, script: `MCP_TOOL_ARGS_FILE=` + quoted(file) +
			`; mcp_args_get .a; mcp_args_require .a`}, out("filefile"), ""},
		{"SDK-208", tool{meta: `{"a":"old"}`, script: `MCP_TOOL_META_JSON='{"a":"new"}'; mcp_meta_get .a`},
			out("new\n"), ""},
		{"SDK-207", tool{args: `{"a":1}`, meta: `{"a":1}`, script: `env | grep -c _FLAT || :; mcp_args_get .a`},
			out("0\n1"), ""},
		{"SDK-25.5", tool{args: `{"a":"x"}`, script: `MCPBASH_MODE=minimal; mcp_args_get .a`},
			outcome{rc: 1, err: "mcp_args_get: JSON tooling unavailable; use mcp_args_raw instead\n"}, ""},
		{"SDK-25.5", tool{args: `{"a":"x"}`,
			script: `unset MCPBASH_JSON_TOOL_BIN; mcp_args_get .a; mcp_args_get '.none // "d"'`}, out("xd"), ""},
	})
}

func TestInto(t *testing.T) {
	t.Parallel()
	check(t, ways, []row{
		{"SDK-202", tool{args: document, meta: `{"m":"\n\nx\n"}`, script: `
			mcp_into a mcp_args_get .s; mcp_into b mcp_args_require .lines; mcp_into c mcp_args_bool .t
			mcp_into d mcp_args_int .none --default 4; mcp_into e mcp_meta_get .m; mcp_into f mcp_json_escape 'x"'
			mcp_into g mcp_json_obj k v; mcp_into h mcp_json_arr; mcp_into i mcp_byte_length é; mcp_into j mcp_args_get .e
			mcp_into _path mcp_json_arr 1; mcp_into IFS mcp_args_get .n; mcp_into k mcp_args_get '.s | length'
			printf '<%s>' "$a" "$b" "$c" "$d" "$e" "$f" "$g" "$h" "$i" "$j" "$_path" "$IFS" "$k"`},
			out("<text><line><true><4><\n\nx><\"x\\\"\"><{\"k\":\"v\"}><[]><2><><[\"1\"]><5><4>"), ""},
		{"SDK-202", tool{script: `f() { local x=1; mcp_into x mcp_json_arr a; echo "$x"; }; f; echo "${x-unset}"`},
			out("[\"a\"]\nunset\n"), ""},
		{"SDK-202", tool{args: document, script: `mcp_into x mcp_args_get .s.x || echo "rc $? [$x]"`},
			outcome{out: "rc 5 []\n", err: fmt.Sprintf("mcp_args_get: jq error (rc=5) filter=.s.x payload_len=%d\n",
				len([]rune(document)))}, ""},
		{"SDK-202", tool{script: `mcp_into 1x mcp_json_arr || echo $?; mcp_into '' mcp_json_arr || echo $?; mcp_into 'a b' ` +
			`mcp_json_arr || echo $?; mcp_into __mcp_x mcp_json_arr || echo $?; mcp_into || echo $?`},
			outcome{out: "2\n2\n2\n2\n2\n", err: strings.Repeat("mcp_into: invalid variable name\n", 5)}, ""},
		{"SDK-202", tool{script: `mcp_into x mcp_emit_text a || echo " $?"; mcp_into x || echo $?`},
			outcome{out: "a 2\n2\n", err: "mcp_into: mcp_emit_text gives no answer\nmcp_into: nothing gives no answer\n"}, ""},
		{"SDK-202", tool{args: `{"a":"$(touch ` + absentDir + `/x)"}`, script: `mcp_into x mcp_args_get .a; echo "$x"`},
			out("$(touch " + absentDir + "/x)\n"), ""},
	})
}
