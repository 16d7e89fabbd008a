//go:build unix

package prompt

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mcp-bash/pkg/json/jsontest"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/wire/mcp"
)

func newPrompts(t *testing.T, files map[string]string, items map[string]string) *Prompts {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		file := filepath.Join(root, name)
		os.MkdirAll(filepath.Dir(file), 0o755)
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	os.MkdirAll(filepath.Join(root, "prompts"), 0o755)
	p := project.Open(root, project.Env{}, root, func(string) {})
	return &Prompts{Project: p, Log: func(mcp.Level, string, string) {},
		Find: func(_ context.Context, name string) (*Entry, error) {
			if item, ok := items[name]; ok {
				return NewEntry(json.RawMessage(item)), nil
			}
			return nil, nil
		}}
}

func answer(res *Result, err error) string {
	var e *mcp.Error
	if errors.As(err, &e) {
		return string(e.AppendJSON(nil))
	}
	if err != nil {
		return err.Error()
	}
	return string(res.AppendJSON(nil, mcp.Extra{}))
}

const greet = `{"name":"greet","description":"Greet d","path":"greet.txt","arguments":{"type":"object",
	"required":["name"],"properties":{"name":{"type":"string","description":"who"},"count":{"type":"integer"}}},
	"role":"user","metadata":{"x":1}}`

// T-801 to T-808: prompts with a text template, and errors.
func TestGet(t *testing.T) {
	p := newPrompts(t, map[string]string{
		"prompts/greet.txt": "Hello {{name}}! {{missing}} {{count}}\r\n\n\x00\n", "outside.txt": "secret",
		"prompts/odd.txt":      "{{{name}}} {{ name }} ${name} {{n ame}} {{name} {{a-b}} {{list}} {{obj}} {{nil}} {{yes}} {{",
		"prompts/sub/deep.txt": "\ufeffdeep",
	}, map[string]string{
		"greet":     greet,
		"odd":       `{"name":"odd","description":"","path":"odd.txt","arguments":[],"role":"system","metadata":null}`,
		"assistant": `{"name":"assistant","description":"","path":"sub/deep.txt","role":"assistant"}`,
		"none":      `{"name":"none","description":""}`,
		"gone":      `{"name":"gone","path":"gone.txt"}`,
		"up":        `{"name":"up","path":"../outside.txt"}`,
		"abs":       `{"name":"abs","path":"/etc/hostname"}`,
		"dir":       `{"name":"dir","path":"sub"}`,
		"link":      `{"name":"link","path":"link.txt"}`,
		"inner":     `{"name":"inner","path":"inner.txt"}`,
		"array": `{"name":"array","path":"greet.txt","arguments":[{"name":"a"},{"name":"b","required":true},
			{"name":"c","required":true}]}`,
	})
	os.Symlink("../outside.txt", filepath.Join(p.Project.Prompts, "link.txt"))
	os.Symlink("sub/deep.txt", filepath.Join(p.Project.Prompts, "inner.txt"))
	const unable = `{"code":-32603,"message":"Unable to render prompt"}`
	for _, tc := range []struct{ name, arguments, want string }{
		{"greet", `{"name":"Ada","count":3}`,
			`{"text":"Hello Ada! {{missing}} 3","arguments":{"name":"Ada","count":3},"messages":[{"role":"user",
				"content":{"type":"text","text":"Hello Ada! {{missing}} 3"}}],"description":"Greet d","metadata":{"x":1}}`},
		{"greet", `{"name":"a\n\t\\{{count}}","count":1.50}`,
			`{"text":"Hello a\n\t\\{{count}}! {{missing}} 1.50","arguments":{"name":"a\n\t\\{{count}}","count":1.50},
				"messages":[{"role":"user","content":{"type":"text","text":"Hello a\n\t\\{{count}}! {{missing}} 1.50"}}],
				"description":"Greet d","metadata":{"x":1}}`},
		{"greet", `{"name":""}`, `{"text":"Hello ! {{missing}} {{count}}","arguments":{"name":""},
			"messages":[{"role":"user","content":{"type":"text","text":"Hello ! {{missing}} {{count}}"}}],
			"description":"Greet d","metadata":{"x":1}}`},
		{"greet", ``, `{"code":-32602,"message":"Missing required argument: name"}`},
		{"greet", `[1]`, `{"code":-32602,"message":"Missing required argument: name"}`},
		{"greet", `{"name":null}`, `{"code":-32602,"message":"Missing required argument: name"}`},
		{"array", `{"c":1}`, `{"code":-32602,"message":"Missing required argument: b"}`},
		{"odd", `{"name":"X","list":[1],"obj":{},"nil":null,"yes":true,"extra":1}`,
			`{"text":"{X} {{ name }} ${name} {{n ame}} {{name} {{a-b}} {{list}} {{obj}} {{nil}} true {{",
				"arguments":{"name":"X","list":[1],"obj":{},"nil":null,"yes":true,"extra":1},"messages":[{"role":"user",
				"content":{"type":"text","text":"{X} {{ name }} ${name} {{n ame}} {{name} {{a-b}} {{list}} {{obj}} {{nil}} true ` +
				`{{"}}]}`},
		{"assistant", ``, `{"text":"deep","arguments":{},"messages":[{"role":"assistant","content":{"type":"text",
			"text":"deep"}}]}`},
		{"inner", ``, `{"text":"deep","arguments":{},"messages":[{"role":"user","content":{"type":"text","text":"deep"}}]}`},
		{"none", ``, `{"text":"","arguments":{},"messages":[{"role":"user","content":{"type":"text","text":""}}]}`},
		{"gone", ``, unable}, {"up", ``, unable}, {"abs", ``, unable}, {"dir", ``, unable}, {"link", ``, unable},
		{"", ``, `{"code":-32602,"message":"Prompt name is required"}`},
		{"nope", ``, `{"code":-32602,"message":"Prompt not found"}`},
	} {
		if got := answer(p.Get(context.Background(), &Request{Name: tc.name,
			Arguments: json.RawMessage(tc.arguments)})); !jsontest.Same(got, tc.want) {
			t.Errorf("%s %s:\n got %s\nwant %s", tc.name, tc.arguments, got, tc.want)
		}
	}
}

