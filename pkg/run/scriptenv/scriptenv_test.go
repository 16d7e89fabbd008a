package scriptenv

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"mcp-bash/pkg/json/rawjson"
)

// E-6, E-10, T-63: some names pass in every mode, some only if listed, some never.
func TestNames(t *testing.T) {
	for _, tc := range []struct{ names, basic, listable, listed string }{
		{"MCP_SDK MCP_TOOL_NAME MCP_TOOL_ MCP_ELICIT_X MCP_PROGRESS_TOKEN MCP_LOG_STREAM MCP_CANCEL_FILE MCP_ROOTS_JSON " +
			"MCP_RESOURCES_ROOTS MCP_COMPLETION_NAME MCP_PROMPT_PATH MCP_RESOURCE_URI MCP_CONFIG_JSON MCP_TRANSPORT " +
			"MCP_PATH_DEBUG MCP_INPUT_DIR MCP_SAMPLING_SUPPORTED", "yes", "no", "yes"},
		{"MCP_SDKX MCP_ROOTS MCP_TOOLS_X MCP_TOOLS_TTL MCP_RESOURCES_X MCP_RESOURCES_TOKEN MCP_PROMPTS_X MCP_UI_X MCP_TOOL " +
			"MCP_TRANSPORT_X MCP_LOG_STREAMX MCP_REGISTRY_TOKEN MCP_X API_KEY A _ mcp_tool_x", "no", "yes", "yes"},
		{"MCPBASH_REMOTE_TOKEN MCPBASH_REMOTE_TOKEN_KEY MCPBASH_REMOTE_TOKENX MCPBASH_HTTP_TOKEN_FILE " +
			"MCPBASH_HTTP_X", "no", "no", "no"},
		{"LD_PRELOAD LD_ DYLD_X BASH_FUNC_x _MCP _MCPX _MCP_X SHELLOPTS BASHOPTS PS4 BASH_ENV ENV BASH_XTRACEFD IFS",
			"no",
			"no", "yes"},
		{strings.Repeat("X", 100) + " ENVX PS4X XLD_ IFS_ BASH_ENVX _M", "no", "yes", "yes"},
		{"SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT USERPROFILE APPDATA LOCALAPPDATA TEMP TMP MSYSTEM " +
			"MSYS2_ARG_CONV_EXCL PATH HOME TMPDIR LANG", "yes", "yes", "yes"},
	} {
		for name := range strings.FieldsSeq(tc.names) {
			for _, scope := range []*Scope{&Tools, &Providers} {
				env := map[string]string{}
				rule := func() *Rule {
					p := NewPolicy(env, Meta{})
					return map[*Scope]*Rule{&Tools: &p.Tools, &Providers: &p.Providers}[scope]
				}
				if got := rule().Passes(name); got != (tc.basic == "yes") {
					t.Errorf("%s: %s passes by default: %t", scope.Label, name, got)
				}
				env[scope.List] = "X," + name
				if got := rule().Passes(name); got != (tc.basic == "yes") {
					t.Errorf("%s: %s passes where only the list is set: %t", scope.Label, name, got)
				}
				env[scope.Mode] = "Allowlist" // the operator may list everything but the token
				if got := rule().Passes(name); got != (tc.listed == "yes") {
					t.Errorf("%s: %s passes where it is listed: %t", scope.Label, name, got)
				}
				env[scope.Mode], env[scope.Leave] = "inherit", "true"
				if got, want := rule().Passes(name), !IsWithheld(name); got != want {
					t.Errorf("%s: %s is inherited: %t", scope.Label, name, got)
				}
				env[scope.Leave] = "1"
				if r := rule(); !r.Blocked() || r.Inherits() || r.Passes(name) != (tc.basic == "yes") {
					t.Errorf("%s: %s passes without permission", scope.Label, name)
				}
				m := ReadMeta(fmt.Appendf(nil, `{"env":{%q:"A,%s"}}`, scope.List, name))
				if valid := m.Values[scope.List] != ""; valid != (tc.listable == "yes") ||
					valid == (len(m.Invalid) > 0) {
					t.Errorf("%s: server.meta.json lists %s: %t, %v", scope.Label, name, valid, m.Invalid)
				}
			}
		}
	}
	if r := NewPolicy(nil, Meta{}).Tools; !r.Passes("MCPBASH_Y") {
		t.Error("tools do not get the settings of the framework")
	}
	if r := NewPolicy(nil, Meta{}).Providers; r.Passes("MCPBASH_Y") || !r.Passes("MCPBASH_GIT_X") ||
		!r.Passes("LC_ALL") {
		t.Error("providers get all settings of the framework")
	}
}

