//go:build unix

package tool

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"mcp-bash/pkg/feature/results"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/json/jsontest"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/policy"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/wire/mcp"
)

// A fixture is a project with one tool per name.
type fixture struct {
	t     testing.TB
	root  string
	items map[string]string
	tools *Tools

	mu   sync.Mutex
	logs []string
}

func newFixture(t testing.TB, env project.Env) *fixture {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	os.Chmod(root, 0o755)
	b := &fixture{t: t, root: root, items: map[string]string{}}
	full := project.Env{"PATH": os.Getenv("PATH"), "MCPBASH_TOOL_ALLOW_DEFAULT": "allow", "OUTSIDE": "secret"}
	for k, v := range env {
		full[k] = v
	}
	p := project.Open(root, full, root, func(s string) { t.Error(s) })
	p.Create()
	runner := new(script.Runner)
	full["MCPBASH_STATE_DIR"] = t.TempDir()
	state, _, err := project.NewState(full, &p.Settings)
	if err != nil {
		t.Fatal(err)
	}
	delete(full, "MCPBASH_STATE_DIR")
	common := p.Common("/home", "/helper", project.JSONTool{Name: "jq", Bin: "/bin/jq"})
	b.tools = New(Config{
		Project: p, Runner: runner, Common: common, State: state, Log: b.log, Debug: func() bool { return true },
		Find: func(_ context.Context, name string) (json.RawMessage, error) {
			if item, ok := b.items[name]; ok {
				return json.RawMessage(item), nil
			}
			return nil, nil
		},
		Policy: &policy.Policy{Project: p, Runner: runner, State: state, Log: b.log,
			Env: func() project.Env { return p.ForHooks(common, state.Dir) }},
	})
	return b
}

func (b *fixture) log(level mcp.Level, logger, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.logs = append(b.logs, level.String()+" "+logger+" "+text)
}

func (b *fixture) logged(part string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.logs {
		if strings.Contains(l, part) {
			return true
		}
	}
	return false
}

// add makes a tool from a Bash script. more are members of its registry entry.
func (b *fixture) add(name, body string, more ...string) {
	b.t.Helper()
	dir := filepath.Join(b.root, "tools", name)
	os.MkdirAll(dir, 0o755)
	file := filepath.Join(dir, "tool.sh")
	if err := os.WriteFile(file, []byte("#!/bin/bash\n"+body+"\n"), 0o755); err != nil {
		b.t.Fatal(err)
	}
	item := `{"name":"` + name + `","description":"d","path":"` + name +
		`/tool.sh","inputSchema":{"type":"object","properties":{}}`
	for _, m := range more {
		item += "," + m
	}
	b.items[name] = item + "}"
}

// call runs a tool and returns the response as JSON: a result, or an error object.
func (b *fixture) call(r *Request) string {
	b.t.Helper()
	return answer(b.tools.Call(context.Background(), r))
}

func answer(res *Result, err error) string {
	var e *mcp.Error
	switch {
	case errors.As(err, &e):
		return string(e.AppendJSON(nil))
	case err != nil:
		return err.Error()
	}
	defer res.Done()
	return string(res.AppendJSON(nil, mcp.Extra{}))
}

// run calls a tool with this body.
func (b *fixture) run(body string, more ...string) string {
	b.t.Helper()
	b.add("t", body, more...)
	return b.call(&Request{ID: `"t"`, Name: "t"})
}

// golden runs the scripts of a txtar file, NAME.sh, and compares the results with NAME.json. NAME.entry.json has
// members of the tool's registry entry. UPDATE=1 writes the results.
func golden(t *testing.T, file string, run func(name, body, entry string) string) {
	t.Helper()
	file = filepath.Join("testdata", file)
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]*[]byte{}
	for i := range archive.Files {
		texts[archive.Files[i].Name] = &archive.Files[i].Data
	}
	for _, f := range archive.Files {
		name, isScript := strings.CutSuffix(f.Name, ".sh")
		if !isScript {
			continue
		}
		entry := ""
		if members := texts[name+".entry.json"]; members != nil {
			entry = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(string(*members)), "{"), "}")
		}
		want, got := texts[name+".json"], run(name, strings.TrimSuffix(string(f.Data), "\n"), entry)
		if !jsontest.Same(got, string(*want)) {
			t.Errorf("%s:\n got %s\nwant %s", name, got, *want)
			*want = append(rawjson.AppendIndent(nil, json.RawMessage(got), 0), '\n')
		}
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// The outcome of scripts (tools sections 10 and 11).
func TestOutcome(t *testing.T) {
	b := newFixture(t, nil)
	golden(t, "outcome.txtar", func(_, body, entry string) string {
		if entry == "" {
			return b.run(body)
		}
		return b.run(body, entry)
	})
}

// T-195: a tool that prints only on standard error.
func TestOnlyStandardError(t *testing.T) {
	const said = `echo "3 files checked, none changed" >&2`
	for _, tc := range []struct {
		body, want string
		entry      []string
		env        project.Env
	}{
		{said, "3 files checked, none changed", nil, nil},
		{"echo; " + said, "3 files checked, none changed", nil, nil},
		{"echo answer; " + said, "answer\n", nil, nil},
		{said, "[20 bytes left out]\ne changed", nil, project.Env{"MCPBASH_TOOL_STDERR_TAIL_LIMIT": "10"}},
		{said, "", nil, project.Env{"MCPBASH_TOOL_STDERR_CAPTURE": "false"}},
		{said, outputEmpty, []string{`"outputSchema":{"type":"object"}`}, nil},
		{":", "", nil, nil},
	} {
		b := newFixture(t, tc.env)
		if got := b.run(tc.body, tc.entry...); textOf(t, got) != tc.want ||
			strings.Contains(got, `"isError":true`) != (tc.entry != nil) {
			t.Errorf("%s %v: %s", tc.body, tc.env, got)
		}
	}
}

// T-138: colors and other sequences for terminals are removed from texts, unless the tool keeps them.
func TestColors(t *testing.T) {
	const red = `\x1b[31mred\x1b(B\x1b[m`
	for _, tc := range []struct{ body, entry, want string }{
		{`printf '` + red + `'`, "", `"text":"red"`},
		{`printf '` + red + `' >&2`, "", `"text":"red"}],"isError":false,"_meta":{"exitCode":0,"stderr":"red"}`},
		{`printf '` + red + `'; printf '` + red + `' >&2; exit 3`, "", `"text":"red"},{"type":"text","text":"red"}`},
		{`printf '{\x1b[1m"a"\x1b[0m:\x1b[32m1\x1b[0m}'`, "", `"structuredContent":{"a":1}`},
		{`echo '{"content":[{"type":"text","text":"\u001b[31mred"},{"type":"x","text":"\u001b[31m"}],"isError":true}'`, "",
			`"content":[{"type":"text","text":"red"},{"type":"x","text":"\u001b[31m"}]`},
		{`echo '{"code":-32010,"message":"\u001B[31mred"}' >"$MCP_TOOL_ERROR_FILE"`, "", `"message":"red"`},
		{`printf '` + red + `'`, `"keepColors":true`, `"text":"\u001b[31mred\u001b(B\u001b[m"`},
		{`echo '{"content":[{"type":"text","text":"\u001b[31mred"}],"isError":true}'`, `"keepColors":true`,
			`"text":"\u001b[31mred"`},
		{`printf '` + red + `'`, `"output":{}`, `"text":"red"`},
		{`printf '` + red + `'; exit 3`, `"output":{}`, `"text":"red"`},
		{`printf '` + red + `\0'`, `"output":{"type":"binary"}`, `"blob":"G1szMW1yZWQbKEIbW20A"`},
	} {
		b := newFixture(t, nil)
		more := []string{tc.entry}
		if tc.entry == "" {
			more = nil
		}
		if got := b.run(tc.body, more...); !strings.Contains(got, tc.want) {
			t.Errorf("%s %s: %s", tc.body, tc.entry, got)
		}
	}
}

