package registration

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"mcp-bash/pkg/files/atomicfile"
	"mcp-bash/pkg/json/jsonedit"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry"
)

// project opens the project's registry as another process would.
func (b *bed) project(env project.Env) *Project {
	b.T.Helper()
	b.reopen(env, registry.Options{})
	return NewProject(b.Project, b.o)
}

// declared returns the compact text of register.json.
func (b *bed) declared() string {
	b.T.Helper()
	text, err := os.ReadFile(b.Path("server.d/register.json"))
	if errors.Is(err, os.ErrNotExist) {
		return ""
	}
	if err != nil {
		b.T.Fatal(err)
	}
	var m = jsonedit.New(text)
	return strings.Join(strings.Fields(string(m.Text)), "")
}

func (b *bed) register(payload string, o RegisterOptions) error {
	b.T.Helper()
	_, err := b.project(nil).Register(context.Background(), []byte(payload), o)
	return err
}

// sources returns the tools as "name<source".
func (b *bed) sources() string {
	b.T.Helper()
	tools, err := b.project(nil).Tools(context.Background())
	if err != nil {
		b.T.Fatal(err)
	}
	var list []string
	for _, tool := range tools {
		list = append(list, tool.Name+"<"+tool.Source)
	}
	return strings.Join(list, " ")
}

