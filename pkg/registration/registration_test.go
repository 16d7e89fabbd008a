package registration

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"mcp-bash/pkg/jsonedit"
	"mcp-bash/pkg/rawjson"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/declare"
)

// every fault of a registration, all of them at once.
func TestRegistrationFaults(t *testing.T) {
	for _, tc := range []struct{ payload, want string }{
		{`{"name":"a"}`, ""},
		{`{"name":"a","description":"","title":"T","timeoutSecs":"5","progressExtendsTimeout":true,"maxTimeoutSecs":9,"timeoutHint":"h",
			"outputSchema":{},"icons":[{"src":"x.svg"},{"src":"/etc/passwd"}],"validateInput":false,"annotations":{},"requires":["roots"],"_meta":{},
			"id":"b","version":"1.0.0-rc.1+x","capabilities":["search","EDIT","Edit"],"securityLevel":"Full","inputSchema":{"a":1},"parameters":null}`, ""},
		{"\xEF\xBB\xBF" + `{"name":"a"}`, ""},
		{``, "line 1, column 1: unexpected end"},
		{`[]`, "not a JSON object"},
		{`{"name":"a"}{"name":"b"}`, "line 1, column 13: text after the value"},
		{`{"name":"a",` + "\n" + `}`, "line 2, column 1: a member name expected"},
		{`{"name":"a","_meta":` + layers(100) + `}`, "nested more than 100 levels deep"},
		{`{}`, "name: missing"},
		{`{"name":null}`, "name: missing"},
		{`{"name":" "}`, "name: is empty"},
		{`{"name":5,"path":"tool.sh"}`, "name: not a string"},
		{`{"name":"` + strings.Repeat("a", 129) + `"}`, "name: is longer than 128 bytes"},
		{`{"name":"a\u0007"}`, "name: contains control characters"},
		{`{"name":"a","path":5}`, "path: not a string"},
		{`{"name":"a","color":1,"colour":null}`, "color: unknown field; colour: unknown field"},
		{`{"name":"a","id":"-a","version":"1.0","title":1,"description":[],"timeoutSecs":0,"maxTimeoutSecs":1.5,"timeoutHint":1,"progressExtendsTimeout":"yes",
			"outputSchema":[],"icons":{},"validateInput":1,"annotations":[],"requires":[1],"_meta":5}`,
			"_meta: not an object; annotations: not an object; description: not a string; icons: not an array; id: not of " +
				"letters, digits, '_', '.' and '-', at most 128, the first a letter or digit" +
				"; maxTimeoutSecs: not a positive integer; outputSchema: not an object; progressExtendsTimeout: not true or " +
				"false; requires: not an array of strings; " +
				"timeoutHint: not a string; timeoutSecs: not a positive integer; title: not a string; validateInput: not true or " +
				"false; version: not a semantic version"},
		{`{"name":"a","capabilities":["Network","Kernel"],"version":"one"}`,
			`capabilities[1]: unknown capability "Kernel"; version: not a semantic version`},
		{`{"name":"a","capabilities":"Network"}`, `capabilities: not an array of strings`},
		{`{"name":"a","capabilities":["Edit","Network"],"annotations":{"readOnlyHint":true,"openWorldHint":false}}`,
			"capability Edit contradicts annotation readOnlyHint: true; capability Network contradicts annotation " +
				"openWorldHint: false"},
		{`{"name":"a","securityLevel":"high"}`, `securityLevel: unknown security level "high"`},
		{`{"name":"a","securityLevel":""}`, `securityLevel: unknown security level ""`},
		{`{"name":"a","inputSchema":[]}`, "inputSchema: not an object"},
		{`{"name":"a","inputSchema":{},"parameters":{}}`, "parameters: one of inputSchema, arguments and parameters is " +
			"enough"},
		{`{"name":"a","parameters":{"required":[{"name":""},{"name":"x","type":"url"},{"name":"y"}],` +
			`"optional":[{"name":"y"},{"name":"z","required":true},5]}}`,
			`parameters.optional[0]: "y" is given twice; parameters.optional[1]: required of "z" contradicts its list; ` +
				`parameters.optional[2]: not an object; ` +
				`parameters.required[0]: missing "name"; parameters.required[1]: unknown type of "x"`},
		{`{"name":"` + strings.Repeat("a", MaxPayload) + `"}`, "larger than 1048576 bytes"},
	} {
		_, faults := readRegistration([]byte(tc.payload))
		if got := strings.Join(faults, "; "); got != tc.want {
			t.Errorf("%.200s:\ngot  %s\nwant %s", tc.payload, got, tc.want)
		}
	}
}