// T-238: a client that shows structured content alone gets the files of a result.
func TestClientsThatLoseFiles(t *testing.T) {
	const (
		attach = `echo '{"title":"minutes"}'; echo '["minutes.md"]' >"$MCP_TOOL_RESOURCES_FILE"`
		image  = `echo '{"content":[{"type":"text","text":"t"},{"type":"image","data":"aGk=","mimeType":"image/png"}],` +
			`"structuredContent":{"a":1},"isError":false}'`
		schema = `"outputSchema":{"type":"object"}`
	)
	for _, tc := range []struct {
		client, body, entry string
		structured          bool
	}{
		{"claude-code", attach, "", false}, {"codex-mcp-client", attach, "", false}, {"opencode", image, "", false},
		{"claude-code", image, "", false}, {"claude-code", attach, schema, true}, {"claude-ai", attach, "", true},
		{"", attach, "", true}, {"claude-code", `echo '{"title":"minutes"}'`, "", true},
	} {
		b := newFixture(t, nil)
		if err := os.WriteFile(filepath.Join(b.root, "minutes.md"), []byte("# Minutes\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		more := []string{tc.entry}
		if tc.entry == "" {
			more = nil
		}
		b.add("t", tc.body, more...)
		got := b.call(&Request{Name: "t", Client: mcp.Capabilities{Name: tc.client},
			Roots: roots.Scope{List: roots.List{{Path: b.root}}}})
		hasFile := strings.Contains(got, "# Minutes") || strings.Contains(got, "image/png")
		if strings.Contains(got, "structuredContent") != tc.structured || len(tc.body) > 40 && !hasFile {
			t.Errorf("%s, %s %s: %s", tc.client, tc.body, tc.entry, got)
		}
	}
}

// T-239: pictures that the API of a client refuses are stored.
func TestLargePictures(t *testing.T) {
	image := func(size string) string {
		return `printf '{"content":[{"type":"text","text":"t"},{"type":"image","mimeType":"image/png","data":"'; ` +
			`head -c ` + size + ` /dev/zero | tr '\0' A; printf '"}],"isError":false}'`
	}
	const file = `{ printf '\x89PNG\r\n\x1a\n'; head -c 4000000 /dev/zero; } >map.png; ` +
		`echo '["map.png"]' >"$MCP_TOOL_RESOURCES_FILE"`
	const blob = `printf '\x89PNG\r\n\x1a\n'; head -c 4000000 /dev/zero`
	for _, tc := range []struct {
		client, body, entry string
		sent                bool
	}{
		{"claude-code", image("5242884"), "", false}, {"claude-ai", image("5242884"), "", false},
		{"claude-code", image("5242880"), "", true}, {"codex-mcp-client", image("5242884"), "", true},
		{"", image("5242884"), "", true}, {"claude-code", file, "", false}, {"opencode", file, "", true},
		{"claude-code", blob, `"output":{"type":"binary"}`, false}, {"", blob, `"output":{"type":"binary"}`, true},
		{"claude-code", strings.ReplaceAll(image("5242884"), "image/png", "image/svg+xml"), "", true},
	} {
		b := newFixture(t, nil)
		b.tools.Results = results.NewStore(results.Config{MaxBytes: 1 << 30, ClientMax: 1 << 30, ServerMax: 1 << 30,
			Keep: time.Hour, MaxResults: 9, Dir: func() (*os.Root, error) { return os.OpenRoot(t.TempDir()) },
		}).NewClient("o", "o")
		more := []string{tc.entry}
		if tc.entry == "" {
			more = nil
		}
		b.add("t", tc.body, more...)
		got := b.call(&Request{Name: "t", Client: mcp.Capabilities{Name: tc.client}, Links: true,
			Roots: roots.Scope{List: roots.List{{Path: b.root}}}})
		sentence := strings.Contains(got, "is left out, because Claude") &&
			strings.Contains(got, `"type":"resource_link","uri":"mcpbash`)
		if (len(got) > 5<<20) != tc.sent || sentence == tc.sent {
			t.Errorf("%s, %.60s: %d bytes: %.600s", tc.client, tc.body, len(got), got)
		}
	}
}

// T-211, M-34: the newest revision permits any value but null.
func TestAnyStructured(t *testing.T) {
	b := newFixture(t, nil)
	for body, want := range map[string]string{`printf '[1]'`: `"structuredContent":[1]`,
		`printf 5`: `"structuredContent":5`, `printf null`: ``} {
		b.add("t", body)
		got := b.call(&Request{Name: "t", AnyStructured: true})
		if want == "" && strings.Contains(got, "structuredContent") || !strings.Contains(got, want) {
			t.Errorf("%s: %s", body, got)
		}
	}
}

// T-187: the failure mode of the Bash edition.
func TestFailureModeError(t *testing.T) {
	b := newFixture(t, project.Env{"MCPBASH_TOOL_FAILURE_MODE": "error"})
	for body, want := range map[string]string{
		`echo out; echo err >&2; exit 3`: `{"code":-32603,"message":"Tool failed","data":"out"}`,
		`printf 'line1\r\nline2\n' >&2; exit 3`: `{"code":-32603,"message":"line1","data":{"exitCode":3,` +
			`"_meta":{"exitCode":3,"stderr":"line1\r\nline2"},"stderrTail":"line1\r\nline2"}}`,
		`exit 3`: `{"code":-32603,"message":"Tool failed","data":{"exitCode":3,` +
			`"_meta":{"exitCode":3}}}`,
		`echo '{"code":9,"message":"m"}';exit 1`: `{"code":9,"message":"m"}`,
	} {
		if got := b.run(body); got != want {
			t.Errorf("%s: %s", body, got)
		}
	}
}

// T-2 to T-9, in their order.
func TestEarlyErrors(t *testing.T) {
	b := newFixture(t, project.Env{"MCPBASH_TOOL_ALLOW_DEFAULT": "",
		"MCPBASH_TOOL_ALLOWLIST": "writable gone link ok plain nopath", "MCPBASH_TOOL_VALIDATE_ARGS": "true"})
	b.add("ok", "echo ok", `"inputSchema":{"required":["x"]}`)
	b.add("denied", "echo ok")
	b.add("writable", "echo ok")
	os.Chmod(filepath.Join(b.root, "tools/writable/tool.sh"), 0o757)
	b.add("gone", "")
	os.Remove(filepath.Join(b.root, "tools/gone/tool.sh"))
	b.add("link", "")
	os.Remove(filepath.Join(b.root, "tools/link/tool.sh"))
	os.Symlink("/bin/ls", filepath.Join(b.root, "tools/link/tool.sh"))
	b.items["nopath"] = `{"name":"nopath"}`
	b.items["plain"] = `{"name":"plain","path":"plain.txt"}`
	os.WriteFile(filepath.Join(b.root, "tools/plain.txt"), []byte("x"), 0o644)
	for name, want := range map[string]string{
		"nope":   `{"code":-32602,"message":"Tool 'nope' not found"}`,
		"nopath": `{"code":-32602,"message":"Tool 'nopath' path unavailable"}`,
		"denied": `{"code":-32602,"message":"Tool 'denied' blocked by policy (not in MCPBASH_TOOL_ALLOWLIST)"}`,
		"writable": `{"code":-32602,"message":"Tool 'writable' path rejected by policy","data":{"reason":"` +
			`tools/writable/tool.sh (mode 0757, others can write to it; run chmod o-w tools/writable/tool.sh)"}}`,
		"link": `{"code":-32602,"message":"Tool 'link' path rejected by policy","data":{"reason":"tools/link/tool.sh ` +
			`(leads out of tools)"}}`,
		"gone":  `{"code":-32602,"message":"Tool executable missing"}`,
		"plain": `{"code":-32602,"message":"Tool executable missing"}`,
		"ok": `{"name":"ok","content":[{"type":"text","text":"Invalid arguments: /x: is required"}],"isError":true,` +
			`"structuredContent":{"success":false,"error":{"type":"validation_error","message":"Invalid arguments: /x: is ` +
			`required","violations":[{"path":"/x","message":"is required"}]}}}`,
	} {
		if got := b.call(&Request{Name: name}); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	if file := b.root + "/tools/writable/tool.sh"; !b.logged("Tool 'writable' refused: " + file + " (mode 0757, ") {
		t.Errorf("T-41a: the log has not the whole path: %q", b.logs)
	}
}

// T-8a: settings that other users can change.
func TestInsecureSettings(t *testing.T) {
	b := newFixture(t, nil)
	b.add("ok", "echo ok")
	b.tools.project.Meta.Insecure = &trust.InsecureError{Path: b.root + "/server.d", Reason: "why"}
	const want = `{"code":-32602,"message":"Tool 'ok' blocked by policy (insecure server.meta.json)",` +
		`"data":{"reason":"server.d (why); then restart the server"}}`
	if got := b.call(&Request{Name: "ok"}); got != want {
		t.Error(got)
	}
}

// T-8a, T-5b, CF-63: a tool with an unreadable declaration does not run in any mode.
func TestUnreadable(t *testing.T) {
	b := newFixture(t, nil)
	b.add("ok", "echo ok")
	for member, want := range map[string]string{
		`"unreadable":"tools/x/tool.meta.json:1:2: why"`: "tools/x/tool.meta.json:1:2: why",
		`"confine":[]`:            `\"confine\" must be an object`,
		`"confine":"none"`:        `\"confine\" must be an object`,
		`"capabilities":"Search"`: `\"capabilities\" must be an array of strings`,
		`"capabilities":[5]`:      `\"capabilities\" must be an array of strings`,
	} {
		b.add("x", "echo ran", member)
		want = `{"code":-32602,"message":"Tool 'x' has an unreadable declaration","data":{"reason":"` + want + `"}}`
		if got := b.call(&Request{Name: "x"}); got != want {
			t.Errorf("%s: %s", member, got)
		}
	}
	b.tools.project.Meta.Unreadable = errors.New("server.d/server.meta.json:1:2: why")
	const want = `{"code":-32602,"message":"Tool 'ok' blocked by policy (unreadable server.meta.json)",` +
		`"data":{"reason":"server.d/server.meta.json:1:2: why; correct it, then restart the server"}}`
	if got := b.call(&Request{Name: "ok"}); got != want {
		t.Error(got)
	}
}

// T-6, T-14, T-60: inheriting the server's environment.
func TestInherit(t *testing.T) {
	b := newFixture(t, project.Env{"MCPBASH_TOOL_ENV_MODE": "inherit"})
	if got := b.run("echo x"); got != `{"code":-32602,"message":"MCPBASH_TOOL_ENV_MODE=inherit requires `+
		`MCPBASH_TOOL_ENV_INHERIT_ALLOW=true"}` {
		t.Error(got)
	}
	b = newFixture(t, project.Env{"MCPBASH_TOOL_ENV_MODE": "inherit", "MCPBASH_TOOL_ENV_INHERIT_ALLOW": "true"})
	for range 3 {
		if got := b.run(`printf %s "$OUTSIDE"`); !strings.Contains(got, `"text":"secret"`) {
			t.Error(got)
		}
	}
	n := 0
	for _, l := range b.logs {
		if l == "warning mcp.tools MCPBASH_TOOL_ENV_MODE=inherit; tools receive the full host environment" {
			n++
		}
	}
	if n != 1 {
		t.Errorf("warned %d times", n)
	}
}

// T-11, T-215: validation on.
func TestValidation(t *testing.T) {
	b := newFixture(t, nil)
	schema := `"inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}`
	call := func(more ...string) string {
		b.add("t", `echo '{"n":"x"}'`, more...)
		return b.call(&Request{Name: "t", Arguments: json.RawMessage(`{"n":"five"}`)})
	}
	if got := call(schema); !strings.Contains(got, `"isError":false`) {
		t.Error("off by default:", got)
	}
	if got := call(schema, `"validateInput":true`); !strings.Contains(got,
		`"violations":[{"path":"/n","message":"must be an integer"}]`) {
		t.Error(got)
	}
	if got := call(`"inputSchema":{"type":7}`, `"validateInput":true`); !strings.Contains(got, `"isError":false`) ||
		!b.logged("warning mcp.tools Tool 't' inputSchema cannot be used for validation") {
		t.Error(got, b.logs)
	}
	out := `"outputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}`
	if got := call(`"validateInput":true`,
		out); got != `{"name":"t","content":[{"type":"text","text":"Invalid output: /n: must be an integer"}],`+
		`"isError":true,"structuredContent":{"success":false,"error":{"type":"output_validation_error","message":"Invalid `+
		`output: /n: must be an integer","violations":[{"path":"/n","message":"must be an integer"}]}},`+
		`"_meta":{"exitCode":0}}` {
		t.Error(got)
	}
	b.add("e", "echo hi", `"validateInput":true`, `"outputSchema":{"type":"object"}`)
	if got := b.call(&Request{Name: "e"}); !strings.Contains(got,
		`"error":{"type":"output_validation_error","message":"Tool output is not valid JSON for declared outputSchema"}`) {
		t.Error(got)
	}
	off := newFixture(t, project.Env{"MCPBASH_TOOL_VALIDATE_ARGS": "false"})
	off.add("t", "echo ok", `"validateInput":true`, `"inputSchema":{"required":["x"]}`)
	if got := off.call(&Request{Name: "t"}); !strings.Contains(got, `"isError":false`) {
		t.Error("the environment decides first:", got)
	}
	// T-217: the validation error itself violates this schema.
	b.add("strict", "echo ok", `"validateInput":true`, `"inputSchema":{"required":["x"]}`,
		`"outputSchema":{"required":["y"]}`)
	if got := b.call(&Request{Name: "strict"}); strings.Contains(got, "structuredContent") ||
		!strings.Contains(got, "Invalid arguments") {
		t.Error(got)
	}
}

// T-15: arguments get the form that the schema wants, and _meta reports it. A setting turns that off.
func TestAdjustedArguments(t *testing.T) {
	const (
		schema = `"inputSchema":{"type":"object","required":["n"],"properties":{"n":{"type":"integer"},` +
			`"name":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}}}}`
		print   = `printf %s "$MCP_TOOL_ARGS_JSON"`
		refused = `"text":"Invalid arguments: `
	)
	meta := func(list string) string {
		return `"_meta":{"exitCode":0,"mcpbash/adjustedArguments":[` + list + `]}}`
	}
	for _, tc := range []struct{ more, arguments, env, want, meta string }{
		{`"validateInput":true`, `{"n":"10","name":null,"tags":"[\"a\"]"}`, "", `"structuredContent":{"n":10,"tags":["a"]}`,
			meta(`{"path":"/n","to":"number"},{"path":"/name","to":"absent"},{"path":"/tags","to":"array"}`)},
		{`"validateInput":true`, `{"n":10,"name":"5"}`, "", `"structuredContent":{"n":10,"name":"5"}`,
			`"_meta":{"exitCode":0}}`},
		{`"validateInput":true`, `{"n":"10","name":true}`, "", refused + `/name: must be a string"`, ``},
		{`"validateInput":true`, `{"n":null}`, "", refused + `/n: must be an integer"`, ``},
		{`"validateInput":true`, `{"n":"10"}`, "false", refused + `/n: must be an integer"`, ``},
		{`"validateInput":false`, `{"n":"10","name":null}`, "", `"structuredContent":{"n":"10","name":null}`,
			`"_meta":{"exitCode":0}}`},
	} {
		b := newFixture(t, project.Env{"MCPBASH_TOOL_ADJUST_ARGS": tc.env})
		b.add("t", print, schema, tc.more)
		r := &Request{Name: "t", Arguments: json.RawMessage(tc.arguments)}
		dry := b.tools.DryRun(t.Context(), &Request{Name: "t", Arguments: json.RawMessage(tc.arguments)})
		got := b.call(r)
		if !strings.Contains(got, tc.want) || !strings.HasSuffix(got, tc.meta) {
			t.Errorf("%s %s %s: %s", tc.more, tc.arguments, tc.env, got)
		}
		if refuses := strings.Contains(tc.want, refused); dry.Enforced && (dry.Violations != nil) != refuses {
			t.Errorf("%s %s %s: dry run: %v", tc.more, tc.arguments, tc.env, dry.Violations)
		}
	}
	b := newFixture(t, nil)
	b.add("t", `echo '{"content":[],"isError":true,"_meta":{"mcpbash/adjustedArguments":"forged"}}'`)
	if got := b.call(&Request{Name: "t"}); strings.Contains(got, "forged") {
		t.Errorf("the tool sets a member of the server: %s", got)
	}
	b.add("t", `exit 3`, schema, `"validateInput":true`)
	if got := b.call(&Request{Name: "t", Arguments: json.RawMessage(`{"n":"1"}`)}); !strings.HasSuffix(got,
		`"_meta":{"exitCode":3,"mcpbash/adjustedArguments":[{"path":"/n","to":"number"}]}}`) {
		t.Errorf("a failure: %s", got)
	}
}

// The environment of scripts (tools section 5).
func TestEnvironment(t *testing.T) {
	t.Setenv("UNUSED", "x")
	b := newFixture(t, project.Env{
		"HOME": "/h", "MCP_TOOL_NAME": "stale", "MCP_ELICIT_REQUEST_FILE": "stale", "TRACEPARENT": "stale",
		"MCPBASH_REMOTE_TOKEN":   strings.Repeat("s", 40),
		"MCPBASH_MAX_TEXT_BYTES": "77", "MCPBASH_SERVER_NAME": "stale", "MCPBASH_DIRECT_FD": "3",
	})
	b.add("env.dump", `while IFS= read -r -d '' v; do printf '%s\0' "$v"; done < <(exec env -0)`,
		`"timeoutHint":"hint"`)
	got := b.call(&Request{
		ID: `"call"`, Name: "env.dump", Arguments: json.RawMessage(`{"b":1.50,"a":"x"}`),
		Meta: json.RawMessage(`{"progressToken":"7",` +
			`"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","tracestate":"a=b","baggage":"bad value"}`),
		ProgressToken: json.RawMessage(`"7"`), Client: mcp.Capabilities{Roots: true, UI: true},
		Roots: roots.Scope{
			List: roots.List{{URI: "file:///p", Name: "n", Path: "/p"}, {URI: "file:///q", Path: "/q"}}, Given: true,
		},
	})
	text := rawjson.TextOf(func() json.RawMessage {
		for e := range rawjson.Elements(rawjson.Get(json.RawMessage(got), "content")) {
			return e
		}
		return nil
	}(), "text")
	env := map[string]string{}
	for entry := range strings.SplitSeq(text, "\x00") {
		if name, value, ok := strings.Cut(entry, "="); ok {
			if _, twice := env[name]; twice {
				t.Errorf("%s is there twice", name)
			}
			env[name] = value
		}
	}
	desk := filepath.Dir(env["MCP_CANCEL_FILE"])
	lang := b.tools.project.ToolBase(&b.tools.project.Scripts.Tools)["LANG"] // depends on the system (T-62)
	for name, want := range map[string]string{
		"HOME": "/h", "TMPDIR": desk + "/tmp", "LANG": lang, "PWD": b.root, "MCP_SDK": "/home/sdk",
		"MCPBASH_HOME":       "/home",
		"MCPBASH_HELPER_BIN": "/helper",
		"MCPBASH_JSON_TOOL":  "jq", "MCPBASH_JSON_TOOL_BIN": "/bin/jq", "MCPBASH_MODE": "full",
		"MCP_TOOL_NAME": "env.dump",
		"MCP_TOOL_PATH": b.root + "/tools/env.dump/tool.sh", "MCP_TOOL_ARGS_JSON": `{"b":1.50,"a":"x"}`,
		"MCP_TOOL_METADATA_JSON": b.items["env.dump"],
		"MCP_TOOL_META_JSON": `{"progressToken":"7",` +
			`"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","tracestate":"a=b","baggage":"bad value"}`,
		"MCP_TOOL_ERROR_FILE": desk + "/error.json", "MCP_TOOL_RESOURCES_FILE": desk + "/resources",
		"MCP_PROGRESS_STREAM": desk + "/progress.ndjson", "MCP_LOG_STREAM": desk + "/logs.ndjson",
		"MCP_PROGRESS_TOKEN": "7", "MCPBASH_PROGRESS_TOKEN_JSON": `"7"`, "MCP_INPUT_DIR": desk + "/input",
		"MCP_ELICIT_SUPPORTED": "0", "MCP_SAMPLING_SUPPORTED": "0", "MCP_ROOTS_SUPPORTED": "0",
		"MCP_ROOTS_JSON":  `[{"uri":"file:///p","name":"n","path":"/p"},{"uri":"file:///q","name":"","path":"/q"}]`,
		"MCP_ROOTS_PATHS": "/p\n/q", "MCP_ROOTS_COUNT": "2", "MCP_ROOTS_GIVEN": "1", "MCP_CONFINED": "0",
		"MCPBASH_PROJECT_ROOT": b.root, "MCPBASH_SERVER_NAME": filepath.Base(b.root), "MCPBASH_SERVER_VERSION": "0.0.0",
		"MCPBASH_TRANSPORT": "stdio", "MCPBASH_TRANSPORT_STDIO": "true",
		"MCPBASH_WORKER_KEY": "ImNhbGwi", "MCPBASH_CLIENT_SUPPORTS_UI": "1", "MCPBASH_TIMEOUT_HINT": "hint",
		"MCPBASH_MAX_TEXT_BYTES": "77",
		"TRACEPARENT":            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "TRACESTATE": "a=b",
		"MCP_CLIENT_ID": "", "MCP_CLIENT_ISSUER": "", "MCP_CLIENT_SUBJECT": "", "MCP_CLIENT_SCOPES": "", // H-400
		"MCPBASH_ARGS_FLAT": ".\to{\"b\":1.50,\"a\":\"x\"}\n.b\tf1.5\n.a\tsx\n",
	} {
		if env[name] != want {
			t.Errorf("%s=%q, want %q", name, env[name], want)
		}
	}
	for _, name := range []string{"OUTSIDE", "MCPBASH_REMOTE_TOKEN", "MCP_ELICIT_REQUEST_FILE", "BAGGAGE",
		"MCP_TOOL_ARGS_FILE", "MCPBASH_DIRECT_FD", "MCPBASH_LOG_LEVEL", "UNUSED", "BASH_XTRACEFD"} {
		if v, ok := env[name]; ok {
			t.Errorf("%s=%q is passed", name, v)
		}
	}
	if !strings.HasPrefix(env["MCPBASH_DEBUG_LOG"], desk+"/tool-debug.env.dump.ImNhbGwi.") {
		t.Error(env["MCPBASH_DEBUG_LOG"])
	}
}

// T-77 to T-79: arguments that are too long for a variable.
func TestSpilling(t *testing.T) {
	const body = `[ -z "$MCP_TOOL_ARGS_JSON" ] && [ -f "$MCP_TOOL_ARGS_FILE" ] && [ -z "${MCPBASH_ARGS_FLAT-}" ] && ` +
		`echo spilled "$(stat -c %a "$MCP_TOOL_ARGS_FILE")" && cat "$MCP_TOOL_ARGS_FILE"; echo "$MCP_TOOL_META_JSON"`
	b := newFixture(t, project.Env{"MCPBASH_ENV_PAYLOAD_THRESHOLD": "20"})
	b.add("t", body)
	long := `{"k":"` + strings.Repeat("é", 7) + `"}`
	if got := b.call(&Request{Name: "t", Arguments: json.RawMessage(long)}); !strings.Contains(got,
		`"text":"spilled 600\n{\"k\":\"ééééééé\"}{}\n"`) {
		t.Error(got)
	}
	if got := b.call(&Request{Name: "t", Arguments: json.RawMessage(`{"k":"12345678901"}`)}); strings.Contains(got,
		"spilled") {
		t.Error("19 bytes are spilled at a threshold of 20:", got)
	}
	huge := newFixture(t, project.Env{"MCPBASH_ENV_PAYLOAD_THRESHOLD": "9999999"})
	huge.add("t", `wc -c <"${MCP_TOOL_ARGS_FILE:-/dev/null}"`)
	if got := huge.call(&Request{Name: "t", Arguments: json.RawMessage(`{"k":"` + strings.Repeat("x", 5_000_000) +
		`"}`)}); !strings.Contains(got, `"text":"5000008\n"`) {
		t.Error(got)
	}
}

// refused returns the result for an output that an outputSchema refuses (T-215, T-405).
func refused(message, hint string, structured bool) string {
	text := `{"name":"t","content":[{"type":"text","text":"` + message + `"},{"type":"text","text":` +
		string(rawjson.Quote(hint)) + `}],"isError":true,`
	if structured {
		text += `"structuredContent":{"success":false,"error":{"type":"output_validation_error","message":"` +
			message + `"}},`
	}
	return text + `"_meta":{"exitCode":0}}`
}

// T-130 to T-134: limits on output and standard error.
func TestLimits(t *testing.T) {
	b := newFixture(t, project.Env{"MCPBASH_MAX_TOOL_OUTPUT_SIZE": "1000", "MCPBASH_MAX_TOOL_STDERR_SIZE": "100",
		"MCPBASH_TOOL_STDERR_TAIL_LIMIT": "5"})
	if got := b.run(`printf '%1000s'`); !strings.Contains(got, `"isError":false`) {
		t.Error(got)
	}
	if got := b.run(`printf '%1001s'; sleep 60`); !strings.HasPrefix(got,
		`{"name":"t","content":[{"type":"text","text":"Tool output exceeded 1000 bytes"},{"type":"text","text":"standard `+
			`output is limited by MCPBASH_MAX_TOOL_OUTPUT_SIZE; `) || !strings.Contains(got, `"isError":true`) || !b.logged(
		"error mcp.tools Tool t output 1001 bytes exceeds limit 1000") {
		t.Error(got, b.logs)
	}
	if got := b.run(`printf '%101s' >&2; sleep 60`); !strings.HasPrefix(got,
		`{"name":"t","content":[{"type":"text","text":"Tool stderr exceeded 100 bytes"},{"type":"text","text":"standard `+
			`error is limited by MCPBASH_MAX_TOOL_STDERR_SIZE; `) || !strings.Contains(got, `"isError":true`) || !b.logged(
		"error mcp.tools Tool t stderr 101 bytes exceeds limit 100") {
		t.Error(got)
	}
	// é is cut in half: é12␊␊ is 6 bytes
	if got := b.run(`printf 'abcé12\n\n' >&2`); !strings.Contains(got, `"stderr":"12"`) {
		t.Error(got)
	}
	if got := b.run(`printf 'a\0\xffb\n' >&2`); !strings.Contains(got, `"stderr":"a`+"\uFFFD"+`b"`) {
		t.Error(got)
	}
	old := newFixture(t, project.Env{"MCPBASH_MAX_TOOL_OUTPUT_SIZE": "1000", "MCPBASH_TOOL_FAILURE_MODE": "error"})
	if got := old.run(`printf '%1001s'; sleep 60`); got != `{"code":-32603,"message":"Tool output exceeded 1000 bytes"}` {
		t.Error(got)
	}
	off := newFixture(t, project.Env{"MCPBASH_TOOL_STDERR_CAPTURE": "no"})
	if got := off.run(`echo x >&2; exit 1`); got != `{"name":"t","content":[{"type":"text","text":"Tool failed"}],`+
		`"isError":true,"_meta":{"exitCode":1}}` {
		t.Error(got)
	}
}

// tools section 8. TestClock tests the clock. This test checks that calls use it.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	b := newFixture(t, project.Env{"MCPBASH_DEFAULT_TOOL_TIMEOUT": "1"})
	golden(t, "timeouts.txtar", func(name, body, entry string) string {
		b.add(name, body, entry)
		began := time.Now()
		got := b.call(&Request{Name: name})
		if time.Since(began) < time.Second {
			t.Errorf("%s: killed early (T-156)", name)
		}
		return got
	})
	if got := b.run(`printf '{"method":"notifications/progress","params":{"progress":1}}\n' >>"$MCP_PROGRESS_STREAM"; ` +
		`sleep 60`); !strings.Contains(got, `"reason":"fixed"`) || !b.logged("Consider enabling "+
		"MCPBASH_PROGRESS_EXTENDS_TIMEOUT=true") {
		t.Error("T-161:", got)
	}
}

// T-150 to T-156, T-126: the time limits of a call.
func TestClock(t *testing.T) {
	at := time.Unix(1000, 0)
	sec := func(s float64) time.Time { return at.Add(time.Duration(s * float64(time.Second))) }
	reason := func(err error) string {
		var e *timeoutError
		if errors.As(err, &e) {
			return e.reason
		}
		return ""
	}
	calls := &project.Calls{Timeout: 30, LongTimeout: 3600, MaxTimeout: 600}
	for _, tc := range []struct {
		name     string
		calls    *project.Calls
		entry    entry
		override int
		secs     int
		option   string
	}{
		{"default", calls, entry{}, 0, 30, "MCPBASH_DEFAULT_TOOL_TIMEOUT"},
		{"long-running", calls, entry{longRunning: true}, 0, 3600, "MCPBASH_TASK_TIMEOUT"},
		{"metadata", calls, entry{timeout: 5, longRunning: true}, 0, 5, ""},
		{"request", calls, entry{timeout: 5}, 7, 7, ""},
		{"none", &project.Calls{}, entry{}, 0, 0, ""},
	} {
		c := newClock(tc.calls, &tc.entry, tc.override, at)
		if c.secs != tc.secs || c.option != tc.option {
			t.Errorf("%s: %d %s", tc.name, c.secs, c.option)
		}
		if tc.secs == 0 && c.tick(sec(1e6), false, false) != nil {
			t.Error("a clock without limit rings")
		}
	}
	c := newClock(calls, &entry{timeout: 5}, 0, at)
	if c.tick(sec(4.999), true, false) != nil || reason(c.tick(sec(5), false, false)) != "fixed" {
		t.Error("fixed: progress does not extend it")
	}
	c = newClock(calls, &entry{timeout: 5}, 0, at)
	if c.tick(sec(4), false, false) != nil || c.tick(sec(100), false, true) != nil ||
		c.tick(sec(100.5), false, false) != nil || reason(c.tick(sec(101), false, false)) != "fixed" {
		t.Error("a question stops the clock")
	}
	c = newClock(calls, &entry{timeout: 5, progressExtends: true, maxTimeout: 12}, 0, at)
	if c.tick(sec(4), true, false) != nil || c.tick(sec(8), true, false) != nil ||
		c.tick(sec(11.9), true, false) != nil || reason(c.tick(sec(12), true, false)) != "max_exceeded" {
		t.Error("the cap holds whatever the activity")
	}
	c = newClock(calls, &entry{timeout: 5, progressExtends: true, maxTimeout: 5}, 0, at)
	if reason(c.tick(sec(5), false, false)) != "idle" {
		t.Error("when both are due, idle is reported")
	}
	c = newClock(&project.Calls{Timeout: 5, MaxTimeout: 600, ProgressExtends: true}, &entry{}, 0, at)
	if c.tick(sec(4), true, false) != nil || c.tick(sec(8.9), false, false) != nil ||
		reason(c.tick(sec(9), false, false)) != "idle" {
		t.Error("the setting turns it on too")
	}
}

// listener collects the reports of a script.
type listener struct{ lines []string }

func (l *listener) Ready() bool { return true }

func (l *listener) Progress(p Progress) {
	l.lines = append(l.lines, fmt.Sprintf("p %s %s %s", p.Value, p.Total, p.Message))
}

func (l *listener) Keep(r Reports) { r.Deliver(l) }

func (l *listener) Log(m LogMessage) {
	l.lines = append(l.lines, fmt.Sprintf("l %s %s %s", m.Level, m.Logger, m.Data))
}

// T-100 to T-103, P-1102: progress reports and logs.
func TestStreams(t *testing.T) {
	for _, live := range []string{"true", "false"} {
		b := newFixture(t, project.Env{"MCPBASH_ENABLE_LIVE_PROGRESS": live})
		b.add("t", `
p() { printf '%s\n' "$1" >>"$MCP_PROGRESS_STREAM"; }
l() { printf '%s\n' "$1" >>"$MCP_LOG_STREAM"; }
p '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"tok","progress":10,"total":null,"message":"one"}}'
p ''
p 'careless echo'
p '{"id":1,"method":"notifications/progress","params":{"progress":11}}'
p '{"method":"notifications/message","params":{"progress":12}}'
p '{"method":"notifications/progress","params":[1]}'
p '{"method":"notifications/progress","params":{"progress":"13"}}'
p '[1]'
p $'{"method":"notifications/progress","params":{"progress":14,"message":"\xff"}}'
p '{"method":"notifications/progress","params":{"progress":50.5,"total":100,"message":null}}'
l '{"method":"notifications/message","params":{"level":"WARNING","logger":"lg","data":{"a": 1}}}'
l '{"method":"notifications/message","params":{"level":"odd"}}'
printf '{"method":"notifications/message","params":{"level":"error","data":"last"}}' >>"$MCP_LOG_STREAM"`)
		l := &listener{}
		b.call(&Request{Name: "t", Listener: l})
		want := `p 10  "one"|p 50.5 100 |l warning "lg" {"a":1}|l info  null|l error  "last"`
		if got := strings.Join(l.lines, "|"); got != want {
			t.Errorf("live %s:\n got %s\nwant %s", live, got, want)
		}
	}
}

// An asker answers questions with a function of the test.
type asker struct {
	mu     sync.Mutex
	asked  []mcp.InputRequest
	answer func(q mcp.InputRequest) (mcp.InputResponse, bool) // false: never
	closed int
	behind func(asked int) bool // nil: the client always reads
}

func (a *asker) Ready() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.behind == nil || !a.behind(len(a.asked))
}

func (a *asker) Patience() time.Duration { return 0 }

func (a *asker) Ask(qs []mcp.InputRequest) mcp.PendingInput {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, qs...)
	in := &inquiry{asker: a}
	for _, q := range qs {
		ans, ok := a.answer(q)
		in.answers = append(in.answers, ans)
		in.pending = in.pending || !ok
	}
	return in
}