// the register.json after a registration.
func TestRegisterStorage(t *testing.T) {
	for name, tc := range map[string]struct{ before, want, tools string }{
		"no file": {"", `{"version":1,"merge":["tools"],"tools":[{"name":"new","path":"a/tool.sh"}]}`,
			"d<discovered new<register.json"},
		"no tools": {`{"version":1,"prompts":[],"_meta":{"n":1.0}}`,
			`{"version":1,"prompts":[],"_meta":{"n":1.0},"merge":["tools"],"tools":[{"name":"new","path":"a/tool.sh"}]}`,
			"d<discovered new<register.json"},
		"null": {`{"version":1,"tools":null,"merge":["prompts"]}`,
			`{"version":1,"tools":[{"name":"new","path":"a/tool.sh"}],"merge":["prompts","tools"]}`,
			"d<discovered new<register.json"},
		"merged": {`{"version":1,"merge":["tools"],"tools":[{"name":"z","path":"a/tool.sh"}]}`,
			`{"version":1,"merge":["tools"],"tools":[{"name":"z","path":"a/tool.sh"},{"name":"new","path":"a/tool.sh"}]}`,
			"d<discovered new<register.json z<register.json"},
		"replacing": {`{"version":1,"tools":[]}`, `{"version":1,"tools":[{"name":"new","path":"a/tool.sh"}]}`,
			"new<register.json"},
		"excluded": {`{"version":1,"exclude":["d","new"]}`, `{"version":1,"exclude":["d"],"merge":["tools"],` +
			`"tools":[{"name":"new","path":"a/tool.sh"}]}`, "new<register.json"},
		"dead": {`{"version":1,"tools":[{"name":"new","path":"old.sh"},{"name":"k","path":"k.sh"},{"name":"new",` +
			`"path":"older.sh"}],"exclude":["new"]}`, `{"version":1,"tools":[{"name":"new","path":"a/tool.sh"},{"name":"k",` +
			`"path":"k.sh"}],"exclude":[]}`, "k<register.json new<register.json"},
	} {
		b := newBed(t, nil, files{"tools/a/tool.sh": "", "tools/d/tool.sh": `# mcp: {"description":"described"}`})
		if tc.before != "" {
			b.Put(files{"server.d/register.json": tc.before})
		}
		if err := b.register(`{"name":"new","path":"a/tool.sh","id":"new"}`, RegisterOptions{DryRun: true}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got, _ := os.ReadFile(b.Path("server.d/register.json")); string(got) != tc.before {
			t.Errorf("%s: a rehearsal wrote %s", name, got)
		}
		if err := b.register(`{"name":"new","path":"a/tool.sh","id":"new"}`, RegisterOptions{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := b.declared(); got != tc.want {
			t.Errorf("%s: %s\nwant %s", name, got, tc.want)
		}
		if got := b.sources(); got != tc.tools {
			t.Errorf("%s: %s, want %s", name, got, tc.tools)
		}
		// Step 4 of R-207. No temporary file is left.
		if !strings.Contains(b.Read(".registry/tools.json"), `"name": "new"`) {
			t.Errorf("%s: tools.json is not refreshed", name)
		}
		if left, _ := filepath.Glob(b.Path("server.d/.*")); left != nil {
			t.Errorf("%s: %v", name, left)
		}
	}
}

// the mode is kept. A new file has mode 0644, independent of the umask.
func TestRegisterMode(t *testing.T) {
	b := newBed(t, nil, files{"tools/a/tool.sh": ""})
	mode := func() string {
		info, err := os.Stat(b.Path("server.d/register.json"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().String()
	}
	b.register(`{"name":"x","path":"a/tool.sh"}`, RegisterOptions{})
	want(t, mode(), "-rw-r--r--")
	os.Chmod(b.Path("server.d/register.json"), 0o600)
	b.register(`{"name":"y","path":"a/tool.sh"}`, RegisterOptions{})
	want(t, mode(), "-rw-------")
	b.Remove("server.d") // a missing folder is created
	if err := b.register(`{"name":"z","path":"a/tool.sh"}`, RegisterOptions{}); err != nil {
		t.Error(err)
	}
	want(t, b.sources(), "z<register.json")
}

// R-206, R-206a, R-209: duplicates, with and without --replace.
func TestDuplicates(t *testing.T) {
	content := files{
		"tools/a/tool.sh": "", "tools/d/tool.sh": `# mcp: {"id":"dee","name":"d"}`, "tools/m/tool.sh": "",
		"tools/m/tool.meta.json": `{"version":"1.0.0"}`,
		"server.d/register.json": `{"version":1,"merge":["tools"],"tools":[{"name":"r","id":"arr","path":"r.sh"},` +
			`{"name":"s","path":"s.sh"}]}`, "tools/r.sh": "", "tools/s.sh": "",
	}
	for _, tc := range []struct{ payload, taken, replaced string }{
		{`{"name":"s","path":"a/tool.sh"}`, "tool 's' is already registered (tools/s.sh)",
			"d<discovered m<discovered r<register.json s<register.json"},
		{`{"id":"arr","name":"x","path":"a/tool.sh"}`, "tool 'arr' is already registered (tools/r.sh)",
			"d<discovered m<discovered s<register.json x<register.json"},
		{`{"id":"dee","name":"x","path":"s.sh"}`, "tool 'dee' is already registered (tools/d/tool.sh)",
			"a<discovered m<discovered r<register.json s<register.json x<register.json"},
		{`{"name":"d","path":"s.sh"}`, "tool 'd' is already registered (tools/d/tool.sh)",
			"a<discovered d<register.json m<discovered r<register.json s<register.json"},
		{`{"name":"m","path":"m/tool.sh"}`, "tool 'm' is already registered (tools/m/tool.sh)",
			"a<discovered d<discovered m<register.json r<register.json s<register.json"},
		{`{"id":"arr","name":"s","path":"a/tool.sh"}`, "tool 'arr' is already registered (tools/r.sh)",
			"tool 's' is already registered (tools/s.sh)"},
		// A registration for the file of a tool without metadata describes the tool.
		{`{"name":"a","path":"a/tool.sh"}`, "", "a<register.json d<discovered m<discovered r<register.json s<register.json"},
		{`{"name":"b","path":"./a/tool.sh"}`, "",
			"b<register.json d<discovered m<discovered r<register.json s<register.json"},
	} {
		b := newBed(t, nil, content)
		err := b.register(tc.payload, RegisterOptions{})
		if tc.taken == "" && err != nil || tc.taken != "" && (!errors.Is(err, ErrDuplicateTool) || err.Error() != tc.taken) {
			t.Errorf("%s: %v", tc.payload, err)
		}
		if tc.taken != "" {
			want(t, b.Read("server.d/register.json"), content["server.d/register.json"])
			err = b.register(tc.payload, RegisterOptions{Replace: true})
		}
		if strings.HasPrefix(tc.replaced, "tool ") {
			if !errors.Is(err, ErrDuplicateTool) || err.Error() != tc.replaced {
				t.Errorf("%s: %v", tc.payload, err)
			}
			continue
		}
		got := b.sources()
		if tc.taken != "" && strings.Contains(tc.payload, "a/tool.sh") {
			got = strings.TrimPrefix(got, "a<discovered ") // an entry for the same file hides it
		}
		if err != nil || got != tc.replaced {
			t.Errorf("%s: %v %s, want %s", tc.payload, err, got, tc.replaced)
		}
	}
	// The entry is replaced at its position.
	b := newBed(t, nil, content)
	b.register(`{"name":"r","id":"arr","path":"a/tool.sh","description":"new"}`, RegisterOptions{Replace: true})
	want(t, b.declared(), `{"version":1,"merge":["tools"],"tools":[{"name":"r","id":"arr","path":"a/tool.sh",`+
		`"description":"new"},{"name":"s","path":"s.sh"}]}`)
	// A described tool whose script is registered under another name is hidden, with a warning.
	b.Log()
	b.register(`{"name":"other","path":"d/tool.sh"}`, RegisterOptions{})
	b.WantLog("warning mcp.registry: tool 'd' is no longer offered: 'other' takes its place (tools/d/tool.sh)")
}

// removing a tool.
func TestUnregister(t *testing.T) {
	for name, tc := range map[string]struct{ before, id, is, want, tools string }{
		"entry": {`{"version":1,"merge":["tools"],"tools":[{"name":"r","id":"arr","path":"a/tool.sh"}]}`, "arr",
			"arr", `{"version":1,"merge":["tools"],"tools":[]}`, "a<discovered d<discovered"},
		"by its name": {`{"version":1,"tools":[{"name":"r","id":"arr","path":"a/tool.sh"},{"name":"s","path":"s"}]}`,
			"r", "arr", `{"version":1,"tools":[{"name":"s","path":"s"}]}`, "s<register.json"},
		"discovered": {"", "d", "dee", `{"version":1,"exclude":["dee"]}`, "a<discovered"},
		"still discovered": {`{"version":1,"merge":["tools"],"tools":[{"name":"a","path":"a/tool.sh"}],"exclude":["q"]}`, "a",
			"a", `{"version":1,"merge":["tools"],"tools":[],"exclude":["q","a"]}`, "d<discovered"},
		"under its name": {`{"version":1,"merge":["tools"],"tools":[{"name":"d","path":"a/tool.sh"}]}`, "d", "d",
			`{"version":1,"merge":["tools"],"tools":[],"exclude":["d"]}`, "a<discovered"},
		"entry twice": {`{"version":1,"tools":[{"name":"r","path":"x"},{"name":"k","path":"k"},{"name":"r","path":"y"}]}`,
			"r", "r", `{"version":1,"tools":[{"name":"k","path":"k"}]}`, "k<register.json"},
	} {
		b := newBed(t, nil, files{"tools/a/tool.sh": "", "tools/d/tool.sh": `# mcp: {"id":"dee"}`})
		if tc.before != "" {
			b.Put(files{"server.d/register.json": tc.before})
		}
		id, err := b.project(nil).Unregister(context.Background(), tc.id)
		if id != tc.is || err != nil || b.declared() != tc.want || b.sources() != tc.tools {
			t.Errorf("%s: %s %v %s %s\nwant %s %s %s", name, id, err, b.declared(), b.sources(), tc.is, tc.want, tc.tools)
		}
		_, err = b.project(nil).Unregister(context.Background(), tc.id)
		var e *Error
		if !errors.As(err, &e) || e.Type != "ToolNotFound" || e.ID != tc.id || e.Message != "tool '"+tc.id+
			"' is not registered" {
			t.Errorf("%s: %v", name, err)
		}
		// A tool that is registered again is offered again.
		if err := b.register(`{"name":"`+tc.is+`","path":"a/tool.sh"}`,
			RegisterOptions{}); err != nil || !strings.Contains(b.sources(), tc.is+"<register.json") {
			t.Errorf("%s: %v %s", name, err, b.sources())
		}
	}
}

// only one tool is removed, even if its id is the name of another tool.
func TestUnregisterOne(t *testing.T) {
	b := newBed(t, nil, files{
		"tools/d/tool.sh": `# mcp: {"id":"dee"}`, "server.d/register.json": `{"version":1,"merge":["tools"],` +
			`"tools":[{"name":"dee","id":"q","path":"x"}]}`,
	})
	if _, err := b.project(nil).Unregister(context.Background(), "d"); err != nil {
		t.Fatal(err)
	}
	want(t, b.declared(), `{"version":1,"merge":["tools"],"tools":[{"name":"dee","id":"q","path":"x"}],"exclude":["d"]}`)
	want(t, b.sources(), "dee<register.json")
}

// all other errors. None of them changes the file.
func TestRegisterRefusals(t *testing.T) {
	const good = `{"name":"x","path":"a/tool.sh","capabilities":["Network"]}`
	const register = "server.d/register.json"
	for name, tc := range map[string]struct {
		env     project.Env
		spoil   func(b *bed)
		payload string
		want    error
		says    string
	}{
		"no path": {payload: `{"name":"x"}`, want: ErrInvalidRegistration, says: "path: missing"},
		"no file": {payload: `{"name":"x","path":"tools/a/tool.sh"}`, want: ErrInvalidRegistration,
			says: "path: no file tools/tools/a/tool.sh (it is relative to tools/)"},
		"a directory": {payload: `{"name":"x","path":"a"}`, want: ErrInvalidRegistration, says: "path: no file tools/a"},
		"slash": {payload: `{"name":"x","path":"a/tool.sh/"}`, want: ErrInvalidRegistration,
			says: "path: tools/a/tool.sh is a directory"},
		"absolute": {payload: `{"name":"x","path":"/bin/sh"}`, want: ErrInvalidRegistration,
			says: "path: not relative to tools/"},
		"not runnable": {payload: `{"name":"x","path":"a/data"}`, want: ErrInvalidRegistration,
			says: "path: tools/a/data is not runnable"},
		"all at once": {payload: `{"name":"","path":"no","version":"x"}`, want: ErrInvalidRegistration,
			says: "invalid registration: name: is empty; path: no file tools/no (it is relative to tools/); version: not a " +
				"semantic version"},
		"outside": {payload: `{"name":"x","path":"../outside.sh"}`, want: ErrPermissionDenied,
			says: "path '../outside.sh' is refused"},
		"through link": {payload: `{"name":"x","path":"link.sh"}`, want: ErrPermissionDenied,
			says: "path 'link.sh' is refused"},
		"fault first": {payload: `{"name":"x","path":"../outside.sh","id":"?"}`, want: ErrInvalidRegistration,
			says: "id: not of letters"},
		"level": {env: project.Env{"MCPBASH_SECURITY_LEVEL": "standard"}, payload: good, want: ErrPermissionDenied,
			says: "tool 'x' requires security level 'elevated' (current level: 'standard'); see MCPBASH_SECURITY_LEVEL, and " +
				"securityLevel in server.d/server.meta.json"},
		"static": {env: project.Env{"MCPBASH_STATIC_REGISTRY": "1"}, payload: good, want: ErrPermissionDenied,
			says: "unset MCPBASH_STATIC_REGISTRY"},
		"syntax": {spoil: func(b *bed) { b.Put(files{register: `{"version":1,}`}) }, payload: good,
			want: ErrInvalidRegistration, says: "Declarative register.json parsing/validation failed: line 1, column 14"},
		"no list": {spoil: func(b *bed) { b.Put(files{register: `{"version":1,"tools":5}`}) }, payload: good,
			want: ErrInvalidRegistration, says: "register.json tools must be an array or null"},
		"too large": {env: project.Env{"MCPBASH_MAX_MANUAL_REGISTRY_BYTES": "100"}, payload: good,
			want: ErrInvalidRegistration, says: "register.json would exceed 100 bytes (MCPBASH_MAX_MANUAL_REGISTRY_BYTES)"},
		"read only": {spoil: func(b *bed) {
			b.Put(files{register: `{"version":1}`})
			os.Chmod(b.Path(register), 0o444)
		}, payload: good, want: ErrPermissionDenied, says: "is not writable; run chmod u+w"},
		"link": {spoil: func(b *bed) { b.Put(files{"r": `{"version":1}`, register + "@": "../r"}) }, payload: good,
			want: ErrPermissionDenied, says: "refused: server.d/register.json is a symlink (replace it with a regular file)"},
		"file mode": {spoil: func(b *bed) {
			b.Put(files{register: `{"version":1}`})
			os.Chmod(b.Path(register), 0o646)
		}, payload: good, want: ErrPermissionDenied,
			says: "refused: server.d/register.json is group- or world-writable (fix: chmod g-w,o-w server.d/register.json)"},
		"directory": {spoil: func(b *bed) { os.Chmod(b.Path("server.d"), 0o757) }, payload: good,
			want: ErrPermissionDenied, says: "refused: server.d is group- or world-writable (fix: chmod g-w,o-w "},
		"root": {spoil: func(b *bed) { os.Chmod(b.Root, 0o757) }, payload: good, want: ErrPermissionDenied,
			says: "(mode 0757, others can write to it; run chmod o-w "},
		"script's mode": {spoil: func(b *bed) { os.Chmod(b.Path("tools/a/tool.sh"), 0o757) }, payload: good,
			want: ErrPermissionDenied, says: "(mode 0757, others can write to it; run chmod o-w "},
		"hook": {env: project.Env{"MCPBASH_ALLOW_PROJECT_HOOKS": "true"},
			spoil: func(b *bed) { b.Put(files{"server.d/register.sh*": ""}) }, payload: good, want: ErrInvalidRegistration,
			says: "a new register.json would switch off register.sh"},
		"insecure hook": {env: project.Env{"MCPBASH_ALLOW_PROJECT_HOOKS": "true"}, spoil: func(b *bed) {
			b.Put(files{"h": "",
				"server.d/register.sh@": "../h"})
		}, payload: good, want: ErrInvalidRegistration, says: "a new register.json would switch off register.sh"},
	} {
		b := newBed(t, nil, files{"tools/a/tool.sh": "", "tools/a/data": "text", "outside.sh": "",
			"tools/link.sh@": "../outside.sh"})
		if tc.spoil != nil {
			tc.spoil(b)
		}
		before, _ := os.ReadFile(b.Path(register))
		r := b.project(tc.env)
		for _, o := range []RegisterOptions{{DryRun: true}, {}, {Replace: true}} {
			_, err := r.Register(context.Background(), []byte(tc.payload), o)
			var e *Error
			if !errors.Is(err, tc.want) || !errors.As(err, &e) || !strings.Contains(e.Message, tc.says) {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if tc.payload == good && e.ID != "x" {
				t.Errorf("%s: id %q", name, e.ID)
			}
			if tc.want == ErrInvalidRegistration && strings.HasPrefix(e.Message,
				"invalid") != (len(e.Details) > 0 && !strings.HasPrefix(e.Details[0], "Declarative")) {
				t.Errorf("%s: details %q of %q", name, e.Details, e.Message)
			}
		}
		if after, _ := os.ReadFile(b.Path(register)); string(after) != string(before) {
			t.Errorf("%s: register.json has become %s", name, after)
		}
		if left, _ := filepath.Glob(b.Path("server.d/.*")); left != nil {
			t.Errorf("%s: %v", name, left)
		}
	}
	// A register.sh that may not run has no effect.
	b := newBed(t, nil, files{"tools/a/tool.sh": "", "server.d/register.sh*": ""})
	if err := b.register(good, RegisterOptions{}); err != nil {
		t.Error(err)
	}
}

// errors of a registry that is not available.
func TestRegistryNotAvailable(t *testing.T) {
	b := newBed(t, nil, files{"tools/a/tool.sh": "", "server.d/register.json": `{"version":2}`})
	for range 2 {
		_, err := b.project(nil).Tools(context.Background())
		_, errGet := b.project(nil).Tool(context.Background(), "a")
		_, errUnregister := b.project(nil).Unregister(context.Background(), "a")
		for _, err := range []error{err, errGet, errUnregister} {
			var e *Error
			if !errors.Is(err, ErrInvalidRegistration) || !errors.As(err, &e) || !slices.Equal(e.Details,
				[]string{"Declarative register.json parsing/validation failed: register.json version must be 1"}) {
				t.Error(err)
			}
		}
	}
	os.Chmod(b.Path("server.d/register.json"), 0o666)
	if _, err := b.project(nil).Tools(context.Background()); !errors.Is(err, ErrPermissionDenied) {
		t.Error(err)
	}
	b.Remove("server.d/register.json")
	got, err := b.project(nil).Tool(context.Background(), "a")
	if err != nil || got.Path != "a/tool.sh" || got.Capabilities != nil {
		t.Errorf("%+v", got)
	}
}

// the source of each tool, its level, and whether it is allowed.
func TestToolStanding(t *testing.T) {
	b := newBed(t, nil, files{
		"tools/z/tool.sh": `# mcp: {"capabilities":["Network"],"securityLevel":"full"}`, "tools/a/tool.sh": "",
		"tools/h.sh": "",
		"server.d/register.json": `{"version":1,"tools":[{"name":"z","path":"h.sh","capabilities":[]},{"name":"b",` +
			`"path":"h.sh"}],"merge":["tools"]}`,
	})
	tell := func(env project.Env, o registry.Options) string {
		b.reopen(env, o)
		o.Now = b.Now
		tools, err := NewProject(b.Project, o).Tools(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for i := range tools {
			lines = append(lines, string(tools[i].AppendJSON(nil)))
		}
		return strings.Join(lines, "\n")
	}
	const tail = `"parameters":{"required":[],"optional":[]},`
	want(t, tell(project.Env{"MCPBASH_SECURITY_LEVEL": "elevated"}, registry.Options{}),
		`{"id":"a","name":"a","description":"","version":"0.0.0","capabilities":null,`+tail+
			`"path":"a/tool.sh","source":"discovered","requiredLevel":"full","allowed":false}
{"id":"b","name":"b","description":"","version":"0.0.0","capabilities":null,`+tail+
			`"path":"h.sh","source":"register.json","requiredLevel":"full","allowed":false}
{"id":"z","name":"z","description":"","version":"0.0.0","capabilities":[],`+tail+`"path":"h.sh",`+
			`"source":"register.json","requiredLevel":"restricted","allowed":true}`)
	b.Remove("server.d/register.json")
	b.Put(files{"server.d/register.sh*": `mcp_register_tool '{"name":"hooked","path":"h.sh","capabilities":["Search"]}'`})
	want(t, tell(project.Env{"MCPBASH_ALLOW_PROJECT_HOOKS": "true"}, b.hooks()),
		`{"id":"hooked","name":"hooked","description":"","version":"0.0.0","capabilities":["Search"],`+tail+
			`"path":"h.sh","source":"register.sh","requiredLevel":"restricted","allowed":true}`)
	// A static registry is returned unchanged.
	want(t, tell(project.Env{"MCPBASH_STATIC_REGISTRY": "1"}, registry.Options{}),
		`{"id":"hooked","name":"hooked","description":"","version":"0.0.0","capabilities":["Search"],`+tail+
			`"path":"h.sh","source":"discovered","requiredLevel":"restricted","allowed":true}`)
	// A tool of register.sh cannot be unregistered.
	b.reopen(project.Env{"MCPBASH_ALLOW_PROJECT_HOOKS": "true"}, b.hooks())
	_, err := NewProject(b.Project, b.o).Unregister(context.Background(), "hooked")
	if !errors.Is(err, ErrInvalidRegistration) {
		t.Error(err)
	}
}

// the lock is on the directory. The wait for it is limited.
func TestServerDirLock(t *testing.T) {
	b := newBed(t, nil, files{"tools/a/tool.sh": "", "server.d/": ""})
	b.reopen(nil, registry.Options{LockWait: 20 * time.Millisecond})
	r := NewProject(b.Project, b.o)
	holder, err := os.Open(b.Project.Server)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	if locked, err := atomicfile.TryLock(holder); !locked {
		t.Skip("a system that cannot lock directories: ", err)
	}
	err = register(r, "one")
	var failed *registry.Failure
	if !errors.As(err, &failed) || !failed.Fatal || failed.Reason != "registry lock 'registry.register' unavailable "+
		"after 0.02s" {
		t.Error(err)
	}
	// A dry run needs no lock.
	if _, err := r.Register(context.Background(), []byte(`{"name":"x","path":"a/tool.sh"}`),
		RegisterOptions{DryRun: true}); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.Unregister(ctx, "one"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	holder.Close()
	if err := register(r, "one"); err != nil {
		t.Error(err)
	}
	want(t, b.sources(), "one<register.json")
}

// a directory without write permission.
func TestUnwritableServerDir(t *testing.T) {
	b := newBed(t, nil, files{"tools/a/tool.sh": "", "server": ""})
	r := b.project(nil)
	for _, err := range []error{
		&os.PathError{Op: "openat", Path: "x", Err: syscall.EACCES}, &os.PathError{Op: "openat", Path: "x",
			Err: syscall.EROFS},
		&os.LinkError{Op: "rename", Err: syscall.EPERM},
	} {
		got := r.change(context.Background(), "x", true, func(*edit) error { return err })
		var e *Error
		if !errors.As(got, &e) || e.Type != "PermissionDenied" || e.ID != "x" || !strings.HasPrefix(e.Message,
			"register.json cannot be written: ") || strings.Contains(e.Message, "openat") {
			t.Errorf("%v: %v", err, got)
		}
	}
	full := &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	if err := r.change(context.Background(), "x", true, func(*edit) error { return full }); !errors.Is(err,
		syscall.ENOSPC) {
		t.Error(err)
	}
	// A file has the path of the new directory.
	p := *b.Project
	p.Server = b.Path("server")
	if err := register(NewProject(&p, registry.Options{}), "x"); err == nil || b.Read("server") != "" {
		t.Error(err)
	}
}
