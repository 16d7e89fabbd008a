package sdk_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// show prints the result of mcp_config_load in a child process, which shows that it is exported.
const show = `; echo "rc $?"; sh -c 'printf "%s" "$MCP_CONFIG_JSON"'`

func TestConfigLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"file.json": `{ "a" : "file", "f" : [1, 2] }` + "\n", "example.json": `{"a":"example","e":{"x":1}}`,
		"list.json": `[1]`,
		"bad.json":  `{"a":`, "null.json": `null`, "empty.json": ``,
	} {
		write(t, filepath.Join(dir, name), text)
	}
	const nothing = "warning config No configuration sources loaded\n"
	for _, c := range []struct {
		clause, script, out, log string
	}{
		{"SDK-150", `mcp_config_load || :`, "rc 0\n{}", nothing},
		{"SDK-150", `C=1; mcp_config_load || C=$?; (exit $C)`, "", nothing},
		{"SDK-153", `mcp_config_load --defaults '{"t": 30}'`, `{"t": 30}`, ""},
		{"SDK-153", `mcp_config_load --defaults '' || :`, "{}", nothing},
		{"SDK-153", `mcp_config_load --defaults '{ }' || :`, "{ }", nothing},
		{"SDK-150", `mcp_config_load --file file.json --defaults '{"d": 1,"a":0}' --example example.json`,
			`{"d":1,"a":"file","e":{"x":1},"f":[1,2]}`,
			"debug config Loaded example config: example.json\ndebug config Loaded config file: file.json\n"},
		{"SDK-150", `CFG='{"a":"env"}'; mcp_config_load --env CFG --file file.json --bogus x`,
			`{"a":"env","f":[1,2]}`, "debug config Loaded config file: file.json\ndebug config Loaded config from env var: " +
				"CFG (JSON)\n"},
		{"SDK-151", `CFG=example.json; mcp_config_load --env CFG`, `{"a":"example","e":{"x":1}}`,
			"debug config Loaded config from env var: CFG (file: example.json)\n"},
		{"SDK-152", `CFG=no.such; mcp_config_load --env CFG || :`, `{}`,
			"warning config Env var CFG is neither valid JSON nor a file path\n" + nothing},
		{"SDK-151", `CFG=; mcp_config_load --env CFG --env NONE || :`, `{}`, nothing},
		{"SDK-153", `mcp_config_load --env 'not a name' || :`, `{}`, nothing},
		{"SDK-151", `mcp_config_load --file none.json --example . || :`, `{}`, nothing},
		{"SDK-152", `mcp_config_load --defaults 'x' || :`, `{}`,
			"warning config Invalid JSON in --defaults, using {}\n" + nothing},
		{"SDK-152", `mcp_config_load --file bad.json || :`, `{}`, "warning config Invalid JSON in file: bad.json\n" +
			nothing},
		{"SDK-153", `mcp_config_load --file null.json --example empty.json || :`, `{}`,
			"warning config Invalid JSON in file: empty.json\nwarning config Invalid JSON in file: null.json\n" +
				nothing},
		{"SDK-153", `mcp_config_load --file list.json --defaults '[1]' || :`, `{}`,
			"warning config Config source is not a JSON object: --defaults\nwarning config Config source is not a JSON " +
				"object: list.json\n" + nothing},
		{"SDK-153", `CFG=5; mcp_config_load --env CFG --defaults '{"a":1}'`, `{"a":1}`,
			"warning config Config source is not a JSON object: CFG\n"},
		{"SDK-153", `CFG=list.json; mcp_config_load --env CFG --defaults $'{"a":\n1}'`, "{\"a\":\n1}",
			"warning config Config source is not a JSON object: list.json\n"},
		{"SDK-155", `MCPBASH_MODE=minimal; mcp_config_load --file file.json --defaults '{"d":1}'`,
			`{ "a" : "file", "f" : [1, 2] }`, ""},
		{"SDK-155", `MCPBASH_MODE=minimal; CFG=example.json; mcp_config_load --env CFG --file file.json`,
			`{"a":"example","e":{"x":1}}`, ""},
		{"SDK-155", `MCPBASH_MODE=minimal; CFG=text; mcp_config_load --env CFG --file bad.json`, `{"a":`, ""},
		{"SDK-155", `MCPBASH_MODE=minimal; mcp_config_load --defaults '{"d":1}'`, `{"d":1}`, ""},
		{"SDK-155", `MCPBASH_MODE=minimal; mcp_config_load || :`, `{}`, ""},
		{"SDK-187", `MCPBASH_JSON_TOOL_BIN=; mcp_config_load --defaults '{"d":1}'`, `{"d":1}`, ""},
		{"SDK-187", `MCPBASH_JSON_TOOL_BIN=; mcp_config_load --file file.json --defaults '{"d":1}' || :`,
			`{ "a" : "file", "f" : [1, 2] }`,
			"warning config mcp_config_load: 2 sources cannot be merged: put jq or mcp-bash on PATH\n"},
	} {
		for _, w := range []way{byProgram, byJSONTool} {
			t.Run(fmt.Sprintf("%s/%s/%s", c.clause, w, c.script), func(t *testing.T) {
				t.Parallel()
				log := write(t, filepath.Join(t.TempDir(), "log"), "")
				script, want := c.script+show, "rc 0\n"+strings.TrimPrefix(c.out, "rc 0\n")
				if strings.HasSuffix(c.script, "$C)") {
					script, want = strings.Replace(c.script, "(exit $C)", `echo "rc $C"`, 1), "rc 1\n"
				}
				got := tool{way: w, dir: dir, script: script, env: []string{"MCP_LOG_STREAM=" + log}}.run(t)
				if w == byJSONTool {
					got.out, want = sorted(got.out), sorted(want)
				}
				if got != out(want) || logged(t, log) != c.log {
					t.Errorf("%s %s: %+v\nwant %q\nlog %s", c.clause, c.script, got, want, logged(t, log))
				}
			})
		}
	}
}