// the entry holds the fields as given.
func TestRegistrationEntry(t *testing.T) {
	for payload, want := range map[string]string{
		`{ "path":"a.sh", "id":"a", "name":"a", "title":null, "timeoutSecs":"8", ` +
			`"_meta":{"n":1.0} }`: `{"path":"a.sh","name":"a","timeoutSecs":"8","_meta":{"n":1.0}}`,
		`{"id":"b","name":"a","capabilities":["search"],"arguments":{"properties":{}}}`: `{"id":"b","name":"a",` +
			`"capabilities":["search"],"arguments":{"properties":{}}}`,
		`{"name":"a","parameters":{"required":[{"name":"url","description":"URL"}],"optional":[{"name":"n",` +
			`"parameter_type":"integer","required":false}]},"version":"1.0.0"}`: `{"name":"a","inputSchema":{"type":"object",` +
			`"properties":{"url":{"type":"string","description":"URL"},"n":{"type":"integer"}},"required":["url"]},` +
			`"version":"1.0.0"}`,
	} {
		reg, faults := readRegistration([]byte(payload))
		if string(reg.entry) != want || faults != nil {
			t.Errorf("%s: %v\ngot  %s\nwant %s", payload, faults, reg.entry, want)
		}
	}
}

// what a schema is told as.
func TestParametersOf(t *testing.T) {
	got := parametersOf([]byte(`{"properties":{"a":{"type":"integer","description":"A"},"b":{"type":["string","null"]},` +
		`"c":true,"d":{"type":"null"},"e":{}},"required":["e","a","x"]}`))
	want := ToolParameters{
		Required: []Parameter{{"a", "A", Integer, true}, {"e", "", Object, true}},
		Optional: []Parameter{{"b", "", Object, false}, {"c", "", Object, false}, {"d", "", Object, false}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

// whole is a registration with all its fields.
func whole(id string) ToolRegistration {
	return ToolRegistration{
		ID: id, Name: "name-" + id, Description: "does \"" + id + "\"", Version: "1.2.3", Path: "a/tool.sh",
		SecurityLevel: access.Elevated,
		Capabilities:  []access.Capability{access.FileSystem, access.Network},
		Parameters: ToolParameters{
			Required: []Parameter{{"url", "where", String, true}, {"list", "", Array, true}},
			Optional: []Parameter{{"n", "", Number, false}},
		},
	}
}

// what goes in comes out, for both registries.
func TestRegistries(t *testing.T) {
	b := newBed(t, nil, files{"tools/a/tool.sh*": ""})
	for name, r := range map[string]ToolRegistry{"Memory": New(), "Project": NewProject(b.Project,
		registry.Options{Now: b.Now})} {
		for _, id := range []string{"b", "a", "c"} {
			if err := r.RegisterTool(whole(id)); err != nil {
				t.Fatal(name, err)
			}
		}
		for _, asked := range []string{"b", "name-b"} {
			if got, ok := r.GetTool(asked); !ok || !reflect.DeepEqual(got, whole("b")) {
				t.Errorf("%s: %+v", name, got)
			}
		}
		list := r.ListTools()
		if len(list) != 3 || list[0].ID != "a" || list[2].ID != "c" {
			t.Errorf("%s: %+v", name, list)
		}
		list[0].Capabilities[0], list[0].Parameters.Required[0].Name = "changed", "changed"
		if got, _ := r.GetTool("a"); !reflect.DeepEqual(got, whole("a")) {
			t.Errorf("%s: not a copy: %+v", name, got)
		}
		sameID, sameName := whole("a"), whole("z")
		sameID.Name, sameName.Name = "other", "name-a"
		for taken, reg := range map[string]ToolRegistration{"a": sameID, "name-a": sameName} {
			err := r.RegisterTool(reg)
			var e *Error
			if !errors.Is(err, ErrDuplicateTool) || !errors.As(err,
				&e) || e.ID != reg.ID || e.Type != "DuplicateTool" || !strings.Contains(e.Message,
				"tool '"+taken+"' is already registered") {
				t.Errorf("%s: %+v", name, err)
			}
		}
		if err := r.UnregisterTool("b"); err != nil {
			t.Error(name, err)
		}
		if err := r.UnregisterTool("b"); !errors.Is(err, ErrToolNotFound) {
			t.Error(name, err)
		}
		if _, ok := r.GetTool("b"); ok {
			t.Error(name, "still there")
		}
		bad := whole("d")
		bad.Version, bad.Capabilities = "1", append(bad.Capabilities, "Kernel")
		bad.Parameters.Optional[0].Required = true
		err := r.RegisterTool(bad)
		var e *Error
		if !errors.Is(err, ErrInvalidRegistration) || !errors.As(err, &e) || !reflect.DeepEqual(e.Details, []string{
			`capabilities[2]: unknown capability "Kernel"`, `parameters.optional[0]: required of "n" contradicts its list`,
			"version: not a semantic version",
		}) {
			t.Errorf("%s: %v", name, err)
		}
		// Defaults, and the difference between nothing and undeclared.
		r.RegisterTool(ToolRegistration{Name: "plain", Path: "a/tool.sh",
			Parameters: ToolParameters{Required: []Parameter{{Name: "x"}}}})
		r.RegisterTool(ToolRegistration{Name: "none", Path: "a/tool.sh", Capabilities: []access.Capability{}})
		plain, _ := r.GetTool("plain")
		if plain.ID != "plain" || plain.Version != "0.0.0" || plain.Capabilities != nil ||
			plain.Parameters.Required[0] != (Parameter{"x", "", String, true}) {
			t.Errorf("%s: %+v", name, plain)
		}
		if none, _ := r.GetTool("none"); none.Capabilities == nil || len(none.Capabilities) > 0 {
			t.Errorf("%s: %+v", name, none)
		}
	}
	if err := New().RegisterTool(ToolRegistration{Name: "pathless"}); err != nil {
		t.Error(err)
	}
	if errors.Is(&Error{Type: "Other"}, ErrDuplicateTool) {
		t.Error("an error of no type matches")
	}
}

// concurrent registrations lose nothing.
func TestConcurrentRegistrations(t *testing.T) {
	const n = 20
	b := newBed(t, nil, files{"tools/a/tool.sh*": ""})
	shared := NewProject(b.Project, registry.Options{Now: b.Now})
	for name, open := range map[string]func() ToolRegistry{
		"Memory":         func() func() ToolRegistry { m := New(); return func() ToolRegistry { return m } }(),
		"one Project":    func() ToolRegistry { return shared },
		"many a Project": func() ToolRegistry { return NewProject(b.Project, registry.Options{Now: b.Now}) },
	} {
		race := func(id func(i int) string) (done, duplicates int) {
			var wg sync.WaitGroup
			var mu sync.Mutex
			for i := range n {
				wg.Go(func() {
					err := open().RegisterTool(ToolRegistration{Name: id(i), Path: "a/tool.sh"})
					mu.Lock()
					defer mu.Unlock()
					switch {
					case err == nil:
						done++
					case errors.Is(err, ErrDuplicateTool):
						duplicates++
					default:
						t.Error(name, err)
					}
				})
			}
			wg.Wait()
			return done, duplicates
		}
		prefix := strings.ReplaceAll(name, " ", "-")
		if done, _ := race(func(i int) string { return fmt.Sprint(prefix, i) }); done != n {
			t.Errorf("%s: %d of %d registered", name, done, n)
		}
		if done, duplicates := race(func(int) string { return prefix }); done != 1 || duplicates != n-1 {
			t.Errorf("%s: %d registered, %d duplicates", name, done, duplicates)
		}
		kept := 0
		for _, tool := range open().ListTools() {
			if strings.HasPrefix(tool.Name, prefix) {
				kept++
			}
		}
		if kept != n+1 {
			t.Errorf("%s: %d kept", name, kept)
		}
	}
}

// Whatever is sent for a registration, it is judged without harm, and what is
// accepted makes a valid register.json.
func FuzzRegistration(f *testing.F) {
	f.Add([]byte(`{"name":"net-fetch","path":"net-fetch/tool.sh","version":"1.2.0","capabilities":["Network"],` +
		`"parameters":{"required":[{"name":"url"}]}}`))
	f.Add([]byte(`{"name":"a","path":"b","id":"c","annotations":{"readOnlyHint":true},"capabilities":["Edit"],` +
		`"inputSchema":{"required":[1]}}`))
	f.Add([]byte(`{"name":"\ud800","path":"\u0000","icons":[{"src":"../x"}],"timeoutSecs":"007"}`))
	f.Add([]byte("\xEF\xBB\xBF{\r\n}"))
	f.Add([]byte(`{"name":"a","parameters":{"required":[{"name":"x","type":"array"},{"name":"x"}],"optional":{}}}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		reg, faults := readRegistration(payload)
		if len(faults) > 0 {
			if err := reg.invalid(faults); !errors.Is(err, ErrInvalidRegistration) {
				t.Fatal(err)
			}
			return
		}
		if reg.Name == "" || reg.ID == "" {
			t.Fatalf("nameless: %q", payload)
		}
		m := jsonedit.New([]byte(`{"version":1}`))
		m.Append("tools", reg.entry)
		_, err := declare.Parse(m.Text)
		if err != nil {
			if reg.Path != "" && !strings.Contains(err.Error(), "nested more than") {
				t.Fatalf("%s: %s", err, m.Text)
			}
			return
		}
		if got := m.Elements("tools"); len(got) != 1 || rawjson.TextOf(got[0], "name") != reg.Name {
			t.Fatalf("%s", m.Text)
		}
		if told := registrationOf(reg.JSON); told.Name != reg.Name || told.ID != reg.ID || told.Version == "" {
			t.Fatalf("%+v", told)
		}
	})
}