// T-830: prompts whose template is a list of messages.
func TestMessages(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n\x00"
	b64 := base64.StdEncoding.EncodeToString([]byte(png))
	for _, tc := range []struct{ template, want string }{
		{`[{"role":"user","content":"Hi {{who}}"},{"role":"assistant","content":{"type":"text","text":"Yes, {{who}}?",
			"annotations":{"x":["{{who}}"]}}}]`,
			`{"text":"Hi \"A\"\n\nYes, \"A\"?","arguments":{"who":"\"A\""},"messages":[{"role":"user",
				"content":{"type":"text","text":"Hi \"A\""}},{"role":"assistant","content":{"type":"text","text":"Yes, \"A\"?",
				"annotations":{"x":["\"A\""]}}}]}`},
		{`[{"role":"user","content":{"type":"image","path":"pic.png"}},{"role":"user","content":{"type":"audio",
			"data":"aGk=","mimeType":"audio/wav"}}]`,
			`{"text":"","arguments":{"who":"\"A\""},"messages":[{"role":"user","content":{"type":"image","data":"` +
				b64 + `","mimeType":"image/png"}},{"role":"user","content":{"type":"audio","data":"aGk=","mimeType":"audio/wav"}
				}]}`},
		{`[{"role":"user","content":{"type":"resource","resource":{"uri":"x://y","path":"note.md"}}},{"role":"user",
			"content":{"type":"resource","resource":{"uri":"x://z","text":"{{who}}"}}},{"role":"user",
			"content":{"type":"resource","resource":{"uri":"x://b","path":"pic.png"}}}]`,
			`{"text":"","arguments":{"who":"\"A\""},"messages":[{"role":"user","content":{"type":"resource",
				"resource":{"uri":"x://y","mimeType":"text/markdown","text":"# n\n"}}},{"role":"user",
				"content":{"type":"resource","resource":{"uri":"x://z","text":"\"A\""}}},{"role":"user",
				"content":{"type":"resource","resource":{"uri":"x://b","mimeType":"image/png","blob":"` + b64 + `"}}}]}`},
		{`{"role":"user"}`, `unable`}, {`[{"role":"system","content":"x"}]`, `unable`},
		{`[{"role":"user","content":7}]`, `unable`}, {`[{"role":"user","content":{"type":"film"}}]`, `unable`},
		{`[{"role":"user","content":{"type":"image"}}]`, `unable`},
		{`[{"role":"user","content":{"type":"image","path":"../secret"}}]`, `unable`}, {`[`, `unable`},
		{`[{"role":"user","content":{"type":"resource","resource":{"uri":"x"}}}]`, `unable`},
		{`[{"role":"user","content":{"type":"resource","resource":{"text":"x"}}}]`, `unable`},
		{`[{"role":"user","content":{"type":"resource","resource":{"uri":"x","text":7}}}]`, `unable`},
		{`[{"role":"user","content":{"type":"resource_link","uri":"x"}}]`, `unable`},
		{`[{"role":"user","content":{"type":"image","data":"no base64!"}}]`, `unable`},
		{`[{"role":"user","content":{"type":"resource_link","uri":"x://{{who}}","name":"n"}},{"role":"user",
			"content":{"type":"image","data":"` + b64 + `"}}]`,
			`{"text":"","arguments":{"who":"\"A\""},"messages":[{"role":"user","content":{"type":"resource_link",
				"uri":"x://\"A\"","name":"n"}},{"role":"user","content":{"type":"image","data":"` + b64 +
				`","mimeType":"image/png"}}]}`},
	} {
		p := newPrompts(t, map[string]string{"prompts/m.json": tc.template, "prompts/pic.png": png,
			"prompts/note.md": "# n\n", "secret": "s"},
			map[string]string{"m": `{"name":"m","description":"","path":"m.json","format":"messages"}`})
		want := tc.want
		if want == "unable" {
			want = `{"code":-32603,"message":"Unable to render prompt"}`
		}
		if got := answer(p.Get(context.Background(), &Request{Name: "m",
			Arguments: json.RawMessage(`{"who":"\"A\""}`)})); !jsontest.Same(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", tc.template, got, want)
		}
	}
	p := newPrompts(t, map[string]string{"prompts/m.json": `[{"role":"user"}]`},
		map[string]string{"m": `{"name":"m","path":"m.json"}`})
	if got := answer(p.Get(context.Background(), &Request{Name: "m"})); !strings.Contains(got,
		`"text":"[{\"role\":\"user\"}]"`) {
		t.Error("without format a template is text:", got)
	}
}

