//go:build unix

package completion

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/wire/mcp"
)

// A fixture is a project whose registries are maps.
type fixture struct {
	t                             *testing.T
	root, state                   string
	manual, prompts, resources    map[string]string
	names                         map[string]string // names, or entries, by URI
	manualErr, promptErr, nameErr error
	completions                   *Completions

	mu   sync.Mutex
	logs []string
}

func newFixture(t *testing.T, env project.Env) *fixture {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	os.Chmod(root, 0o755)
	b := &fixture{
		t: t, root: root, state: t.TempDir(),
		manual: map[string]string{}, prompts: map[string]string{}, resources: map[string]string{},
		names: map[string]string{},
	}
	full := project.Env{"PATH": os.Getenv("PATH"), "SECRET": "s", "MCP_COMPLETION_CURSOR": "stale",
		"MCP_PROMPT_PATH": "stale"}
	for k, v := range env {
		full[k] = v
	}
	p := project.Open(root, full, root, func(s string) { t.Error(s) })
	p.Create()
	find := func(in map[string]string, err *error) func(context.Context, string) (json.RawMessage, error) {
		return func(_ context.Context, name string) (json.RawMessage, error) {
			if item, ok := in[name]; ok && *err == nil {
				return json.RawMessage(item), nil
			}
			return nil, *err
		}
	}
	var none error
	b.completions = New(Config{
		Project: p, Runner: new(script.Runner), State: &project.State{Dir: b.state}, Log: b.log,
		Common:     p.Common("/home", "/helper", project.JSONTool{Name: "jq", Bin: "/bin/jq"}),
		Registered: find(b.manual, &b.manualErr), Prompt: find(b.prompts, &b.promptErr),
		Resource: find(b.resources, &none),
		Referred: func(_ context.Context, uri string) (json.RawMessage, error) {
			if strings.HasPrefix(b.names[uri], "{") {
				return json.RawMessage(b.names[uri]), b.nameErr
			}
			return json.RawMessage(`{"name":` + string(rawjson.Quote(b.names[uri])) + `}`), b.nameErr
		},
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
	return strings.Contains(strings.Join(b.logs, "\n"), part)
}

// file writes a file of the project. A file that begins with #! is executable.
func (b *fixture) file(name, content string) string {
	b.t.Helper()
	file := filepath.Join(b.root, filepath.FromSlash(name))
	os.MkdirAll(filepath.Dir(file), 0o755)
	mode := os.FileMode(0o644)
	if strings.HasPrefix(content, "#!") {
		mode = 0o755
	}
	if err := os.WriteFile(file, []byte(content), mode); err != nil {
		b.t.Fatal(err)
	}
	os.Chmod(file, mode)
	return file
}

// register registers a script as the only completion of the test.
func (b *fixture) register(body string, more ...string) {
	b.t.Helper()
	b.file("completions/c.sh", "#!/bin/bash\n"+body+"\n")
	b.manual["c"] = `{"name":"c","path":"completions/c.sh","kind":"shell"` +
		strings.Join(append([]string{""}, more...), ",") + `}`
}

// ask completes the argument a of a prompt.
func (b *fixture) ask(name, value string, change ...func(*Request)) string {
	b.t.Helper()
	r := &Request{Ref: promptRef(name), Argument: argument(value)}
	for _, c := range change {
		c(r)
	}
	return b.answer(b.completions.Complete(context.Background(), r))
}

func promptRef(name string) json.RawMessage {
	var b rawjson.Builder
	return b.Object().Name("type").String("ref/prompt").Name("name").String(name).End().Bytes()
}

func argument(value string) json.RawMessage {
	var b rawjson.Builder
	return b.Object().Name("name").String("a").Name("value").String(value).End().Bytes()
}

func (b *fixture) answer(r *Result, err error) string {
	b.t.Helper()
	var e *mcp.Error
	if errors.As(err, &e) {
		return string(e.AppendJSON(nil))
	}
	if err != nil {
		return "error: " + err.Error()
	}
	out := r.AppendJSON(nil, mcp.Extra{})
	if !json.Valid(out) {
		b.t.Errorf("not JSON: %s", out)
	}
	return string(out)
}

func refusal(code int, message string) string {
	return string(mcp.Errorf(code, "%s", message).AppendJSON(nil))
}

func values(list ...string) string {
	var b rawjson.Builder
	return string(b.Strings(list).Bytes())
}

func limit(n int) func(*Request)        { return func(r *Request) { r.Limit = n } }
func cursor(text string) func(*Request) { return func(r *Request) { r.Cursor = rawjson.Quote(text) } }
func raw(text string) func(*Request)    { return func(r *Request) { r.Cursor = json.RawMessage(text) } }
func arguments(v string) func(*Request) { return func(r *Request) { r.Arguments = json.RawMessage(v) } }
func encoded(document string) string    { return base64.RawURLEncoding.EncodeToString([]byte(document)) }
func member(answer, name string) string { return rawjson.TextOf(completionOf(answer), name) }
func completionOf(a string) json.RawMessage {
	return rawjson.Get(json.RawMessage(a), "completion")
}

// next returns the decoded next cursor of a response.
func next(t *testing.T, answer string) string {
	t.Helper()
	text, err := base64.RawURLEncoding.DecodeString(member(answer, "nextCursor"))
	if err != nil || len(text) == 0 {
		t.Fatalf("no cursor in %s", answer)
	}
	before, _, _ := strings.Cut(string(text), `,"pages":1,`)
	return before + "}"
}

// T-601 to T-603, T-615: checks of the request, and no values if there is no script.
func TestChecks(t *testing.T) {
	b := newFixture(t, nil)
	b.names["file:///{path}"] = "files"
	const (
		required = `{"code":-32602,"message":"Completion ref is required"}`
		invalid  = `{"code":-32602,"message":"Completion ref is invalid"}`
		unnamed  = `{"code":-32602,"message":"Completion argument name is required"}`
	)
	const named = `{"name":"a","value":"x"}`
	for _, tc := range []struct{ ref, argument, want string }{
		{``, named, required}, {`null`, named, required}, {`[]`, named, required}, {`"ref/prompt"`, named, required},
		{`{"type":""}`, ``, required},
		{`{"type":7}`, named, required}, {`{"name":"x"}`, named, required},
		{`{"type":"ref/tool","name":"x"}`, named, invalid}, {`{"type":"ref/prompt"}`, named, invalid},
		{`{"type":"ref/prompt","name":""}`, ``, invalid},
		{`{"type":"ref/prompt","name":7}`, named, invalid}, {`{"type":"ref/prompt","uri":"x"}`, named, invalid},
		{`{"type":"ref/resource","name":"x"}`, named, invalid},
		{`{"type":"ref/resource","uri":""}`, named, invalid},
		{`{"type":"ref/prompt","name":"x"}`, ``, unnamed}, {`{"type":"ref/prompt","name":"x"}`, `{"value":"v"}`,
			unnamed},
		{`{"type":"ref/prompt","name":"x"}`, `{"name":"","value":"v"}`, unnamed},
		{`{"type":"ref/prompt","name":"x"}`, `{"name":7}`, unnamed},
		{`{"type":"ref/prompt","name":"x"}`, `[]`, unnamed},
		{`{"type":"ref/prompt","name":"x"}`, `{"name":"a","value":"re"}`, `[]`},
		{`{"type":"ref/prompt","name":" "}`, `{"name":"a"}`, `[]`},
		{`{"type":"ref/resource","uri":"file:///{path}"}`, `{"name":"a"}`, `[]`},
		{`{"type":"ref/resource","uri":"file:///x"}`, `{"name":"a"}`, `[]`},
	} {
		got := b.answer(b.completions.Complete(context.Background(), &Request{Ref: json.RawMessage(tc.ref),
			Argument: json.RawMessage(tc.argument)}))
		want := tc.want
		if want[0] == '[' {
			want = `{"completion":{"values":` + want + `,"hasMore":false}}`
		}
		if got != want {
			t.Errorf("%s %s:\n got %s\nwant %s", tc.ref, tc.argument, got, want)
		}
	}
	b.manualErr = mcp.Errorf(mcp.CodeMethodNotFound, "Completion not found")
	if got := b.ask("x", ""); got != `{"code":-32601,"message":"Completion not found"}` {
		t.Error(got)
	}
	if got := b.ask("x", "", raw("7")); got != refusal(-32602, "Invalid cursor") { // before the lookup of completions
		t.Error(got)
	}
}

// T-610a: "scaffold completion x" completes the prompt and the resource that "scaffold" names after x, in
// any order of the commands. An entry with the whole name goes first.
func TestScaffoldedNames(t *testing.T) {
	b := newFixture(t, nil)
	b.names["x://c"], b.names["x://other"] = "resource.c", "prompt.c"
	resource := func(uri string) func(*Request) {
		return func(r *Request) {
			r.Ref = json.RawMessage(`{"type":"ref/resource","uri":"` + uri + `"}`)
		}
	}
	b.register(`echo "[\"$MCP_COMPLETION_NAME\"]"`)
	for _, tc := range []struct{ got, want string }{
		{b.ask("prompt.c", ""), `["prompt.c"]`}, {b.ask("c", ""), `["c"]`}, {b.ask("resource.c", ""), `[]`},
		{b.ask("", "", resource("x://c")), `["resource.c"]`}, {b.ask("", "", resource("x://other")), `[]`},
		{b.ask("prompt.d", ""), `[]`}, {b.ask("prompt.", ""), `[]`},
	} {
		if !strings.Contains(tc.got, `"values":`+tc.want) {
			t.Errorf("%s, want %s", tc.got, tc.want)
		}
	}
	b.file("completions/whole.sh", "#!/bin/bash\necho '[\"whole\"]'\n")
	b.manual["prompt.c"] = `{"name":"prompt.c","path":"completions/whole.sh","kind":"shell"}`
	if got := b.ask("prompt.c", ""); !strings.Contains(got, `["whole"]`) {
		t.Error(got)
	}
}

// T-615, T-634: a cursor of the Bash edition's own values is refused.
func TestCursorWithoutSource(t *testing.T) {
	b := newFixture(t, nil)
	const old = `{"ver":1,"kind":"completion","name":"p","offset":2,"script":"builtin:p"}`
	if got := b.ask("p", "x", cursor(encoded(old))); got != refusal(mcp.CodeInvalidParams, "Cursor no longer valid") {
		t.Error(got)
	}
}

func hashOf(document string) string {
	q := query{payload: json.RawMessage(document)}
	return q.digest()
}

// T-601, T-634: invalid cursors.
func TestCursors(t *testing.T) {
	b := newFixture(t, nil)
	b.register(`echo '[]'`)
	const invalid = `{"code":-32602,"message":"Invalid cursor"}`
	const stale = `{"code":-32602,"message":"Cursor no longer valid"}`
	const good = `{"ver":1,"kind":"completion","name":"c","args":"","offset":0,"script":"manual:completions/c.sh"}`
	const empty = `{"completion":{"values":[],"hasMore":false}}`
	for _, tc := range []struct{ cursor, want string }{
		{`null`, `{"completion":{"values":[],"total":0,"hasMore":false}}`},
		{`""`, `{"completion":{"values":[],"total":0,"hasMore":false}}`},
		{string(rawjson.Quote(encoded(good))), `{"completion":{"values":[],"total":0,"hasMore":false}}`},
		{string(rawjson.Quote(encoded(good) + "==")), `{"completion":{"values":[],"total":0,"hasMore":false}}`},
		{string(rawjson.Quote(encoded(strings.Replace(good, `"offset":0`, ` "offset" : 3`, 1)))), empty},
		{string(rawjson.Quote(encoded(good) + "\n")), invalid}, {string(rawjson.Quote("\r" + encoded(good))), invalid},
		{`7`, invalid}, {`{}`, invalid}, {`"?"`, invalid}, {`"aGk"`, invalid},
		{string(rawjson.Quote(encoded(`[]`))), invalid},
		{string(rawjson.Quote(encoded(strings.Replace(good, `"c"`, `"d"`, 1)))), invalid},
		{string(rawjson.Quote(encoded(strings.Replace(good, `"completion"`, `"tools"`, 1)))), invalid},
		{string(rawjson.Quote(encoded(strings.Replace(good, `"offset":0`, `"offset":-1`, 1)))), invalid},
		{string(rawjson.Quote(encoded(strings.Replace(good, `"offset":0`, `"offset":"0"`, 1)))), invalid},
		{string(rawjson.Quote(encoded(strings.Replace(good, `"offset":0`, `"offset":99999999999999999999`, 1)))),
			invalid},
		{string(rawjson.Quote(encoded(strings.Replace(good, `"script"`, `"x"`, 1)))), invalid},
		{string(rawjson.Quote(encoded(good[:len(good)-1] + `,"cursor":"a\u0000b"}`))), invalid},
		{string(rawjson.Quote(encoded(good[:len(good)-1] + `,"cursor":"` + strings.Repeat("x", maxOwnCursor+1) +
			`"}`))), invalid},
		{string(rawjson.Quote(strings.Repeat("A", maxCursor+4))), invalid},
		{string(rawjson.Quote(encoded(strings.Replace(good, "manual:", "prompt:", 1)))), stale},
		{string(rawjson.Quote(encoded(strings.Replace(good, "c.sh", "d.sh", 1)))), stale},
	} {
		if got := b.ask("c", "", raw(tc.cursor)); got != tc.want {
			t.Errorf("%.300s:\n got %s\nwant %s", tc.cursor, got, tc.want)
		}
	}
}

// T-610 to T-613, R-83, R-84: precedence of sources.
func TestProviders(t *testing.T) {
	b := newFixture(t, nil)
	says := func(what string) string { return "#!/bin/sh\necho '[\"" + what + "\"]'\n" }
	b.prompts["both"] = `{"name":"both","path":"sub/both.txt"}`
	b.resources["both"] = `{"name":"both","path":"both.tar.gz","uri":"x://both"}`
	b.names["x://both"] = "both"
	expect := func(want string) {
		t.Helper()
		if got := b.ask("both", "q"); !strings.Contains(got, `"values":`+want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
	const nothing = `[]`
	expect(nothing)
	b.file("prompts/sub/both.txt.completion.sh", "echo '[\"not executable\"]'")
	expect(nothing)
	os.MkdirAll(filepath.Join(b.root, "prompts/sub/both.txt.completion"), 0o755) // a directory
	expect(nothing)
	for _, step := range []string{
		"resources/both.tar.completion", "resources/both.tar.completion.sh", "resources/both.tar.gz.completion",
		"resources/both.tar.gz.completion.sh",
		"prompts/sub/both.completion", "prompts/sub/both.completion.sh", "prompts/sub/both.txt.completion.sh",
		"completions/x",
	} {
		if strings.HasPrefix(step, "completions/") {
			b.manual["both"] = `{"name":"both","path":"` + step + `","kind":"shell"}`
		}
		b.file(step, says(step))
		os.Chmod(filepath.Join(b.root, step), 0o755)
		expect(values(step))
	}
	got := b.answer(b.completions.Complete(context.Background(),
		&Request{Ref: json.RawMessage(`{"type":"ref/resource","uri":"x://both"}`), Argument: argument("q")}))
	if !strings.Contains(got, `["completions/x"]`) {
		t.Error(got)
	}
	delete(b.manual, "both")
	b.promptErr = errors.New("no list")
	expect(`["resources/both.tar.gz.completion.sh"]`)
	b.prompts["out"] = `{"name":"out","path":"../resources/both.tar.gz"}`
	b.prompts["none"] = `{"name":"none"}`
	b.promptErr = nil
	for _, name := range []string{"out", "none"} {
		if got := b.ask(name, "q"); !strings.Contains(got, nothing) {
			t.Error(name, got)
		}
	}
}

// T-620: scripts that are not run.
func TestRefusedScripts(t *testing.T) {
	b := newFixture(t, nil)
	ask := func(path string) string {
		b.manual["c"] = `{"name":"c","path":"` + path + `"}`
		return b.ask("c", "")
	}
	outside := filepath.Join(t.TempDir(), "secret.sh")
	os.WriteFile(outside, []byte("#!/bin/sh\necho '[\"out\"]'\n"), 0o755)
	os.MkdirAll(filepath.Join(b.root, "completions"), 0o755)
	os.Symlink(outside, filepath.Join(b.root, "completions/link.sh"))
	os.Symlink("fine.sh", filepath.Join(b.root, "completions/inner.sh"))
	os.Symlink(filepath.Dir(outside), filepath.Join(b.root, "completions/dir"))
	b.file("completions/fine.sh", "#!/bin/sh\necho '[\"fine\"]'\n")
	b.file("completions/plain.bash", "echo '[\"plain\"]'\n")
	b.file("completions/lines", "#!/bin/sh\necho '[\"lines\"]'\n")
	os.Chmod(filepath.Join(b.root, "completions/lines"), 0o644)
	b.file("completions/text", "echo '[\"text\"]'\n")
	os.Chmod(b.file("completions/open.sh", "#!/bin/sh\necho '[]'\n"), 0o757)
	rejected := func(file, reason string) string {
		return `{"code":-32603,"message":"Completion script rejected by policy","data":{"reason":"` + file + " (" +
			reason + `)"}}`
	}
	out := func(file string) string { return rejected(file, "leads out of .") }
	const open = "completions/open.sh"
	const missing = `{"code":-32603,"message":"Completion script not found"}`
	good := func(word string) string {
		return `{"completion":{"values":["` + word + `"],"total":1,"hasMore":false}}`
	}
	for path, want := range map[string]string{
		"completions/fine.sh": good("fine"), "completions/inner.sh": good("fine"),
		"completions/plain.bash": good("plain"), "completions/lines": good("lines"),
		"completions/link.sh":       out("completions/link.sh"),
		"completions/dir/secret.sh": out("completions/dir/secret.sh"), "": out("."),
		"../" + filepath.Base(outside): out(filepath.Base(outside)),
		"completions/open.sh":          rejected(open, "mode 0757, others can write to it; run chmod o-w "+open),
		"completions/gone.sh":          missing, "completions": missing,
		"completions/text": `{"code":-32603,"message":"Completion script not executable"}`,
	} {
		if got := ask(path); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
	if !b.logged("error mcp.completion Completion script completions/open.sh refused: ") {
		t.Errorf("%q", b.logs)
	}
	os.Symlink(outside, filepath.Join(b.root, "prompts/p.completion.sh"))
	b.prompts["p"] = `{"name":"p","path":"p.txt"}`
	if got := b.ask("p", ""); got != rejected("prompts/p.completion.sh", "leads out of prompts") {
		t.Error(got)
	}
}

// T-620 to T-622, P-2304: the environment of a script.
func TestEnvironment(t *testing.T) {
	b := newFixture(t, project.Env{"MCPBASH_REMOTE_TOKEN": strings.Repeat("t", 40), "MCP_RESOURCES_ROOTS": "/r",
		"LANG": "de_DE"})
	dump := filepath.Join(t.TempDir(), "dump")
	seen := func() map[string]string {
		t.Helper()
		text, err := os.ReadFile(dump)
		if err != nil {
			t.Fatal(err)
		}
		os.Remove(dump)
		env := map[string]string{}
		for _, line := range strings.Split(strings.TrimRight(string(text), "\x00"), "\x00") {
			name, value, _ := strings.Cut(line, "=")
			env[name] = value
		}
		return env
	}
	body := `[ $# -eq 0 ] && [ "$(pwd)" = "$PWD" ] && [ -z "$(cat)" ] && env -0 > "` + dump + `"; echo '[]'`
	b.register(body)
	b.completions.Caller = &auth.Identity{Name: "reader"}
	const own = `{"ver":1,"kind":"completion","name":"c","offset":7,"script":"manual:completions/c.sh","cursor":"o\"x"}`
	b.ask("c", "é \"v\"", limit(9), cursor(encoded(own)), arguments(`{ "x" : "y", "n":1.50, "x":"z"}`))
	env := seen()
	payload := `{"query":"é \"v\"","prefix":"é \"v\"","argument":{"name":"a","value":"é \"v\""},` +
		`"context":{"arguments":{"x":"z","n":1.50}},"ref":{"type":"ref/prompt","name":"c"}}`
	sorted := `{"argument":{"name":"a","value":"é \"v\""},"context":{"arguments":{"n":1.50,"x":"z"}},"prefix":"é ` +
		`\"v\"","query":"é \"v\"","ref":{"name":"c","type":"ref/prompt"}}`
	tmp := env["TMPDIR"]
	if dir := b.state + "/call."; !strings.HasPrefix(tmp, dir) || !strings.HasSuffix(tmp, "/tmp") {
		t.Errorf("TMPDIR=%s, want a directory of the call", tmp)
	}
	for name, want := range map[string]string{
		"MCP_COMPLETION_NAME": "c", "MCP_COMPLETION_ARGS_JSON": payload, "MCP_COMPLETION_LIMIT": "9",
		"MCP_COMPLETION_OFFSET":    "7",
		"MCP_COMPLETION_ARGS_HASH": hashOf(sorted), "MCP_COMPLETION_CURSOR": `o"x`, "MCPBASH_JSON_TOOL": "jq",
		"MCPBASH_JSON_TOOL_BIN": "/bin/jq",
		"PWD":                   b.root, "HOME": b.root, "LANG": "de_DE", "LC_ALL": "de_DE", "TMPDIR": tmp,
		"TMP":  tmp,
		"TEMP": tmp, "MCP_RESOURCES_ROOTS": "/r",
		"MCPBASH_HOME": "/home", "MCP_SDK": "/home/sdk", "MCPBASH_HELPER_BIN": "/helper",
		"MCPBASH_PROJECT_ROOT": b.root, "MCP_CLIENT_ID": "reader", "MCP_CLIENT_ISSUER": "", "MCP_CLIENT_SUBJECT": "",
		"MCP_CLIENT_SCOPES":   "", // H-400
		"MCPBASH_PROMPTS_DIR": b.root + "/prompts", "MCPBASH_RESOURCES_DIR": b.root + "/resources",
		"PATH": os.Getenv("PATH"),
	} {
		if env[name] != want {
			t.Errorf("%s=%q, want %q", name, env[name], want)
		}
		delete(env, name)
	}
	for _, set := range []string{"_", "SHLVL", "OLDPWD"} { // by Bash itself
		delete(env, set)
	}
	for name, value := range b.completions.Common { // P-205
		if got, given := env[name]; given && got != value {
			t.Errorf("%s=%q, want %q", name, got, value)
		}
		delete(env, name)
	}
	if len(env) != 0 {
		t.Errorf("also set: %q", env)
	}

	b.ask("c", "", arguments(`[1]`))
	if env = seen(); env["MCP_COMPLETION_OFFSET"] != "0" || env["MCP_COMPLETION_LIMIT"] != "100" ||
		!strings.Contains(env["MCP_COMPLETION_ARGS_JSON"], `"context":{"arguments":{}}`) {
		t.Errorf("%q", env)
	}
	if _, set := env["MCP_COMPLETION_CURSOR"]; set {
		t.Error("a stale cursor")
	}

	b.prompts["p"] = `{"name":"p","path":"sub/p.txt"}`
	b.file("prompts/sub/p.completion", "#!/bin/bash\n"+body)
	b.ask("p", "")
	env = seen()
	for name, want := range map[string]string{"MCP_PROMPT_REL_PATH": "sub/p.txt",
		"MCP_PROMPT_PATH": b.root + "/prompts/sub/p.txt", "MCP_PROMPT_METADATA": b.prompts["p"]} {
		if env[name] != want {
			t.Errorf("%s=%q, want %q", name, env[name], want)
		}
	}
	b.resources["r"] = `{"name":"r","path":"r.md","uri":"x://r","provider":"file"}`
	b.file("resources/r.md.completion.sh", "#!/bin/bash\n"+body)
	b.ask("r", "")
	env = seen()
	for name, want := range map[string]string{
		"MCP_RESOURCE_REL_PATH": "r.md", "MCP_RESOURCE_PATH": b.root + "/resources/r.md",
		"MCP_RESOURCE_METADATA": b.resources["r"],
		"MCP_RESOURCE_URI":      "x://r", "MCP_RESOURCE_PROVIDER": "file",
	} {
		if env[name] != want {
			t.Errorf("%s=%q, want %q", name, env[name], want)
		}
	}
	if _, set := env["MCP_PROMPT_PATH"]; set {
		t.Error("a stale path of a prompt")
	}

	wide := newFixture(t, project.Env{"MCPBASH_PROVIDER_ENV_MODE": "allowlist",
		"MCPBASH_PROVIDER_ENV_ALLOWLIST": "SECRET"})
	wide.register(body)
	wide.ask("c", "")
	if env = seen(); env["SECRET"] != "s" {
		t.Errorf("%q", env)
	}
}

// T-627: values that are too long for a variable.
func TestLongArguments(t *testing.T) {
	b := newFixture(t, nil)
	long := strings.Repeat("v", project.MaxInline)
	b.prompts["p"] = `{"name":"p","path":"p.txt","description":"` + long + `"}`
	b.file("prompts/p.completion", `#!/bin/bash
[ -z "$MCP_COMPLETION_ARGS_JSON$MCP_PROMPT_METADATA" ] && printf '["%s %s"]' $(stat -c %a "$MCP_COMPLETION_ARGS_FILE") $(cat "$MCP_COMPLETION_ARGS_FILE" "$MCP_PROMPT_METADATA_FILE" | wc -c)
`)
	want := fmt.Sprintf(`"values":["600 %d"]`,
		len(`{"query":"","prefix":"","argument":{"name":"a","value":""},"context":{"arguments":{}},`+
			`"ref":{"type":"ref/prompt","name":"p"}}`)+3*len(long)+len(b.prompts["p"]))
	if got := b.ask("p", long); !strings.Contains(got, want) {
		t.Errorf("%.300s, want %s", got, want)
	}
	if left, _ := filepath.Glob(filepath.Join(b.state, "completion.*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// T-623, T-624, T-626: scripts that fail.
func TestFailures(t *testing.T) {
	b := newFixture(t, project.Env{"MCPBASH_MAX_TOOL_OUTPUT_SIZE": "1000", "MCPBASH_MAX_TOOL_STDERR_SIZE": "500"})
	for body, message := range map[string]string{
		`exit 3`:                              "Completion provider failed",
		`echo '["a"]'; exit 1`:                "Completion provider failed",
		`printf 'one\ntwo\r\n\n' >&2; false`:  "one\ntwo",
		`printf 'a\377b' >&2; exit 1`:         "a\uFFFDb",
		`kill -KILL $$`:                       "Completion provider failed",
		`while :; do echo '["flood"]'; done`:  "Completion output exceeded 1000 bytes",
		`while :; do echo flood >&2; done`:    "Completion stderr exceeded 500 bytes",
		`trap "" TERM; sleep 600 & sleep 600`: "Completion provider timed out after 1s",
	} {
		b.register(body, `"timeoutSecs":1`)
		if got := b.ask("c", ""); got != refusal(-32603, message) {
			t.Errorf("%s: %s", body, got)
		}
	}
	b.register(`echo waiting >&2; sleep 600`, `"timeoutSecs":1`)
	if got, want := b.ask("c", ""), `{"code":-32603,"message":"Completion provider timed out after 1s: waiting",`+
		`"data":{"reason":"waiting"}}`; got != want {
		t.Error(got)
	}
	b.register(`(sleep 600 & echo $! >&2); echo '["background"]'`) // the server does not wait for sleep (T-48)
	if got := b.ask("c", ""); !strings.Contains(got, `["background"]`) {
		t.Error(got)
	}
	b.file("completions/c.sh", "#!/no/such/interpreter\n")
	if got := b.ask("c", ""); !strings.Contains(got, `"code":-32603`) {
		t.Error(got)
	}
}

// T-622: temporary files of a script are removed with it, also if it is ended.
func TestTemporaryFiles(t *testing.T) {
	b := newFixture(t, nil)
	for _, end := range []string{`echo '["x"]'`, "exit 1", "trap '' TERM; sleep 600"} {
		b.register(`d=$(mktemp -d) && mktemp "$d/XXXXXX" >"`+b.root+`/made"; `+end, `"timeoutSecs":1`)
		b.ask("c", "")
		made, err := os.ReadFile(b.root + "/made")
		file := strings.TrimSpace(string(made))
		if err != nil || !strings.HasPrefix(file, b.state) {
			t.Fatalf("%s: made %q, %v", end, file, err)
		}
		for deadline := time.Now().Add(90 * time.Second); ; time.Sleep(time.Millisecond) {
			if _, err := os.Lstat(file); err != nil {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: %s is still there", end, file)
			}
		}
	}
}

// T-137: the client gets only the reason of a failure, and the log gets everything.
func TestStderrTarget(t *testing.T) {
	b := newFixture(t, project.Env{"MCPBASH_TOOL_STDERR": "log"})
	logged := ""
	b.completions.ScriptLog = func(name string, stderr []byte) { logged += name + ": " + string(stderr) }
	b.register(`for i in {1..200}; do echo "line $i" >&2; done; exit 1`)
	got := b.ask("c", "")
	if strings.Contains(got, "line 1\\n") || !strings.Contains(got, `line 200"`) || len(got) > 1300 {
		t.Error(got)
	}
	if !strings.HasPrefix(logged, "completion ") || !strings.Contains(logged, ": line 1\n") {
		t.Errorf("%.200q", logged)
	}
}

// T-623: scripts that hang are ended, each with the timeout of its kind.
func TestTimeLimits(t *testing.T) {
	const hangs = "#!/bin/bash\nsleep 600\n"
	for _, c := range []struct {
		env         project.Env
		entry, want string
	}{
		{project.Env{"MCPBASH_COMPLETION_TIMEOUT_SECS": "1"}, "", "1"},
		{project.Env{"MCPBASH_COMPLETION_TIMEOUT_SECS": "1", "MCPBASH_COMPLETION_REGISTERED_TIMEOUT_SECS": "600"}, "", "1"},
		{project.Env{"MCPBASH_COMPLETION_REGISTERED_TIMEOUT_SECS": "1"}, `"kind":"shell"`, "1"},
		{project.Env{"MCPBASH_COMPLETION_REGISTERED_TIMEOUT_SECS": "0"}, `"timeoutSecs":1`, "1"},
	} {
		b := newFixture(t, c.env)
		if c.entry == "" {
			b.prompts["c"] = `{"name":"c","path":"c.txt"}`
			b.file("prompts/c.completion.sh", hangs)
		} else {
			b.register("sleep 600", c.entry)
		}
		if got := b.ask("c", ""); got != refusal(-32603, "Completion provider timed out after "+c.want+"s") {
			t.Errorf("T-623: %v %s: %s", c.env, c.entry, got)
		}
	}
	for _, c := range []struct {
		env  project.Env
		item string
		want int
	}{
		{nil, `{}`, 30}, {nil, `{"timeoutSecs":null}`, 30}, {nil, `{"timeoutSecs":0}`, 0}, {nil, `{"timeoutSecs":7}`, 7},
		{project.Env{"MCPBASH_COMPLETION_REGISTERED_TIMEOUT_SECS": "0"}, `{}`, 0},
		{project.Env{"MCPBASH_COMPLETION_REGISTERED_TIMEOUT_SECS": "x"}, `{}`, 30},
	} {
		b := newFixture(t, c.env)
		b.completions.Registered = func(context.Context, string) (json.RawMessage, error) {
			return json.RawMessage(c.item), nil
		}
		if s, err := b.completions.choose(t.Context(), &query{name: "c"}); err != nil || s.timeout != c.want {
			t.Errorf("T-623: %v %s: %+v, %v", c.env, c.item, s, err)
		}
	}
	for value, want := range map[string]int{"": 5, "0": 0, "9": 9, "-1": 5} {
		b := newFixture(t, project.Env{"MCPBASH_COMPLETION_TIMEOUT_SECS": value})
		b.prompts["c"] = `{"name":"c","path":"c.txt"}`
		b.file("prompts/c.completion.sh", hangs)
		if s, err := b.completions.choose(t.Context(), &query{name: "c"}); err != nil || s.timeout != want {
			t.Errorf("T-623: %q: %+v, %v", value, s, err)
		}
	}
}

// P-1600, T-708, T-710: cancellation.
func TestCancelled(t *testing.T) {
	b := newFixture(t, nil)
	started := filepath.Join(t.TempDir(), "started")
	b.register(`trap "" TERM; echo $$ > "` + started + `.new"; mv "` + started + `.new" "` + started +
		`"; while :; do sleep 1; done`)
	cause := errors.New("no longer wanted")
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		look := time.NewTicker(2 * time.Millisecond)
		defer look.Stop()
		for range look.C {
			if _, err := os.Stat(started); err == nil {
				cancel(cause)
				return
			}
		}
	}()
	r, err := b.completions.Complete(ctx, &Request{Ref: promptRef("c"), Argument: argument("")})
	if r != nil || err != cause {
		t.Errorf("%v, %v", r, err)
	}
	for _, ref := range []json.RawMessage{promptRef("other"), json.RawMessage(`{"type":"ref/resource","uri":"x"}`)} {
		if _, err := b.completions.Complete(ctx, &Request{Ref: ref, Argument: argument("")}); err != cause {
			t.Errorf("%s: %v", ref, err)
		}
	}
}

// T-630 to T-633: output of scripts.
func TestOutput(t *testing.T) {
	many := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprint("v", i)
		}
		return values(list...)
	}
	const bad = `{"code":-32603,"message":"Completion provider emitted invalid JSON"}`
	const none = `{"values":[],"hasMore":false}`
	for _, tc := range []struct{ output, want, next string }{ // next: the text after "offset": in the cursor
		{`["a","b"]`, `{"values":["a","b"],"total":2,"hasMore":false}`, ""},
		{" [ \"a\" ,\n\"\\u00e9\" ]\n", `{"values":["a","\u00e9"],"total":2,"hasMore":false}`, ""},
		{`[]`, `{"values":[],"total":0,"hasMore":false}`, ""},
		{``, none, ""}, {" \n", none, ""}, {`garbage`, none, ""}, {`["a"`, none, ""}, {"[\"a\"]\n[\"b\"]", none, ""},
		{"[\"\xff\"]", none, ""}, {"\x00\x01\x02", none, ""},
		{`{}`, none, ""}, {`{"suggestions":null}`, none, ""},
		{`{"suggestions":["a"]}`, `{"values":["a"],"hasMore":false}`, ""},
		{`{"suggestions":["a"],"hasMore":false,"next":null,"total":12}`, `{"values":["a"],"total":12,"hasMore":false}`,
			""},
		{`{"suggestions":["a"],"total":"12"}`, `{"values":["a"],"total":12,"hasMore":false}`, ""},
		{`{"suggestions":["a"],"total":-1,"next":-5,"hasMore":"true"}`, `{"values":["a"],"hasMore":false}`, ""},
		{`{"suggestions":["a","b"],"hasMore":true}`, `{"values":["a","b"],"hasMore":true`,
			`2,"script":"manual:completions/c.sh"}`},
		{`{"suggestions":["a"],"hasMore":true,"next":5}`, `{"values":["a"],"hasMore":true`,
			`5,"script":"manual:completions/c.sh"}`},
		{`{"suggestions":["a"],"hasMore":true,"next":"7"}`, `{"values":["a"],"hasMore":true`,
			`7,"script":"manual:completions/c.sh"}`},
		{`{"suggestions":["a"],"cursor":"opaque"}`, `{"values":["a"],"hasMore":true`,
			`1,"script":"manual:completions/c.sh","cursor":"opaque"}`},
		{`{"suggestions":[],"cursor":"c","nextCursor":"n"}`, `{"values":[],"hasMore":true`,
			`0,"script":"manual:completions/c.sh","cursor":"n"}`},
		{`{"suggestions":["a"],"cursor":7,"nextCursor":""}`, `{"values":["a"],"hasMore":false}`, ""},
		{many(100), `{"values":` + many(100) + `,"total":100,"hasMore":false}`, ""},
		{many(101), `{"values":` + many(100) + `,"total":101,"hasMore":true`,
			`100,"script":"manual:completions/c.sh"}`},
		{`{"suggestions":` + many(150) + `,"hasMore":false,"next":150}`, `{"values":` + many(100) + `,"hasMore":true`,
			`100,"script":"manual:completions/c.sh"}`},
		{`null`, bad, ""}, {`7`, bad, ""}, {`"a"`, bad, ""}, {`true`, bad, ""}, {`[1]`, bad, ""},
		{`["a",null]`, bad, ""}, {`[["a"]]`, bad, ""},
		{`{"suggestions":"a"}`, bad, ""}, {`{"suggestions":{"a":"b"}}`, bad, ""}, {`{"suggestions":["a",{}]}`, bad, ""},
		{`{"suggestions":["a"],"cursor":"\u0000"}`, bad, ""},
		{`{"suggestions":["a"],"cursor":"` + strings.Repeat("x", maxOwnCursor+1) + `"}`, bad, ""},
		{`[` + strings.Repeat(`"a",`, 200) + `7]`, bad, ""},
	} {
		b := newFixture(t, nil)
		b.register(`cat <<'END'` + "\n" + tc.output + "\nEND")
		if strings.ContainsAny(tc.output, "\x00") || !utf8.ValidString(tc.output) {
			b.file("data", tc.output)
			b.register(`cat data`)
		}
		got := b.ask("c", "")
		want := tc.want
		if want != bad {
			want = `{"completion":` + want
		}
		switch {
		case tc.next == "" && want != bad:
			want += "}"
		case tc.next != "":
			if decoded := next(t, got); !strings.HasSuffix(decoded, `"offset":`+tc.next) {
				t.Errorf("%.200s: cursor %s, want %s", tc.output, decoded, tc.next)
			}
			got = strings.Split(got, `,"nextCursor"`)[0]
		}
		if got != want {
			t.Errorf("%.200q:\n got %s\nwant %s", tc.output, got, want)
		}
		if want == bad && !b.logged("error mcp.completion Completion script completions/c.sh: ") {
			t.Errorf("%.200q: the author learns nothing: %q", tc.output, b.logs)
		}
	}
	b := newFixture(t, nil)
	b.register(`echo garbage`)
	b.ask("c", "")
	if !b.logged("warning mcp.completion Completion script completions/c.sh: the output is not JSON, so nothing is " +
		"suggested; it begins with ") {
		t.Errorf("%q", b.logs)
	}
}

// T-603, T-631 to T-634: scripts that page by offset, and scripts with their own cursor, are read to the end.
func TestPages(t *testing.T) {
	b := newFixture(t, nil)
	b.file("completions/c.sh", "#!/bin/bash\n")
	for name, body := range map[string]string{
		"by offset": `end=$((MCP_COMPLETION_OFFSET + MCP_COMPLETION_LIMIT)); more=true; [ $end -lt 7 ] || { end=7; more=false; }
list=; for ((i = MCP_COMPLETION_OFFSET; i < end; i++)); do list+="\"v$i\","; done
echo "{\"suggestions\":[${list%,}],\"hasMore\":$more,\"next\":$end}"`,
		"by cursor": `case $MCP_COMPLETION_CURSOR in
"") echo '{"suggestions":["v0","v1","v2"],"cursor":"second page"}' ;;
"second page") echo '{"suggestions":["v3","v4","v5"],"nextCursor":"third"}' ;;
third) echo '{"suggestions":["v6"]}' ;;
esac`,
		"cut": `list=; for ((i = MCP_COMPLETION_OFFSET; i < 7; i++)); do list+="\"v$i\","; done; echo "[${list%,}]"`,
		"cut 2": `list=; for ((i = MCP_COMPLETION_OFFSET; i < 7; i++)); do list+="\"v$i\","; done; echo ` +
			`"{\"suggestions\":[${list%,}],\"next\":7}"`,
		"ignores the offset": `echo '["v0","v1","v2","v3","v4","v5","v6"]'`,
		"ignores the offset, has a next": `echo '{"suggestions":["v0","v1","v2","v3","v4","v5","v6"],` +
			`"hasMore":true,"next":3}'`,
	} {
		b.register(body)
		var all []string
		at := ""
		for range 10 {
			got := b.ask("c", "", limit(3), cursor(at))
			for v := range rawjson.Elements(rawjson.Get(completionOf(got), "values")) {
				text, _ := rawjson.Text(v)
				all = append(all, text)
			}
			if at = member(got, "nextCursor"); at == "" {
				break
			}
		}
		if strings.Join(all, " ") != "v0 v1 v2 v3 v4 v5 v6" || at != "" {
			t.Errorf("%s: %q, %q", name, all, at)
		}
	}
	for name, body := range map[string]string{ // T-632
		"the same next":   `echo '{"suggestions":["a"],"hasMore":true,"next":1}'`,
		"the same cursor": `echo '{"suggestions":["a"],"cursor":"more"}'`,
	} {
		b.register(body)
		second := cursor(member(b.ask("c", ""), "nextCursor"))
		if got := b.ask("c", "", second); got != `{"completion":{"values":[],"hasMore":false}}` {
			t.Errorf("%s: %s", name, got)
		}
	}
	b.register(`echo "{\"suggestions\":[\"$MCP_COMPLETION_OFFSET\"],\"hasMore\":true}"`)
	for pages, want := range map[int]bool{maxPages - 2: true, maxPages - 1: false} {
		at := encoded(fmt.Sprintf(
			`{"kind":"completion","name":"c","offset":7,"script":"manual:completions/c.sh","pages":%d}`, pages))
		if got := b.ask("c", "", cursor(at)); (member(got, "nextCursor") != "") != want {
			t.Errorf("page %d: %s", pages+1, got)
		}
	}
	b.register(`printf '["%s"]' "$MCP_COMPLETION_LIMIT"`)
	for n, want := range map[int]string{0: "100", 1: "1", 100: "100", 101: "100", 1 << 40: "100"} {
		if got := b.ask("c", "", limit(n)); !strings.Contains(got, `["`+want+`"]`) {
			t.Errorf("%d: %s", n, got)
		}
	}
}

// T-625: with MCPBASH_PRESERVE_STATE, the output of a script is kept.
func TestPreserved(t *testing.T) {
	b := newFixture(t, project.Env{"MCPBASH_PRESERVE_STATE": "true"})
	b.file("completions/c.sh", "#!/bin/sh\nprintf '[]'; printf note >&2\n")
	b.manual["a/b "+strings.Repeat("c", 300)] = `{"name":"x","path":"completions/c.sh"}`
	b.ask("a/b "+strings.Repeat("c", 300), "")
	for end, want := range map[string]string{"stdout": "[]", "stderr": "note"} {
		files, _ := filepath.Glob(filepath.Join(b.state, "completion.a_b_ccc*."+end))
		if len(files) != 1 {
			t.Fatalf("%s: %q", end, files)
		}
		info, _ := os.Stat(files[0])
		if text, _ := os.ReadFile(files[0]); string(text) != want || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %q, %v", end, text, info.Mode())
		}
	}
}

func FuzzOutput(f *testing.F) {
	for _, seed := range []string{`["a","b"]`, `{"suggestions":["a"],"hasMore":true,"next":1,"cursor":"x","total":3}`,
		`{"suggestions":[1]}`, "[\"\\ud800\"]", `{"next":"99999999999999999999"}`} {
		f.Add([]byte(seed), 1, 0, false)
		f.Add([]byte(seed), 1, 1, true)
	}
	f.Fuzz(func(t *testing.T, stdout []byte, limit, offset int, repeated bool) {
		limit, offset = min(max(limit, 1), maxValues), max(offset, 0)
		o, err := parseOutput(stdout, limit, offset, repeated)
		if err != nil {
			return
		}
		if len(o.values) > limit || o.next < -1 || o.next > maxOffset || o.total < -1 || o.cursor != "" && !o.more ||
			!isOwnCursor(o.cursor) {
			t.Fatalf("%+v", o)
		}
		r := Result{values: o.values, total: o.total}
		if out := r.AppendJSON(nil, mcp.Extra{}); !json.Valid(out) {
			t.Fatalf("%s", out)
		}
	})
}

func FuzzCursor(f *testing.F) {
	f.Add(`{"ver":1,"kind":"completion","name":"n","args":"h","offset":5,"script":"builtin:n","cursor":"c"}`, "n")
	f.Add(`{"kind":"completion","name":"n","offset":1e3,"script":""}`, "n")
	f.Fuzz(func(t *testing.T, document, name string) {
		for _, text := range []string{document, encoded(document)} {
			p, err := decodeCursor(rawjson.Quote(text), name)
			if err != nil {
				continue
			}
			if text == "" {
				return
			}
			q := &query{name: name, ref: promptRef(name), arguments: json.RawMessage("{}")}
			kind, rel, _ := strings.Cut(p.source, ":")
			again, err := decodeCursor(rawjson.Quote(encodeCursor(q, &source{kind: kind, rel: rel}, &p)), name)
			if err != nil || strings.Contains(p.source, ":") && again != p {
				t.Fatalf("%+v came back as %+v: %v", p, again, err)
			}
		}
	})
}

func BenchmarkBuiltin(b *testing.B) {
	none := func(context.Context, string) (json.RawMessage, error) { return nil, nil }
	root := b.TempDir()
	p := project.Open(root, project.Env{}, root, func(string) {})
	prompt := json.RawMessage(`{"name":"p","path":"p.txt"}`)
	c := New(Config{
		Project: p, Registered: none, Resource: none,
		Prompt: func(context.Context, string) (json.RawMessage, error) { return prompt, nil },
	})
	r := &Request{Ref: promptRef("p"), Argument: argument("re")}
	b.ReportAllocs()
	for b.Loop() {
		res, err := c.Complete(context.Background(), r)
		if err != nil {
			b.Fatal(err)
		}
		res.AppendJSON(make([]byte, 0, res.Size()), mcp.Extra{})
	}
}