type inquiry struct {
	asker   *asker
	answers []mcp.InputResponse
	pending bool
}

func (in *inquiry) Responses() ([]mcp.InputResponse, bool) { return in.answers, !in.pending }

func (in *inquiry) Wait(context.Context) ([]mcp.InputResponse, error) { return in.answers, nil }

func (in *inquiry) Close() []mcp.InputResponse {
	in.asker.mu.Lock()
	defer in.asker.mu.Unlock()
	in.asker.closed++
	return in.answers
}

const askScript = `
mkfifo -m 600 "$MCP_INPUT_DIR/wake"; exec 7<>"$MCP_INPUT_DIR/wake"
await() { until [ -e "$1" ]; do read -r _ <&7; done; }
ask() {
  rm -f "$MCP_ELICIT_RESPONSE_FILE"
  printf '%s' "$1" >"$MCP_ELICIT_REQUEST_FILE.tmp.$$"; mv "$MCP_ELICIT_REQUEST_FILE.tmp.$$" "$MCP_ELICIT_REQUEST_FILE"
  await "$MCP_ELICIT_RESPONSE_FILE"
  cat "$MCP_ELICIT_RESPONSE_FILE"; rm "$MCP_ELICIT_RESPONSE_FILE"
}
batch() {
  rm -f "$MCP_INPUT_DIR/batch.response"
  printf '%s' "$1" >"$MCP_INPUT_DIR/tmp"; mv "$MCP_INPUT_DIR/tmp" "$MCP_INPUT_DIR/batch.request"
  await "$MCP_INPUT_DIR/batch.response"
  cat "$MCP_INPUT_DIR/batch.response"
}
`