func TestConfigGet(t *testing.T) {
	t.Parallel()
	const config = `{"s":"text","n":30,"f":1.5,"t":true,"x":false,"z":null,"e":"","o":{"b":1,"a":[1,"x"]},"arr":["p",` +
		`"q"],"odd":"__MCP_CONFIG_NULL__","q":"a\\b\n"}`
	var rows []row
	for _, c := range []struct {
		clause, call string
		want         outcome
	}{
		{"SDK-154", `.s`, out("text")},
		{"SDK-154", `.n`, out("30")},
		{"SDK-154", `.x`, out("false")},
		{"SDK-154", `.e`, out("")},
		{"SDK-154", `.o`, out(`{"b":1,"a":[1,"x"]}`)},
		{"SDK-154", `.o.a[1]`, out("x")},
		{"SDK-154", `.q`, out("a\\b")},
		{"SDK-154", `.z`, outcome{rc: 1}},
		{"SDK-154", `.none`, outcome{rc: 1}},
		{"SDK-154", `.none --default d`, out("d")},
		{"SDK-154", `.z --default ''`, out("")},
		{"SDK-154", `.e --default d`, out("")},
		{"SDK-154", `.x --default d`, out("false")},
		{"SDK-154", `.odd --default d`, out("__MCP_CONFIG_NULL__")},
		{"SDK-154", `'.none // "d"'`, out("d")},
		{"SDK-154", `'.arr[]'`, out("p\nq")},
		{"SDK-154", `'.arr|length'`, out("2")},
		{"SDK-154", `'bad(('`, outcome{rc: 1}},
		{"SDK-154", `.s.x --default d`, out("d")},
		{"SDK-154", `''`, outcome{rc: 1}},
		{"SDK-154", `'' --default d`, outcome{rc: 1}},
		{"SDK-154", ``, outcome{rc: 1}},
	} {
		for _, load := range []string{"mcp_config_load --defaults " + quoted(config),
			"export MCP_CONFIG_JSON=" + quoted(config), "mcp_config_load --defaults " + quoted(" "+config)} {
			rows = append(rows, row{c.clause, tool{script: load + "\nmcp_config_get " + c.call}, c.want, ""})
		}
	}
	rows = append(rows, []row{
		{"SDK-154", tool{script: `mcp_config_get .a --default d; mcp_config_get . `}, out("d{}"), ""},
		{"SDK-154", tool{script: `mcp_config_load --defaults '{"a":1}'; MCP_CONFIG_JSON='{"a":2}'; mcp_config_get .a; ` +
			`mcp_into x mcp_config_get .a; echo "$x"`}, out("22\n"), ""},
	}...)
	check(t, []way{byProgram, byJSONTool}, rows)
	log := filepath.Join(t.TempDir(), "log")
	tool{script: `mcp_config_get '' || :; MCPBASH_MODE=minimal; mcp_config_get .none || :`,
		env: []string{"MCP_LOG_STREAM=" + log}}.run(t)
	if want := "warning config mcp_config_get: path required\ndebug config mcp_config_get: path not found (minimal " +
		"mode): .none\n"; logged(t, log) != want {
		t.Errorf("SDK-154, SDK-155: %s", logged(t, log))
	}
	for call, want := range map[string]outcome{`.s`: out("text"), `.none --default d`: out("d"), `.o --default d`: {rc: 1},
		`.o.x --default d`: {rc: 1}, `.s.x`: {rc: 1}} {
		log := filepath.Join(t.TempDir(), "log")
		got := tool{way: byJSONTool, script: `MCPBASH_JSON_TOOL_BIN=; MCP_CONFIG_JSON='{"s" : "text","o":{"x":1}}'; ` +
			`mcp_config_get ` + call, env: []string{"MCP_LOG_STREAM=" + log}}.run(t)
		cause := ""
		if path, _, _ := strings.Cut(call, " "); want.rc == 1 {
			cause = "warning config mcp_config_get: " + path + " cannot be read: put jq or mcp-bash on PATH\n"
		}
		if got != want || cause != "" && logged(t, log) != cause {
			t.Errorf("SDK-187: %s: %+v %s", call, got, cause)
		}
	}
	rows = nil
	for call, want := range map[string]outcome{`.s`: out("text"), `.n`: out("30.5"), `.m`: out("-10"),
		`.t`: out("true"), `.z`: {rc: 1}, `.o`: {rc: 1},
		`.none --default d`: out("d"), `.s.x`: {rc: 1}, `'.s|x'`: {rc: 1}} {
		rows = append(rows, row{"SDK-155",
			tool{script: `MCP_CONFIG_JSON='{"s" : "text","n":30.5,"m": -10,"t":true,"z":null,"o":{}}'; mcp_config_get ` + call,
				env: []string{"MCPBASH_MODE=minimal"}}, want, ""})
	}
	check(t, []way{byProgram}, rows)
}
