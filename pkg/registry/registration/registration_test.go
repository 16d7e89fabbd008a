package registration

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"mcp-bash/pkg/json/jsonedit"
	"mcp-bash/pkg/json/jsontest"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/declare"
)

// all faults of a registration are reported at once.
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
		{`{"name":"my tool"}`, "name: not of letters, digits, _, - and dots, which clients require"},
		{`{"name":"b\u00fccher"}`, "name: not of letters, digits, _, - and dots, which clients require"},
		{`{"name":"a/b"}`, "name: not of letters, digits, _, - and dots, which clients require"},
		{`{"name":"a-B_1.c"}`, ""},
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
		{`{"name":"a","parameters":{"required":[{"name":""},{"name":"x","type":"url"},{"name":"y"}],
			"optional":[{"name":"y"},{"name":"z","required":true},5]}}`,
			`parameters.optional[0]: "y" is given twice; parameters.optional[1]: required of "z" contradicts its list; ` +
				`parameters.optional[2]: not an object; ` +
				`parameters.required[0]: missing "name"; parameters.required[1]: unknown type of "x"`},
		{`{"name":"` + strings.Repeat("a", MaxPayload) + `"}`, "larger than 1048576 bytes"},
	} {
		_, faults := readRegistration([]byte(tc.payload))
		if got := strings.Join(faults.texts, "; "); got != tc.want {
			t.Errorf("%.200s:\ngot  %s\nwant %s", tc.payload, got, tc.want)
		}
	}
}

// the entry contains the fields as given.
func TestRegistrationEntry(t *testing.T) {
	for payload, want := range map[string]string{
		`{ "path":"a.sh", "id":"a", "name":"a", "title":null, "timeoutSecs":"8", ` +
			`"_meta":{"n":1.0} }`: `{"path":"a.sh","name":"a","timeoutSecs":"8","_meta":{"n":1.0}}`,
		`{"id":"b","name":"a","capabilities":["search"],"arguments":{"properties":{}}}`: `{"id":"b","name":"a",
			"capabilities":["search"],"arguments":{"properties":{}}}`,
		`{"name":"a","parameters":{"required":[{"name":"url","description":"URL"}],"optional":[{"name":"n",
			"parameter_type":"integer","required":false}]},"version":"1.0.0"}`: `{"name":"a","inputSchema":{"type":"object",
			"properties":{"url":{"type":"string","description":"URL"},"n":{"type":"integer"}},"required":["url"]},
			"version":"1.0.0"}`,
	} {
		reg, faults := readRegistration([]byte(payload))
		if !jsontest.Same(string(reg.entry), want) || faults.texts != nil {
			t.Errorf("%s: %v\ngot  %s\nwant %s", payload, faults, reg.entry, want)
		}
	}
}