func textOf(t *testing.T, result string) string {
	t.Helper()
	for e := range rawjson.Elements(rawjson.Get(json.RawMessage(result), "content")) {
		return rawjson.TextOf(e, "text")
	}
	t.Fatalf("no content: %s", result)
	return ""
}

// P-1805, T-126: a client that does not read gets no question, and its unread question does not
// extend the time of a script.
func TestUnreadQuestions(t *testing.T) {
	b := newFixture(t, nil)
	b.add("t", askScript+`ask '{"message":"M"}'`)
	looks := 0
	late := &asker{
		answer: func(mcp.InputRequest) (mcp.InputResponse, bool) {
			return mcp.InputResponse{Result: json.RawMessage(`{"action":"decline"}`)}, true
		},
		behind: func(int) bool { looks++; return looks < 5 },
	}
	r := &Request{Name: "t", Asker: late, Client: mcp.Capabilities{ElicitForm: true}}
	if got := textOf(t, b.call(r)); got != `{"action":"decline","content":null}` || looks < 5 || len(late.asked) != 1 {
		t.Errorf("%s, after %d looks, asked %d times", got, looks, len(late.asked))
	}
	never := &asker{
		answer: func(mcp.InputRequest) (mcp.InputResponse, bool) { return mcp.InputResponse{}, false },
		behind: func(asked int) bool { return asked > 0 },
	}
	r = &Request{Name: "t", Asker: never, Client: mcp.Capabilities{ElicitForm: true}, Timeout: 1}
	if got := textOf(t, b.call(r)); got != "Tool timed out after 1s" {
		t.Error(got)
	}
}