// E-7, E-9: server.meta.json can set four keys. Each other key produces a line on standard error.
func TestReadMeta(t *testing.T) {
	const onlyFour = "ignoring %s (only MCPBASH_TOOL_ENV_MODE, MCPBASH_TOOL_ENV_ALLOWLIST, MCPBASH_PROVIDER_ENV_MODE, " +
		"MCPBASH_PROVIDER_ENV_ALLOWLIST may be set there; set others in the launch environment)"
	const mode, list = `"MCPBASH_TOOL_ENV_MODE":`, `"MCPBASH_PROVIDER_ENV_ALLOWLIST":`
	ignoring := func(key, reason string) string { return "ignoring " + key + ": " + reason }
	badMode := func(reason string) string { return ignoring("MCPBASH_TOOL_ENV_MODE", reason) }
	badList := func(reason string) string { return ignoring("MCPBASH_PROVIDER_ENV_ALLOWLIST", reason) }
	for _, tc := range []struct{ text, values, lines string }{
		{`{}`, "", ""}, {`{"env":null}`, "", ""}, {`{"env":{}}`, "", ""}, {` ["env"] `, "", ""},
		{`{"env":{` + mode + `"allowlist",` + list + `" A,, B_1 c,"}}`, "allowlist;  A,, B_1 c,", ""},
		{`{"env":{` + list + `""}}`, "", ""},
		{`{"env":{"MCPBASH_TOOL_ENV_INHERIT_ALLOW":"true","a\nb-` + strings.Repeat("é", 70) + `":1,"":2,` + mode +
			`"minimal"}}`, "minimal",
			fmt.Sprintf(onlyFour, "MCPBASH_TOOL_ENV_INHERIT_ALLOW") + "|" +
				fmt.Sprintf(onlyFour, "a?b?"+strings.Repeat("?", 60)) + "|" + fmt.Sprintf(onlyFour, "")},
		{`{"env":{` + mode + `1}}`, "", badMode("value must be a string")},
		{`{"env":{` + mode + `null}}`, "", badMode("value must be a string")},
		{`{"env":{` + mode + `"` + strings.Repeat("é", 4096) + `"}}`, "",
			badMode("mode must be one of: minimal, allowlist, inherit")},
		{`{"env":{` + list + `"` + strings.Repeat("-", 4097) + `\t"}}`, "",
			badList("value longer than 4096 characters")},
		{`{"env":{` + list + `"-\u007f"}}`, "", badList("value contains control characters")},
		{`{"env":{` + list + `"A\tB"}}`, "", badList("value contains control characters")},
		{`{"env":{` + mode + `"Allowlist"}}`, "", badMode("mode must be one of: minimal, allowlist, inherit")},
		{`{"env":{` + mode + `""}}`, "", badMode("mode must be one of: minimal, allowlist, inherit")},
		{`{"env":{"MCPBASH_PROVIDER_ENV_MODE":"minimal"}}`, "",
			ignoring("MCPBASH_PROVIDER_ENV_MODE", "mode must be one of: isolate, allowlist, inherit")},
		{`{"env":{` + list + `"A,LD_X,1"}}`, "",
			badList("names must match [A-Za-z_][A-Za-z0-9_]*, separated by commas")},
		{`{"env":{` + list + `"A;B"}}`, "", badList("names must match [A-Za-z_][A-Za-z0-9_]*, separated by commas")},
		{`{"env":{` + list + `"A,MCPBASH_X"}}`, "", badList("lists a reserved or shell-control variable name")},
		{`{"env":[]}`, "", "env must be an object"}, {`{"env":"x"}`, "", "env must be an object"},
		{`{"env":{}} {"env":{}}`, "", "server.meta.json must contain exactly one JSON document"},
		{" \n", "", "server.meta.json must contain exactly one JSON document"},
		{`{"env":{}`, "", "server.meta.json is not valid JSON"}, {"{}\xff", "", "server.meta.json is not valid JSON"},
	} {
		m := ReadMeta([]byte(tc.text))
		values := strings.Join(slices.Collect(func(yield func(string) bool) {
			for _, key := range Keys() {
				if m.Values[key] != "" {
					yield(m.Values[key])
				}
			}
		}), "; ")
		lines := strings.ReplaceAll(strings.Join(m.Complaints(), "|"), "mcp-bash: server.meta.json env: ", "")
		if values != tc.values || lines != tc.lines {
			t.Errorf("%.200q:\n got %q, %q\nwant %q, %q", tc.text, values, lines, tc.values, tc.lines)
		}
		if len(m.Complaints()) > 0 && !strings.HasPrefix(m.Complaints()[0], "mcp-bash: server.meta.json env: ") {
			t.Errorf("%q", m.Complaints())
		}
	}
}