// T-804, T-809, T-709, E-5: hostile files are refused, large ones are not read.
func TestHostileFiles(t *testing.T) {
	p := newPrompts(t, map[string]string{
		"secret.txt": "secret", "prompts/bad.txt": "a\xff\xc3b\xed\xa0\x80",
		"prompts/fits.txt": strings.Repeat("x", 1000), "prompts/large.txt": strings.Repeat("x", 1001),
		"prompts/tricks.txt": "{{a}}{{{{a}}}}{{b}} ${a} $HOME `a` {{a}",
		"prompts/m.json":     `[{"role":"user","content":{"type":"image","path":"{{a}}"}}]`,
		"prompts/pic.png":    "\x89PNG\r\n\x1a\n",
	}, map[string]string{})
	p.Project.Limits.Response = 1000
	var logs []string
	p.Log = func(level mcp.Level, logger, text string) { logs = append(logs, level.String()+" "+logger+" "+text) }
	item := ""
	p.Find = func(context.Context, string) (*Entry, error) { return NewEntry(json.RawMessage(item)), nil }
	os.Symlink("..", filepath.Join(p.Project.Prompts, "up"))
	os.Symlink(filepath.Join(p.Project.Root, "secret.txt"), filepath.Join(p.Project.Prompts, "abs.txt"))
	os.Symlink("loop", filepath.Join(p.Project.Prompts, "loop"))
	os.Symlink("/dev/zero", filepath.Join(p.Project.Prompts, "zero"))
	if err := syscall.Mkfifo(filepath.Join(p.Project.Prompts, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	get := func(path, arguments string) string {
		item = `{"name":"x","path":` + string(rawjson.Quote(path)) + `}`
		if strings.HasSuffix(path, ".json") {
			item = `{"name":"x","format":"messages","path":` + string(rawjson.Quote(path)) + `}`
		}
		return answer(p.Get(context.Background(), &Request{Name: "x", Arguments: json.RawMessage(arguments)}))
	}
	for _, path := range []string{"up/secret.txt", "abs.txt", "loop", "zero", "fifo", "/dev/zero", "up", ".", "..",
		"a\x00b", "bad.txt/", "sub/../../secret.txt"} {
		logs = nil
		if got := get(path, "{}"); got != `{"code":-32603,"message":"Unable to render prompt"}` {
			t.Errorf("%q: %s", path, got)
		}
		if len(logs) != 1 || !strings.HasPrefix(logs[0], "error mcp.prompts Unable to render prompt 'x': ") ||
			strings.Contains(logs[0], p.Project.Root) {
			t.Errorf("%q: %q", path, logs)
		}
	}
	if got := get("large.txt", "{}"); got != `{"code":-32603,"message":"Response exceeded response size limit"}` {
		t.Error(got)
	}
	if got := get("fits.txt", "{}"); !strings.Contains(got, strings.Repeat("x", 1000)) {
		t.Error(got)
	}
	if got := get("bad.txt", "{}"); !strings.Contains(got, "\"text\":\"a\uFFFDb\uFFFD\"") {
		t.Error(got)
	}
	// Inserted values are not expanded again, and only {{name}} is a placeholder.
	if got := get("tricks.txt", `{"a":"{{b}}","b":"\"${a}"}`); !strings.Contains(got,
		"\"text\":\"{{b}}{{{{b}}}}\\\"${a} ${a} $HOME `a` {{a}\"") {
		t.Error(got)
	}
	// Many placeholders and many files do not exhaust the memory.
	const large = `{"code":-32603,"message":"Response exceeded response size limit"}`
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(p.Project.Prompts, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("many.txt", strings.Repeat("{{a}}", 100))
	write("many.json", "["+strings.Repeat(`{"role":"user","content":{"type":"image","path":"half.png"}},`,
		9)+`{"role":"user","content":"x"}]`)
	write("half.png", strings.Repeat("p", 500))
	for path, arguments := range map[string]string{"many.txt": `{"a":"12345678901"}`, "many.json": "{}"} {
		if got := get(path, arguments); got != large {
			t.Errorf("%s: %.300s", path, got)
		}
	}
	if got := get("many.txt", `{"a":"1234567890"}`); !strings.Contains(got, strings.Repeat("1234567890", 100)) {
		t.Errorf("%.300s", got)
	}
	p.Project.Limits.Response = 10 << 20
	write("braces.txt", strings.Repeat("{", 4<<20)) // in linear time
	if got := get("braces.txt", `{"a":"1"}`); !strings.Contains(got, strings.Repeat("{", 4<<20)) {
		t.Errorf("%.300s", got)
	}
	// An argument can name a file of the prompts directory if the template permits that, but no other file.
	if got := get("m.json", `{"a":"pic.png"}`); !strings.Contains(got, `"mimeType":"image/png"`) {
		t.Error(got)
	}
	for _, path := range []string{"../secret.txt", "up/secret.txt", "abs.txt", "/etc/hostname"} {
		if got := get("m.json", `{"a":"`+path+`"}`); got != `{"code":-32603,"message":"Unable to render prompt"}` {
			t.Errorf("%s: %s", path, got)
		}
	}
}

type asker struct {
	asked  []mcp.InputRequest
	answer mcp.InputResponse
	err    error
	closed bool
}

func (a *asker) Ready() bool                               { return true }
func (a *asker) Patience() time.Duration                   { return 0 }
func (a *asker) Ask(q []mcp.InputRequest) mcp.PendingInput { a.asked = q; return a }
func (a *asker) Responses() ([]mcp.InputResponse, bool)    { return []mcp.InputResponse{a.answer}, true }
func (a *asker) Wait(ctx context.Context) ([]mcp.InputResponse, error) {
	return []mcp.InputResponse{a.answer}, a.err
}
func (a *asker) Close() []mcp.InputResponse { a.closed = true; return nil }

// T-831, M-58: the client is asked for missing arguments.
func TestElicitation(t *testing.T) {
	item := strings.Replace(greet, `"role"`, `"elicit":true,"role"`, 1)
	p := newPrompts(t, map[string]string{"prompts/greet.txt": "Hello {{name}}"}, map[string]string{"greet": item})
	form := mcp.Capabilities{ElicitForm: true}
	a := &asker{answer: mcp.InputResponse{Result: json.RawMessage(`{"action":"accept","content":{"name":"Ada"}}`)}}
	got := answer(p.Get(context.Background(), &Request{Name: "greet", Arguments: json.RawMessage(`{"count":2}`),
		Client: form, Asker: a}))
	if !strings.Contains(got, `"text":"Hello Ada","arguments":{"count":2,"name":"Ada"}`) {
		t.Error(got)
	}
	if len(a.asked) != 1 || !jsontest.Same(string(a.asked[0].Params), `{"mode":"form","message":"Greet d",
		"requestedSchema":{"type":"object","properties":{"name":{"type":"string","description":"who"}},
		"required":["name"]}}`) {
		t.Errorf("%+v", a.asked)
	}
	const refusal = `{"code":-32602,"message":"Missing required argument: name"}`
	for name, r := range map[string]*Request{
		"declined": {Client: form,
			Asker: &asker{answer: mcp.InputResponse{Result: json.RawMessage(`{"action":"decline"}`)}}},
		"incomplete": {Client: form,
			Asker: &asker{answer: mcp.InputResponse{Result: json.RawMessage(`{"action":"accept","content":{}}`)}}},
		"error":      {Client: form, Asker: &asker{answer: mcp.InputResponse{Error: mcp.Errorf(-1, "x")}}},
		"too late":   {Client: form, Asker: &asker{err: context.DeadlineExceeded}},
		"no support": {Asker: &asker{}},
		"no asker":   {Client: form},
	} {
		r.Name = "greet"
		if got := answer(p.Get(context.Background(), r)); got != refusal {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// T-820: the entry of a prompt in prompts/list.
func TestAppendListed(t *testing.T) {
	for item, want := range map[string]string{
		greet: `{"name":"greet","description":"Greet d","path":"greet.txt","arguments":[{"name":"name","description":"who",
			"required":true},{"name":"count","description":"","required":false}],"role":"user","metadata":{"x":1}}`,
		`{"name":"a","arguments":[{"name":"x","required":true}],"metadata":null,"elicit":true}`: `{"name":"a",
			"arguments":[{"name":"x","required":true}]}`,
		`{"name":"a","arguments":{"type":"object","properties":{}}}`: `{"name":"a","arguments":[]}`,
		`{"name":"a","arguments":7}`:                                 `{"name":"a","arguments":[]}`,
	} {
		if got := string(AppendListed(nil, json.RawMessage(item))); !jsontest.Same(got, want) {
			t.Errorf("%s: %s", item, got)
		}
	}
}

func FuzzFill(f *testing.F) {
	f.Add("Hello {{name}} {{{{name}}}}", "{{name}}")
	f.Fuzz(func(t *testing.T, template, value string) {
		f := &filler{values: map[string]string{"name": value}, room: budget{1 << 30}}
		got, err := f.fill(template)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(template, "{{name}}") == 0 && got != template {
			t.Fatalf("%q became %q", template, got)
		}
	})
}

func TestNotFoundNamesTheMetadata(t *testing.T) {
	p := newPrompts(t, map[string]string{
		"prompts/file.meta.json": `{"name":"own"}`, "prompts/file.txt": "Hi",
		"prompts/lost/lost.meta.json": `{"name":"lost"}`, "prompts/broken.meta.json": `{"name":`,
	}, nil)
	for name, want := range map[string]string{
		"file": `prompts/file.meta.json calls this prompt "own"`, "none": "", "../prompts/file": "",
		"lost":   "prompts/lost/lost.meta.json describes no text; add prompts/lost/lost.txt",
		"broken": "prompts/broken.meta.json describes no text; add prompts/broken.txt",
	} {
		_, err := p.Get(context.Background(), &Request{Name: name})
		message := "Prompt not found"
		if want != "" {
			message += ": " + want
		}
		if err == nil || err.Error() != message+" (-32602)" {
			t.Errorf("%s: %v, want %s", name, err, message)
		}
	}
}

func FuzzMessages(f *testing.F) {
	f.Add(`[{"role":"user","content":{"type":"resource","resource":{"uri":"x","text":"{{a}}"}}}]`)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, template string) {
		r := &Result{arguments: json.RawMessage("{}")}
		if r.setMessages(template, &filler{map[string]string{"a": "\"\n"}, &files{dir: dir, max: 100}, budget{100}}) == nil {
			if out := r.AppendJSON(nil, mcp.Extra{}); !json.Valid(out) {
				t.Fatalf("%s", out)
			}
		}
	})
}

func BenchmarkGet(b *testing.B) {
	root := b.TempDir()
	os.MkdirAll(filepath.Join(root, "prompts"), 0o755)
	os.WriteFile(filepath.Join(root, "prompts", "greet.txt"), []byte(strings.Repeat("Hello {{name}}, how are you? ",
		35)), 0o644)
	item := NewEntry(json.RawMessage(greet))
	p := &Prompts{
		Project: project.Open(root, project.Env{}, root, func(string) {}), Log: func(mcp.Level, string, string) {},
		Find: func(context.Context, string) (*Entry, error) { return item, nil },
	}
	r := &Request{Name: "greet", Arguments: json.RawMessage(`{"name":"Ada","count":3}`)}
	b.ReportAllocs()
	for b.Loop() {
		res, err := p.Get(context.Background(), r)
		if err != nil {
			b.Fatal(err)
		}
		res.AppendJSON(make([]byte, 0, res.Size()), mcp.Extra{})
	}
}