// T-120 to T-125, P-2203: elicitation by a script.
func TestElicitation(t *testing.T) {
	both := mcp.Capabilities{ElicitForm: true, ElicitURL: true}
	for _, tc := range []struct {
		name, ask string
		client    mcp.Capabilities
		answer    mcp.InputResponse
		asked     string // params, or "" if the client is not asked
		want      string
	}{
		{"form", `{"message":"Proceed?","schema":{"type": "object"},"mode":"form","key":"k"}`, both,
			mcp.InputResponse{Result: json.RawMessage(`{"action":"accept","content":{"confirmed":true}}`)},
			`{"mode":"form","message":"Proceed?","requestedSchema":{"type":"object"}}`,
			`{"action":"accept","content":{"confirmed":true}}`},
		{"no mode, no schema", `{"message":"M","schema":7}`, both,
			mcp.InputResponse{Result: json.RawMessage(`{"action":"decline"}`)},
			`{"mode":"form","message":"M","requestedSchema":{"type":"object","properties":{}}}`,
			`{"action":"decline","content":null}`},
		{"url", `{"message":"Authorize","url":"https://example.com/a","mode":"url"}`, both,
			mcp.InputResponse{Result: json.RawMessage(`{"action":"cancel"}`)},
			`{"mode":"url","message":"Authorize","url":"https://example.com/a"}`, `{"action":"cancel","content":null}`},
		{"strange action", `{"message":"M"}`, both, mcp.InputResponse{Result: json.RawMessage(`{"action":"maybe"}`)},
			`{"mode":"form","message":"M","requestedSchema":{"type":"object","properties":{}}}`,
			`{"action":"error","content":null}`},
		{"client error", `{"message":"M"}`, both, mcp.InputResponse{Error: mcp.Errorf(-1, "broken")},
			`{"mode":"form","message":"M","requestedSchema":{"type":"object","properties":{}}}`,
			`{"action":"error","content":null}`},
		{"url not supported", `{"message":"M","url":"https://x","mode":"url"}`, mcp.Capabilities{ElicitForm: true},
			mcp.InputResponse{}, ``, `{"action":"decline","content":null}`},
		{"form not supported", `{"message":"M"}`, mcp.Capabilities{ElicitURL: true}, mcp.InputResponse{}, ``,
			`{"action":"decline","content":null}`},
		{"not JSON", `{"message`, both, mcp.InputResponse{}, ``, `{"action":"error","content":null}`},
		{"unknown mode", `{"message":"M","mode":"voice"}`, both, mcp.InputResponse{}, ``,
			`{"action":"error","content":null}`},
		{"url missing", `{"message":"M","mode":"url"}`, both, mcp.InputResponse{}, ``,
			`{"action":"error","content":null}`},
	} {
		b := newFixture(t, nil)
		a := &asker{answer: func(mcp.InputRequest) (mcp.InputResponse, bool) { return tc.answer, true }}
		b.add("t", askScript+`ask '`+tc.ask+`'`)
		got := b.call(&Request{Name: "t", Client: tc.client, Asker: a})
		if textOf(t, got) != tc.want {
			t.Errorf("%s: %s", tc.name, got)
		}
		asked := ""
		if len(a.asked) > 0 {
			asked = string(a.asked[0].Params)
		}
		if asked != tc.asked {
			t.Errorf("%s: asked %s", tc.name, asked)
		}
		if tc.answer.Error != nil && !b.logged("warning mcp.elicitation Client error: code=-1 message=broken") {
			t.Errorf("%s: %q", tc.name, b.logs)
		}
	}
}