// E-8: for each scope, the environment takes precedence over the file.
func TestSources(t *testing.T) {
	meta := ReadMeta([]byte(`{"env":{"MCPBASH_TOOL_ENV_MODE":"allowlist","MCPBASH_TOOL_ENV_ALLOWLIST":"FILE",` +
		`"MCPBASH_PROVIDER_ENV_MODE":"allowlist","MCPBASH_PROVIDER_ENV_ALLOWLIST":"FILE"}}`))
	const file = "allowlist FILE server.meta.json"
	for _, tc := range []struct{ env, tools, providers string }{
		{"", file, file},
		{"MCPBASH_TOOL_ENV_MODE=Allowlist", "allowlist  launch env", file},
		{"MCPBASH_TOOL_ENV_MODE=nonsense", "minimal  launch env", file},
		{"MCPBASH_TOOL_ENV_ALLOWLIST=A,b-c,D", "minimal A,D launch env", file},
		{"MCPBASH_PROVIDER_ENV_ALLOWLIST=A", file, "isolate A launch env"},
		{"MCPBASH_PROVIDER_ENV_MODE=inherit", file, "inherit  launch env"},
		{"MCPBASH_TOOL_ENV_MODE= MCPBASH_TOOL_ENV_ALLOWLIST=${user_config.x}y", file, file},
		{"MCPBASH_TOOL_ENV_MODE=${user_config.x} MCPBASH_TOOL_ENV_ALLOWLIST=A", "minimal A launch env", file},
		{"MCPBASH_TOOL_ENV_MODE=allowlist MCPBASH_TOOL_ENV_ALLOWLIST=${user_config.x}", "allowlist  launch env", file},
		{"MCPBASH_TOOL_ENV_INHERIT_ALLOW=true", file, file},
		{"MCPBASH_IGNORE_META_ENV=true", "minimal  default", "isolate  default"},
		{"MCPBASH_IGNORE_META_ENV=1", "minimal  default", "isolate  default"},
		{"MCPBASH_IGNORE_META_ENV=yes", "minimal  default", "isolate  default"},
		{"MCPBASH_IGNORE_META_ENV=on MCPBASH_TOOL_ENV_MODE=inherit", "inherit  launch env", "isolate  default"},
		{"MCPBASH_IGNORE_META_ENV=TRUE", file, file}, {"MCPBASH_IGNORE_META_ENV=0", file, file},
	} {
		env := map[string]string{}
		for entry := range strings.FieldsSeq(tc.env) {
			name, value, _ := strings.Cut(entry, "=")
			env[name] = value
		}
		p := NewPolicy(env, meta)
		shown := func(r *Rule) string { return r.Mode + " " + strings.Join(r.Names, ",") + " " + string(r.Source) }
		if got, other := shown(&p.Tools), shown(&p.Providers); got != tc.tools || other != tc.providers {
			t.Errorf("%s: %s; %s", tc.env, got, other)
		}
		want := maps.Clone(env)
		for _, rule := range []*Rule{&p.Tools, &p.Providers} {
			if rule.Source == FromMeta {
				want[rule.Scope.Mode], want[rule.Scope.List] = "allowlist", "FILE"
			}
		}
		if got := p.Environ(env); !maps.Equal(got, want) {
			t.Errorf("%s: scripts find %v", tc.env, got)
		}
	}
}