// the parameters of a schema.
func TestParametersOf(t *testing.T) {
	got := parametersOf([]byte(`{"properties":{"a":{"type":"integer","description":"A"},"b":{"type":["string","null"]},
		"c":true,"d":{"type":"null"},"e":{}},"required":["e","a","x"]}`))
	want := ToolParameters{
		Required: []Parameter{{"a", "A", "integer", true}, {"e", "", "object", true}},
		Optional: []Parameter{{"b", "", "object", false}, {"c", "", "object", false}, {"d", "", "object", false}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

// whole returns the payload of a registration with all its fields, and the tool that it describes.
func whole(id string) (payload string, tool ToolRegistration) {
	payload = `{"id":"` + id + `","name":"name-` + id + `","description":"does it","version":"1.2.3","path":"a/tool.sh",
		"securityLevel":"elevated","capabilities":["FileSystem","Network"],
		"parameters":{"required":[{"name":"url","description":"where"},{"name":"list","type":"array"}],
			"optional":[{"name":"n","type":"number"}]}}`
	return payload, ToolRegistration{
		ID: id, Name: "name-" + id, Description: "does it", Version: "1.2.3", Path: "a/tool.sh",
		SecurityLevel: access.Elevated,
		Capabilities:  []access.Capability{access.FileSystem, access.Network},
		Parameters: ToolParameters{
			Required: []Parameter{{"url", "where", "string", true}, {"list", "", "array", true}},
			Optional: []Parameter{{"n", "", "number", false}},
		},
	}
}

// the registry returns what was registered, by id and by name, as copies.
func TestRegistry(t *testing.T) {
	b := newBed(t, nil, files{"tools/a/tool.sh*": ""})
	r := NewProject(b.Project, registry.Options{Now: b.Now})
	ctx := context.Background()
	for _, id := range []string{"b", "a", "c"} {
		payload, _ := whole(id)
		if err := registerJSON(r, payload); err != nil {
			t.Fatal(err)
		}
	}
	_, wantB := whole("b")
	for _, asked := range []string{"b", "name-b"} {
		if got, err := r.Tool(ctx, asked); err != nil || !reflect.DeepEqual(got.ToolRegistration, wantB) {
			t.Errorf("%+v, %v", got, err)
		}
	}
	list, err := r.Tools(ctx)
	if err != nil || len(list) != 3 || list[0].ID != "a" || list[2].ID != "c" {
		t.Fatalf("%+v, %v", list, err)
	}
	list[1].Capabilities[0], list[1].Parameters.Required[0].Name = "changed", "changed"
	if got, _ := r.Tool(ctx, "b"); !reflect.DeepEqual(got.ToolRegistration, wantB) {
		t.Errorf("not a copy: %+v", got)
	}
	for payload, taken := range map[string]string{
		`{"id":"a","name":"other","path":"a/tool.sh"}`:  "a",
		`{"id":"z","name":"name-a","path":"a/tool.sh"}`: "name-a",
	} {
		err := registerJSON(r, payload)
		var e *Error
		if !errors.Is(err, ErrDuplicateTool) || !errors.As(err, &e) || e.Type != "DuplicateTool" ||
			!strings.Contains(e.Message, "tool '"+taken+"' is already registered") {
			t.Errorf("%+v", err)
		}
	}
	if id, err := r.Unregister(ctx, "name-b"); id != "b" || err != nil {
		t.Error(id, err)
	}
	if _, err := r.Unregister(ctx, "b"); !errors.Is(err, ErrToolNotFound) {
		t.Error(err)
	}
	if _, err := r.Tool(ctx, "b"); !errors.Is(err, ErrToolNotFound) {
		t.Error(err)
	}
	// Default values, and an empty list of capabilities, which differs from a missing one.
	registerJSON(r, `{"name":"plain","path":"a/tool.sh","parameters":{"required":[{"name":"x"}]}}`)
	registerJSON(r, `{"name":"none","path":"a/tool.sh","capabilities":[]}`)
	plain, _ := r.Tool(ctx, "plain")
	if plain.ID != "plain" || plain.Version != "0.0.0" || plain.Capabilities != nil ||
		plain.Parameters.Required[0] != (Parameter{"x", "", "string", true}) {
		t.Errorf("%+v", plain)
	}
	if none, _ := r.Tool(ctx, "none"); none.Capabilities == nil || len(none.Capabilities) > 0 {
		t.Errorf("%+v", none)
	}
	if errors.Is(&Error{Type: ErrDuplicateTool.Error()}, ErrDuplicateTool) {
		t.Error("an error is compared by the name of its type")
	}
}

// concurrent registrations lose nothing.
func TestConcurrentRegistrations(t *testing.T) {
	const n = 20
	b := newBed(t, nil, files{"tools/a/tool.sh*": ""})
	shared := NewProject(b.Project, registry.Options{Now: b.Now})
	for name, open := range map[string]func() *Project{
		"one Project":    func() *Project { return shared },
		"many a Project": func() *Project { return NewProject(b.Project, registry.Options{Now: b.Now}) },
	} {
		race := func(id func(i int) string) (done, duplicates int) {
			var wg sync.WaitGroup
			var mu sync.Mutex
			for i := range n {
				wg.Go(func() {
					err := register(open(), id(i))
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
		tools, err := open().Tools(context.Background())
		if err != nil {
			t.Error(name, err)
		}
		for _, tool := range tools {
			if strings.HasPrefix(tool.Name, prefix) {
				kept++
			}
		}
		if kept != n+1 {
			t.Errorf("%s: %d kept", name, kept)
		}
	}
}

// Any payload can be checked, and an accepted payload results in a valid register.json
//
func FuzzRegistration(f *testing.F) {
	f.Add([]byte(`{"name":"net-fetch","path":"net-fetch/tool.sh","version":"1.2.0","capabilities":["Network"],
		"parameters":{"required":[{"name":"url"}]}}`))
	f.Add([]byte(`{"name":"a","path":"b","id":"c","annotations":{"readOnlyHint":true},"capabilities":["Edit"],
		"inputSchema":{"required":[1]}}`))
	f.Add([]byte(`{"name":"\ud800","path":"\u0000","icons":[{"src":"../x"}],"timeoutSecs":"007"}`))
	f.Add([]byte("\xEF\xBB\xBF{\r\n}"))
	f.Add([]byte(`{"name":"a","parameters":{"required":[{"name":"x","type":"array"},{"name":"x"}],"optional":{}}}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		reg, faults := readRegistration(payload)
		if len(faults.texts) > 0 {
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