// T-128: batches of input requests.
func TestBatch(t *testing.T) {
	a := &asker{answer: func(q mcp.InputRequest) (mcp.InputResponse, bool) {
		if q.Method == "roots/list" {
			return mcp.InputResponse{Error: mcp.Errorf(-5, "no")}, true
		}
		return mcp.InputResponse{Result: json.RawMessage(`{"method":"` + q.Method + `"}`)}, true
	}}
	for _, tc := range []struct{ ask, want string }{
		{`{"b":{"method":"sampling/createMessage","params":{"x": 1}},"a":{"method":"roots/list"},` +
			`"u":{"method":"elicitation/create","params":{"mode":"url","url":"u"}},"f":{"method":"elicitation/create",` +
			`"params":{"message":"m"}}}`,
			`{"b":{"result":{"method":"sampling/createMessage"}},"a":{"error":{"code":-5,"message":"no"}},` +
				`"u":{"error":{"code":-32601,"message":"Not supported by the client"}},` +
				`"f":{"result":{"method":"elicitation/create"}}}`},
		{`{"u":{"method":"elicitation/create","params":{"mode":"url"}}}`,
			`{"u":{"error":{"code":-32601,"message":"Not supported by the client"}}}`},
		{`{"k":{"method":"tools/call"},"j":{"method":"roots/list"}}`,
			`{"k":{"error":{"code":-32602,"message":"method of k must be elicitation/create, sampling/createMessage or ` +
				`roots/list"}},"j":{"error":{"code":-32602,"message":"method of k must be elicitation/create, ` +
				`sampling/createMessage or roots/list"}}}`},
		{`{"a b":{"method":"roots/list"}}`, `{"a b":{"error":{"code":-32602,"message":"invalid key \"a b\""}}}`},
		{`[]`, `{"":{"error":{"code":-32602,"message":"batch.request is not a JSON object"}}}`},
		{`{}`, `{"":{"error":{"code":-32602,"message":"batch.request asks nothing"}}}`},
	} {
		b := newFixture(t, nil)
		b.add("t", askScript+`batch '`+tc.ask+`'`)
		got := b.call(&Request{Name: "t", Asker: a, Client: mcp.Capabilities{ElicitForm: true, Sampling: true,
			Roots: true}})
		if textOf(t, got) != tc.want {
			t.Errorf("%s:\n got %s", tc.ask, textOf(t, got))
		}
	}
	if got := string(a.asked[2].Params); got != `{"mode":"form","message":"m"}` {
		t.Errorf("mode is not added: %s", got)
	}
}

// T-115, T-125, T-170: first the mark, then the answer, then the signal.
func TestCancellation(t *testing.T) {
	b := newFixture(t, nil)
	out := filepath.Join(b.root, "out")
	ready := filepath.Join(b.root, "ready")
	b.add("t", askScript+`
trap '[ -f "$MCP_CANCEL_FILE" ] && echo marker >>"`+out+`"; cat "$MCP_ELICIT_RESPONSE_FILE" >>"`+out+`"; exit 0' TERM
printf '{"message":"M"}' >"$MCP_ELICIT_REQUEST_FILE"
until [ ! -e "$MCP_ELICIT_REQUEST_FILE" ]; do sleep 0.02; done
touch "`+ready+`"
sleep 600 & wait`)
	ctx, cancel := context.WithCancelCause(context.Background())
	a := &asker{answer: func(mcp.InputRequest) (mcp.InputResponse, bool) { return mcp.InputResponse{}, false }}
	go func() {
		for {
			if _, err := os.Stat(ready); err == nil {
				cancel(ErrCancelled)
				return
			}
			runtime.Gosched()
		}
	}()
	got := answer(b.tools.Call(ctx, &Request{Name: "t", Asker: a, Client: mcp.Capabilities{ElicitForm: true}}))
	if got != `{"code":-32001,"message":"Tool cancelled"}` || a.closed != 1 {
		t.Error(got, a.closed)
	}
	if content, _ := os.ReadFile(out); string(content) != "marker\n"+`{"action":"cancel","content":null}` {
		t.Errorf("%q", content)
	}
}