// T-61a: a policy can change mode and list, but not the permission for inherit.
func TestWith(t *testing.T) {
	p := NewPolicy(map[string]string{"MCPBASH_TOOL_ENV_INHERIT_ALLOW": "true"}, Meta{})
	if r := p.Tools.With("INHERIT", ""); !r.Inherits() {
		t.Errorf("%+v", r)
	}
	p = NewPolicy(nil, Meta{})
	if r := p.Tools.With("inherit", ""); !r.Blocked() {
		t.Errorf("%+v", r)
	}
	if r := p.Tools.With("allowlist", "A B"); !r.Passes("B") || p.Tools.Passes("B") {
		t.Errorf("%+v", r)
	}
}

// E-11: the report of doctor and run-tool.
func TestReport(t *testing.T) {
	const text = `{"env":{"MCPBASH_TOOL_ENV_MODE":"allowlist","MCPBASH_TOOL_ENV_ALLOWLIST":"A B,C D E",` +
		`"MCPBASH_PROVIDER_ENV_MODE":"secret","SECRET-KEY":"secret"}}`
	env := map[string]string{"A": "secret", "B": "", "C": "${user_config.c}", "MCPBASH_PROVIDER_ENV_ALLOWLIST": "X,1"}
	for _, tc := range []struct {
		add         map[string]string
		lines, json string
	}{
		{nil, `tools: mode allowlist (from server.meta.json)
A: set
B: empty here (a host such as Claude Desktop may inject it at launch)
C: placeholder here (a host such as Claude Desktop may inject it at launch)
D: placeholder here (a host such as Claude Desktop may inject it at launch)
E: not set here (a host such as Claude Desktop may inject it at launch)
providers: mode isolate (from launch env)
env_allowlist_invalid_name providers: allowlist entry 1 is not a valid variable name and is skipped
env_key_refused server.meta.json env.SECRET?KEY is ignored (not settable there)
env_key_invalid server.meta.json env.MCPBASH_PROVIDER_ENV_MODE: mode must be one of: isolate, allowlist, inherit
`, `{"scope":"this shell","metaIgnored":false,"tool":{"mode":"allowlist","source":"server.meta.json","allowlist":[` +
			`{"name":"A","state":"set"},{"name":"B","state":"empty"},{"name":"C","state":"placeholder"},` +
			`{"name":"D","state":"placeholder"},{"name":"E","state":"not set"}],"invalidNames":[],"inheritBlocked":false},` +
			`"provider":{"mode":"isolate","source":"launch env","allowlist":[],"invalidNames":["1"],"inheritBlocked":false},` +
			`"refusedKeys":["SECRET?KEY"],"invalidKeys":[{"key":"MCPBASH_PROVIDER_ENV_MODE",` +
			`"reason":"mode must be one of: isolate, allowlist, inherit"}]}`},
		{map[string]string{"MCPBASH_IGNORE_META_ENV": "1", "MCPBASH_PROVIDER_ENV_MODE": "inherit",
			"MCPBASH_PROVIDER_ENV_ALLOWLIST": ""}, `tools: mode minimal (from default)
providers: mode inherit (from launch env)
env_inherit_blocked providers: inherit mode without MCPBASH_PROVIDER_ENV_INHERIT_ALLOW=true will be refused
MCPBASH_IGNORE_META_ENV is set: server.meta.json env is ignored
`, `{"scope":"this shell","metaIgnored":true,"tool":{"mode":"minimal","source":"default","allowlist":[],` +
			`"invalidNames":[],"inheritBlocked":false},"provider":{"mode":"inherit","source":"launch env","allowlist":[],` +
			`"invalidNames":[],"inheritBlocked":true},"refusedKeys":[],"invalidKeys":[]}`},
	} {
		all := maps.Clone(env)
		maps.Copy(all, tc.add)
		p := NewPolicy(all, ReadMeta([]byte(text)))
		r := Report{Policy: &p, Env: all, Placeholders: []string{"D"}}
		var lines strings.Builder
		for _, line := range r.Lines() {
			fmt.Fprintln(&lines, strings.TrimSpace(line.Fault+" "+line.Text))
		}
		if lines.String() != tc.lines {
			t.Errorf("got %s\nwant %s", &lines, tc.lines)
		}
		if got := string(r.AppendJSON(nil)); got != tc.json {
			t.Errorf("got %s\nwant %s", got, tc.json)
		}
		if strings.Contains(lines.String(), "secret") {
			t.Error("a value is shown")
		}
	}
}

