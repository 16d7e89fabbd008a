package sdk_test

import (
	"fmt"
	"path/filepath"
	"testing"
)

// invalid returns the outcome of a tool with invalid arguments.
func invalid(message string) outcome {
	return outcome{rc: 1, err: message + "\n", out: fmt.Sprintf(`{"code":-32602,"message":"%s","data":null}`+"\n",
		message)}
}

// SDK-91, SDK-92: arguments as words of a command line.
func TestArgv(t *testing.T) {
	t.Parallel()
	const show = `; if ((${#argv[@]})); then printf '<%s>' "${argv[@]}"; fi`
	dir := t.TempDir()
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	dash := func(p string) outcome {
		return invalid(p + " begins with a dash, and the program could take it for an option")
	}
	const args = `{"t":true,"f":false,"n":3,"s":"a b","e":"","z":null,"d":"-x","neg":-5,"l":["a","-b","c\n"],"o":{"a":1},
		"nl":"one\n\n","q":"$(x) \"q\" 'p' \\ *","null":"null","one":"-","deep":[["a"]],"big":12,"ll":["a","--","b"],"lx":["--","-b"],"dev":"/dev/null"}`
	var rows []row
	for _, c := range []struct {
		script string
		want   outcome
	}{
		{`mcp_argv_switch argv .t -v`, out("<-v>")},
		{`mcp_argv_switch argv .f -v; mcp_argv_switch argv .z -v; mcp_argv_switch argv .none -v`, out("")},
		{`mcp_argv_switch argv .f --yes --no; mcp_argv_switch argv .t --yes --no`, out("<--no><--yes>")},
		{`mcp_argv_switch argv .n -v`, out("<-v><-v><-v>")},
		{`mcp_argv_switch argv .big -v`, invalid(".big must be a number from 0 to 9")},
		{`mcp_argv_switch argv .s -v`, invalid(".s must be true or false")},
		{`mcp_argv_option argv .s --key=; mcp_argv_option argv .d --key=; mcp_argv_option argv .e --key=`,
			out("<--key=a b><--key=-x><--key=>")},
		{`mcp_argv_option argv .s -k --attached; mcp_argv_option argv .d -k --attached; mcp_argv_option argv .e -k ` +
			`--attached`,
			out("<-ka b><-k-x><-k><>")},
		{`mcp_argv_option argv .s -k; mcp_argv_option argv .neg -k; mcp_argv_option argv .one -k`,
			out("<-k><a b><-k><-5><-k><->")},
		{`mcp_argv_option argv .d -k`, dash(".d")},
		{`mcp_argv_option argv .t --color=; mcp_argv_option argv .f --color=; mcp_argv_option argv .none --color=`,
			out("<--color>")},
		{`mcp_argv_option argv .nl --x=; mcp_argv_option argv .q --x=; mcp_argv_option argv .null --x=`,
			out("<--x=one\n\n><--x=$(x) \"q\" 'p' \\ *><--x=null>")},
		{`mcp_argv_option argv .l --x=`, out("<--x=a><--x=-b><--x=c\n>")},
		{`mcp_argv_option argv .l -x --one`, dash(".l[1]")},
		{`mcp_argv_operand argv .l --any`, out("<a><-b><c\n>")},
		{`mcp_argv_operand argv .l`, dash(".l[1]")},
		{`mcp_argv_operand argv .ll --unless '^(--)$'`, out("<a><--><b>")},
		{`mcp_argv_operand argv .l --unless '^(--)$'`, dash(".l[1]")},
		{`mcp_argv_operand argv .lx --unless '^(--)$'`, dash(".lx[1]")},
		{`mcp_argv_operand argv .o`, invalid(".o must be a single value")},
		{`mcp_argv_operand argv .deep`, invalid(".deep[0] must be a single value")},
		{`mcp_argv_operand argv .one --path; mcp_argv_option argv .one -o --path`, out("<-><-o><->")},
		{`mcp_argv_operand argv .dev --path; mcp_argv_option argv .dev -o --path`, out("</dev/null><-o></dev/null>")},
		{`mcp_argv_operand argv .e --path`, invalid(".e is empty")},
		{`mcp_argv_option argv .d -k --any; mcp_argv_option argv .none -k --default -1; ` +
			`mcp_argv_option argv .z --k= --default x`,
			out("<-k><-x><-k><-1><--k=x>")},
		{`mcp_argv_option argv .s -k --default x; mcp_argv_operand argv .none --default x`, out("<-k><a b><x>")},
		{`mcp_argv_switch argv .none -v '' true; mcp_argv_switch argv .f -v --no true; mcp_argv_switch argv .f -v '' true`,
			out("<-v><--no>")},
		{`mcp_argv_need .none .f; mcp_argv_need .none .l`, out("")},
		{`mcp_argv_need .none .z .none2`, invalid("one of .none, .z, .none2 is required")},
		{`mcp_argv_operand _x .s`, invalid("mcp_argv: not the name of an array: _x")},
		{`mcp_argv_operand 'x[$(y)]' .s`, invalid("mcp_argv: not the name of an array: x[$(y)]")},
	} {
		rows = append(rows, row{"SDK-91", tool{args: args, script: "argv=(); " + c.script + show}, c.want, ""})
	}
	rows = append(rows,
		row{"SDK-92", tool{args: `{"a":"x\u0000y","b":"\\u0000"}`, script: "argv=(); mcp_argv_operand argv .b" + show +
			"; mcp_argv_operand argv .a"}, outcome{rc: 1, out: `<\u0000>` + invalid(".a holds a NUL, which no argument "+
			"of a program can").out,
			err: ".a holds a NUL, which no argument of a program can\n"}, ""},
		row{"SDK-91", tool{args: `{"p":"a:b\nc","q":"../a","r":"-a:b"}`, script: "argv=(); cd " + quoted(dir) +
			"; mcp_argv_operand argv .p --path --unless '^([a-z]+:.*)$'; " +
			"mcp_argv_operand argv .q --path --unless '^([a-z]+:.*)$'" + show +
			"; mcp_argv_operand argv .r --path --unless '^(-?[a-z]+:.*)$'"},
			outcome{rc: 1, out: "<a:b\nc><" + filepath.Dir(resolved) + "/a>" + dash(".r").out, err: dash(".r").err}, ""},
		row{"SDK-91", tool{args: `{"p":"-x","l":["a","../b"]}`, script: "argv=(); cd " + quoted(dir) +
			"; mcp_argv_operand argv .p --path; mcp_argv_option argv .l --f= --path" + show},
			out("<" + resolved + "/-x><--f=" + resolved + "/a><--f=" + filepath.Dir(resolved) + "/b>"), ""},
		row{"SDK-91", tool{args: `{}`, env: []string{"MCP_ROOTS_PATHS=" + dir, "MCP_ROOTS_COUNT=1"},
			script: "argv=(); mcp_argv_operand argv .p --path --default ." + show}, out("<" + dir + ">"), ""},
		row{"SDK-91", tool{args: `{}`, env: []string{"MCP_ROOTS_PATHS=" + dir, "MCP_ROOTS_COUNT=1"},
			script: "argv=(); mcp_argv_operand argv .p --path --default sub" + show}, out("<sub>"), ""},
		row{"SDK-91", tool{args: `{"l":[]}`, script: "mcp_argv_need .l .p"},
			invalid("one of .l, .p is required"), ""},
		row{"SDK-91", tool{args: `{"p":"new/","l":["a//","/","b"]}`, script: "argv=(); cd " + quoted(dir) +
			"; mcp_argv_operand argv .p --path; mcp_argv_option argv .l --f= --path" + show},
			out("<" + resolved + "/new/><--f=" + resolved + "/a/><--f=/><--f=" + resolved + "/b>"), ""},
		row{"SDK-91", tool{args: `{"p":"-x","l":["a/","../b",".","./","a/b"]}`, script: "argv=(); cd " + quoted(resolved) +
			"; mcp_argv_operand argv .p --path --relative; mcp_argv_option argv .l --f= --relative --path" + show},
			out("<./-x><--f=a/><--f=" + filepath.Dir(resolved) + "/b><--f=.><--f=./><--f=a/b>"), ""},
		row{"SDK-91", tool{args: `{"p":"/etc/passwd"}`, env: []string{"MCP_ROOTS_PATHS=" + dir, "MCP_ROOTS_COUNT=1"},
			script: "argv=(); mcp_argv_operand argv .p --path"}, invalid(".p is outside configured MCP roots: " + dir), ""},
	)
	check(t, ways, rows)
}

// SDK-93: output of programs becomes one object.
func TestArgvJSON(t *testing.T) {
	t.Parallel()
	var rows []row
	for text, want := range map[string]string{
		`{"a":1}`:              `{"a":1}`,
		`[1,{"b":[2]}]`:        `{"items":[1,{"b":[2]}]}`,
		"{\"a\":1}\n{\"b\":2}": `{"items":[{"a":1},{"b":2}]}`,
		"plain text":           "plain text",
		"[not json":            "[not json",
		"":                     "",
		"{\"a\":1}\n{bad":      "{\"a\":1}\n{bad",
	} {
		rows = append(rows, row{"SDK-93", tool{script: "mcp_argv_json printf %s " + quoted(text)}, out(want), ""})
	}
	rows = append(rows, row{"SDK-93", tool{script: `f() { echo '[]'; return 3; }; mcp_argv_json f || echo " rc $?"`},
		out(`{"items":[]} rc 3` + "\n"), ""})
	check(t, []way{byTable}, rows)
}