// T-69 to T-79: hand-off files exist and are empty at the start of every call. They are private,
// and are removed at its end.
func TestHandoffDirectoriesAreClean(t *testing.T) {
	b := newFixture(t, nil)
	b.add("dirty", `
stat -c %a,%s "$MCP_TOOL_ERROR_FILE" "$MCP_TOOL_RESOURCES_FILE" "$MCP_PROGRESS_STREAM" "$MCP_LOG_STREAM"; stat -c %a "$MCP_INPUT_DIR" "$TMPDIR" "${MCP_CANCEL_FILE%/*}"
ls -A "${MCP_CANCEL_FILE%/*}" | grep -vxE 'progress.ndjson|logs.ndjson|error.json|resources|input|tmp'; ls -A "$MCP_INPUT_DIR" "$TMPDIR" | grep -vE ':$|^$'
echo junk >>"$MCP_PROGRESS_STREAM"; echo junk >>"$MCP_LOG_STREAM"; echo '"x"' >>"$MCP_TOOL_RESOURCES_FILE"; touch "$MCP_CANCEL_FILE" "$MCP_INPUT_DIR/x"; mkdir "$MCP_INPUT_DIR/y"
mktemp >/dev/null; mkdir -p "$(mktemp -d)/a/b"
echo x >>"$MCPBASH_DEBUG_LOG"; rm -f "$MCP_LOG_STREAM"`)
	b.add("where", `printf %s "${MCP_CANCEL_FILE%/*}"`)
	want := "600,0\n600,0\n600,0\n600,0\n700\n700\n700\n"
	for i := range 5 {
		if got := textOf(t, b.call(&Request{Name: "dirty"})); got != want {
			t.Fatalf("call %d: %q", i, got)
		}
	}
	for range 3 {
		where := textOf(t, b.call(&Request{Name: "where"}))
		if _, err := os.Stat(where); err == nil {
			t.Errorf("%s is still there", where)
		}
	}
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() { b.call(&Request{Name: "where"}) })
	}
	all.Wait()
	awaitFiles(t, b, 1)
}

// T-79: temporary files of a call are removed with it, however it ends.
func TestTemporaryFilesOfEndedCalls(t *testing.T) {
	b := newFixture(t, nil)
	create := `d=$(mktemp -d) && mktemp "$d/XXXXXX" >"$MCPBASH_PROJECT_ROOT/made"; `
	b.add("ends", create+"exit 1")
	b.add("dies", create+"kill -KILL $$")
	b.add("hangs", create+"trap '' TERM; sleep 600", `"timeoutSecs":1`)
	b.add("waits", create+`touch "$MCPBASH_PROJECT_ROOT/ready"; sleep 600`)
	for _, name := range []string{"ends", "dies", "hangs", "waits"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			for name == "waits" && ctx.Err() == nil {
				if _, err := os.Stat(filepath.Join(b.root, "ready")); err == nil {
					cancel(ErrCancelled)
				}
				runtime.Gosched()
			}
		}()
		answer(b.tools.Call(ctx, &Request{Name: name}))
		cancel(nil)
		made, err := os.ReadFile(filepath.Join(b.root, "made"))
		file := strings.TrimSpace(string(made))
		if err != nil || !strings.HasPrefix(file, b.tools.State.Dir) {
			t.Fatalf("%s made %q, %v", name, file, err)
		}
		for deadline := time.Now().Add(90 * time.Second); ; time.Sleep(time.Millisecond) {
			if _, err := os.Lstat(file); err != nil {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: %s is still there", name, file)
			}
		}
	}
}

// awaitFiles waits until this number of hand-off directories remain, because they are removed in the background.
func awaitFiles(t *testing.T, b *fixture, want int) {
	t.Helper()
	for deadline := time.Now().Add(90 * time.Second); ; time.Sleep(time.Millisecond) {
		left, _ := filepath.Glob(filepath.Join(b.tools.State.Dir, "*.[0-9]*"))
		if len(left) == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%q are kept, %d expected", left, want)
		}
	}
}

// T-79: the files of a call are not reused while its child processes run.
func TestFilesOfACallWithSurvivors(t *testing.T) {
	b := newFixture(t, nil)
	b.add("t", `( while [ ! -e "`+b.root+`/stop" ]; do echo x >>"$MCP_PROGRESS_STREAM" 2>/dev/null; sleep 0.01; done ) &`)
	b.call(&Request{Name: "t"})
	awaitFiles(t, b, 0)
	os.WriteFile(filepath.Join(b.root, "stop"), nil, 0o600)
}

func TestPreserveState(t *testing.T) {
	b := newFixture(t, project.Env{"MCPBASH_PRESERVE_STATE": "true"})
	b.add("t", `echo kept >>"$MCP_TOOL_RESOURCES_FILE"; echo log >"$MCPBASH_DEBUG_LOG"`)
	b.call(&Request{ID: "5", Name: "t"})
	b.call(&Request{ID: "6", Name: "t"})
	kept, _ := filepath.Glob(filepath.Join(b.tools.State.Dir, "call.*", "resources"))
	logs, _ := filepath.Glob(filepath.Join(b.tools.State.Dir, "tool-debug.t.*.log"))
	if len(kept) != 2 || len(logs) != 2 {
		t.Errorf("%q %q", kept, logs)
	}
}