// E-9: no file makes the server print a value or accept an invalid one.
func FuzzReadMeta(f *testing.F) {
	f.Add([]byte(`{"env":{"MCPBASH_TOOL_ENV_ALLOWLIST":"A,B","x":"y"}}`))
	f.Add([]byte(`{"env":{"MCPBASH_TOOL_ENV_MODE":"inherit","MCPBASH_TOOL_ENV_MODE":1}}{`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m := ReadMeta(text)
		for key, value := range m.Values {
			if !slices.Contains(Keys(), key) || check(key, value, true) != "" {
				t.Errorf("%q=%q", key, value)
			}
		}
		for _, line := range m.Complaints() {
			if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) || len(line) > 400 {
				t.Errorf("%q", line)
			}
		}
		p := NewPolicy(nil, m)
		report := Report{Policy: &p}
		if _, err := rawjson.Check(report.AppendJSON(nil)); err != nil {
			t.Error(err)
		}
		if p.Tools.Inherits() || p.Providers.Inherits() {
			t.Error("the project permitted inherit")
		}
	})
}

// CLI-1064, T-414: the remedy for a variable that scripts do not get.
func TestRemedy(t *testing.T) {
	fromMeta := NewPolicy(nil, Meta{Values: map[string]string{Tools.Mode: Allowlist, Tools.List: "A"}})
	fromLaunch := NewPolicy(map[string]string{Providers.List: "A"}, Meta{})
	byDefault := NewPolicy(nil, Meta{})
	const inMeta = `write "env": {"MCPBASH_TOOL_ENV_MODE": "allowlist", "MCPBASH_TOOL_ENV_ALLOWLIST": %q} in ` +
		"server.d/server.meta.json"
	for _, c := range []struct{ got, want string }{
		{byDefault.Tools.Remedy("B"), fmt.Sprintf(inMeta, "B")},
		{fromMeta.Tools.Remedy("B"), fmt.Sprintf(inMeta, "A,B")},
		{fromLaunch.Providers.Remedy("B"), "set MCPBASH_PROVIDER_ENV_MODE=allowlist and " +
			"MCPBASH_PROVIDER_ENV_ALLOWLIST=B in the environment of the server"},
		{byDefault.Tools.Remedy("LD_PRELOAD"), "set MCPBASH_TOOL_ENV_MODE=allowlist and " +
			"MCPBASH_TOOL_ENV_ALLOWLIST=LD_PRELOAD in the environment of the server"},
	} {
		if c.got != c.want {
			t.Errorf("%s\n%s", c.got, c.want)
		}
	}
	for name, want := range map[string]bool{"B": true, "A": false, "PATH": false, "MCP_TOOL_NAME": false, "PWD": false,
		"MCP_REGISTRY_TOKEN": false, "ACTIONS_ID_TOKEN_REQUEST_TOKEN": false, "MCPBASH_HTTP_TOKEN_FILE": false,
	} {
		if fromMeta.Tools.Drops(name) != want {
			t.Error(name)
		}
	}
}