// Embedded resources (tools section 12).
func TestEmbeddedResources(t *testing.T) {
	b := newFixture(t, project.Env{"MCPBASH_MAX_RESOURCE_BYTES": "100"})
	outside := t.TempDir()
	write := func(name string, data string) {
		file := filepath.Join(b.root, name)
		os.MkdirAll(filepath.Dir(file), 0o755)
		if err := os.WriteFile(file, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("data/a.txt", "hi there\n")
	write("data/b.png", "\x89PNG\r\n\x1a\n")
	write("data/c d.md", "# é\n")
	write("data/empty", "")
	write("data/latin.txt", "caf\xe9")
	write("data/nul.json", "{\x00}")
	write("data/pic.svg", "<svg/>")
	write("data/doc", "%PDF-1.4\n")
	write("data/big.txt", strings.Repeat("x", 101))
	write("data/full.bin", strings.Repeat("x", 100))
	os.WriteFile(filepath.Join(outside, "secret.txt"), []byte("secret"), 0o644)
	os.Symlink(filepath.Join(outside, "secret.txt"), filepath.Join(b.root, "data/link.txt"))
	os.Symlink("a.txt", filepath.Join(b.root, "data/inner.txt"))
	syscall.Mkfifo(filepath.Join(b.root, "data/fifo"), 0o600)
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	uri := "file://" + b.root + "/data/"
	item := func(uri, mime, key, value string) string {
		return `{"type":"resource","resource":{"uri":"` + uri + `","mimeType":"` + mime + `","` + key + `":"` + value +
			`"}}`
	}
	for _, tc := range []struct{ list, want, warning string }{
		{`["data/a.txt"]`, item(uri+"a.txt", "text/plain", "text", `hi there\n`), ``},
		{`[{"path":"data/b.png","mimeType":null,"uri":null}]`, item(uri+"b.png", "image/png", "blob",
			b64("\x89PNG\r\n\x1a\n")), ``},
		{`{"path":"` + b.root + `/data/c d.md","mimeType":"text/markdown"}`,
			item(uri+"c%20d.md", "text/markdown", "text", `# é\n`), ``},
		{`"data/a.txt"` + "\n" + `["data/inner.txt"]`, item(uri+"a.txt", "text/plain", "text", `hi there\n`) + "," +
			item(uri+"a.txt", "text/plain", "text", `hi there\n`), ``},
		{"data/a.txt\tapplication/json\tx://custom\n\ndata/empty\n", item("x://custom", "application/json", "text",
			`hi there\n`) + "," + item(uri+"empty", "text/plain", "text", ""), ``},
		{`[{"path":"data/empty","mimeType":"application/pdf"}]`, item(uri+"empty", "application/pdf", "text", ""), ``},
		{`["data/latin.txt"]`, item(uri+"latin.txt", "text/plain", "blob", b64("caf\xe9")), ``},
		{`["data/nul.json"]`, item(uri+"nul.json", "application/json", "blob", b64("{\x00}")), ``},
		{`["data/pic.svg"]`, item(uri+"pic.svg", "image/svg+xml", "text", "<svg/>"), ``},
		{`[{"path":"data/a.txt","mimeType":"text/plain; charset=binary"}]`,
			item(uri+"a.txt", "text/plain; charset=binary", "text", `hi there\n`), ``},
		{`[{"path":"data/full.bin","mimeType":"application/x-unknown"}]`,
			item(uri+"full.bin", "application/x-unknown", "text", strings.Repeat("x", 100)), ``},
		{"data/a.txt\t\tx://untyped\n", item("x://untyped", "text/plain", "text", `hi there\n`), ``},
		{`[{"path":"data/doc","mimeType":"text/plain"}]`, item(uri+"doc", "text/plain", "blob", b64("%PDF-1.4\n")), ``},
		{`["data/doc"]`, item(uri+"doc", "application/pdf", "blob", b64("%PDF-1.4\n")), ``},
		{`["data/big.txt"]`, ``, `Embedded resource too large: data/big.txt`},
		{`["data/none.txt"]`, ``, `Embedded resource unreadable: data/none.txt`},
		{`["data/fifo"]`, ``, `Embedded resource unreadable: data/fifo`},
		{`["data"]`, ``, `Embedded resource unreadable: data`},
		{`["data/link.txt"]`, ``, `Embedded resource skipped (outside allowed roots): path=data/link.txt roots=[` +
			b.root + `] `},
		{`["` + outside + `/secret.txt","../x"]`, ``, `outside allowed roots`},
		{`[7,{},{"path":""}]`, ``, ``},
		// E-12; HOME is the project.
		{`["~/data/a.txt"]`, item(uri+"a.txt", "text/plain", "text", `hi there\n`), ``},
		{`["` + uri + `a.txt"]`, item(uri+"a.txt", "text/plain", "text", `hi there\n`), ``},
		{`["https://h/x"]`, ``, `Embedded resource skipped: https://h/x is a URL, not a path`},
	} {
		os.WriteFile(filepath.Join(b.root, "list"), []byte(tc.list), 0o644)
		b.logs = nil
		b.add("t", `printf ok; cat list >"$MCP_TOOL_RESOURCES_FILE"`)
		got := b.call(&Request{Name: "t", Roots: roots.Scope{List: roots.List{{Path: b.root}}}})
		want := `{"name":"t","content":[{"type":"text","text":"ok"}`
		if tc.want != "" {
			want += "," + tc.want
		}
		if want += `],"isError":false,"_meta":{"exitCode":0}}`; got != want {
			t.Errorf("%s:\n got %s\nwant %s", tc.list, got, want)
		}
		if !b.logged(tc.warning) {
			t.Errorf("%s: logs %q", tc.list, b.logs)
		}
	}
	b.add("t", `echo '{"content":[],"isError":true}'; echo data/a.txt >"$MCP_TOOL_RESOURCES_FILE"; exit 2`)
	if got := b.call(&Request{Name: "t", Roots: roots.Scope{List: roots.List{{Path: b.root}}}}); !strings.Contains(got,
		`"content":[{"type":"resource"`) {
		t.Error("T-236:", got)
	}
}

// T-231: a link that replaces a file, or a directory above it, after its path was resolved leads nowhere.
func TestEmbedOfExchangedFile(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	file, secret := filepath.Join(root, "d", "file"), filepath.Join(outside, "file")
	if err := errors.Join(os.Mkdir(filepath.Dir(file), 0o755), os.WriteFile(file, []byte("ours"), 0o644),
		os.WriteFile(secret, []byte("secret"), 0o644)); err != nil {
		t.Fatal(err)
	}
	f, err := boundedfile.OpenBelow(root, file)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	for what, exchange := range map[string]func() error{
		"the file": func() error { return errors.Join(os.Remove(file), os.Symlink(secret, file)) },
		"a directory": func() error {
			return errors.Join(os.RemoveAll(filepath.Dir(file)), os.Symlink(outside, filepath.Dir(file)))
		},
	} {
		if err := exchange(); err != nil {
			t.Fatal(what, err)
		}
		if f, err := boundedfile.OpenBelow(root, file); err == nil {
			f.Close()
			t.Errorf("%s: the link was followed", what)
		}
		if err := errors.Join(os.RemoveAll(filepath.Dir(file)), os.Mkdir(filepath.Dir(file), 0o755),
			os.WriteFile(file, nil, 0o644)); err != nil {
			t.Fatal(what, err)
		}
	}
}

// T-260 to T-263: traces of scripts.
func TestTracing(t *testing.T) {
	dir := t.TempDir()
	b := newFixture(t, project.Env{"MCPBASH_TRACE_TOOLS": "on", "MCPBASH_LOG_DIR": dir, "MCPBASH_CI_MODE": "true",
		"MCPBASH_TMP_ROOT": dir, "GITHUB_ACTIONS": "true", "MCPBASH_TRACE_MAX_BYTES": "200"})
	var stderr strings.Builder
	b.tools.Stderr = &stderr
	// If it runs as root, Bash ignores PS4 of its environment.
	b.add("odd name!", `PS4='+ ${BASH_SOURCE[0]##*/}:${LINENO}: '; true a; true b; false; echo 100% >&2; exit 7`)
	got := b.call(&Request{Name: "odd name!", Arguments: json.RawMessage(`{"a":1}`)})
	if !strings.Contains(got,
		`"text":"100%"},{"type":"text","text":"tools/odd name!/tool.sh ended with exit status 7; the last command in its `+
			`trace is + tool.sh:2: exit 7"}]`) || strings.Contains(got, "true a") {
		t.Error(got)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "trace.odd_name_.*.log"))
	if len(files) != 1 {
		t.Fatalf("%q", files)
	}
	text, _ := os.ReadFile(files[0])
	info, _ := os.Stat(files[0])
	if !strings.HasSuffix(string(text), "+ tool.sh:2: exit 7\n") || info.Mode().Perm() != 0o600 || info.Size() > 200 {
		t.Errorf("%q %v", text, info.Mode())
	}
	if got := stderr.String(); got != "::error file=tool.sh,line=2::Tool odd name! failed: 100%25\n" {
		t.Error(got)
	}
	summary, _ := os.ReadFile(filepath.Join(dir, "failure-summary.jsonl"))
	if !strings.Contains(string(summary),
		`"tool":"odd name!","exitCode":7,"timedOut":false,"argCount":1,"argBytes":7,"argHash":"`) ||
		!strings.Contains(string(summary),
			`"metaKeys":4,"roots":0,"message":"100%","stderrTail":"100%","traceLine":"+ tool.sh:2: exit 7"}`) {
		t.Errorf("%s", summary)
	}
}

// P-2504: stored traces contain no secrets.
func TestTraceSecrets(t *testing.T) {
	dir := t.TempDir()
	b := newFixture(t, project.Env{"MCPBASH_TRACE_TOOLS": "on", "MCPBASH_LOG_DIR": dir, "MCPBASH_CI_MODE": "true",
		"MCPBASH_TMP_ROOT": dir, "GITHUB_ACTIONS": "true"})
	var stderr strings.Builder
	b.tools.Stderr = &stderr
	b.add("t", `PS4='+ ${BASH_SOURCE[0]##*/}:${LINENO}: '
apiToken=Hush1; export DB_PASSWORD='Hush2 more'
: curl -H "X-Api-Key: Hush3 more" --client-secret Hush4 https://me:Hush5@example.com/ plain
echo "login failed: password=Hush6" >&2; : --token Hush7; exit 7`)
	b.call(&Request{Name: "t"})
	traces, _ := filepath.Glob(filepath.Join(dir, "trace.t.*.log"))
	if len(traces) != 1 {
		t.Fatal(traces)
	}
	trace, _ := os.ReadFile(traces[0])
	summary, _ := os.ReadFile(filepath.Join(dir, "failure-summary.jsonl"))
	for name, text := range map[string]string{
		"trace": string(trace), "summary": string(summary), "annotation": stderr.String(),
	} {
		if !strings.Contains(text, "**redacted**") || strings.Contains(text, "Hush") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if !strings.Contains(string(trace), "@example.com/ plain") || !strings.HasSuffix(string(trace), ": exit 7\n") {
		t.Errorf("%s", trace)
	}
}

// P-301: the key of a request id in file names.
func TestWorkerKey(t *testing.T) {
	if project.RequestKey(`"c"`) != "ImMi" || project.RequestKey(`7`) != "Nw" {
		t.Error(project.RequestKey(`"c"`), project.RequestKey(`7`))
	}
	if got := project.RequestKey(strconv.Quote(strings.Repeat("x", 200))); len(got) != 64 {
		t.Error(got)
	}
}

func FuzzHandOff(f *testing.F) {
	f.Add([]byte("a\tb\tc\n{\"path\":\"x\"}\n"))
	f.Add([]byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1e5,"total":null}}`))
	f.Add([]byte(`{"content":[{}],"isError":false,"_meta":{"ui/resourceUri":7,"ui":{"x":[]}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, e := range parseEmbeds(data) {
			if e.path == "" {
				t.Fatal("an entry without path")
			}
		}
		if p, ok := parseProgress(data); ok && !json.Valid(p.Value) {
			t.Fatalf("%s", p.Value)
		}
		if m, ok := parseLog(data); ok && !json.Valid(m.Data) {
			t.Fatalf("%s", m.Data)
		}
		value := soleValue(data)
		r := &Result{name: "t", own: callToolResult(value), stderr: validText(data)}
		if r.own == nil {
			r.texts = [][]byte{data}
		}
		if out := r.AppendJSON(nil, mcp.Extra{}); !json.Valid(out) {
			t.Fatalf("%s", out)
		}
		printedError(value)
	})
}

// BenchmarkEnviron builds the environment of a call.
func BenchmarkEnviron(b *testing.B) {
	t := newFixture(b, nil)
	t.add("t", "")
	c := &call{tools: t.tools, request: &Request{
		ID: "1", Name: "t", Arguments: json.RawMessage(`{"count":3,"name":"World"}`), Meta: json.RawMessage("{}"),
	}, key: "MQ"}
	if err := c.authorize(context.Background()); err != nil {
		b.Fatal(err)
	}
	var err error
	if c.files, err = t.tools.files.Take(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.environ(); err != nil {
			b.Fatal(err)
		}
	}
}
