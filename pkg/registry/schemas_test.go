package registry

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/schemas"
)

// values are tried for every field.
var values = []string{
	`""`, `"x"`, `"5"`, `"0"`, `"1.2.3"`, `"messages"`, `"full"`, `"a b"`, `5`, `0`, `-1`, `1.5`, `true`, `false`,
	`[]`, `["a"]`, `["a","a"]`, `["Network"]`, `[1]`, `[{}]`, `[{"src":"https://h.example/i.png"}]`, `[{"src":1}]`,
	`[{"src":"https://h.example/i.png","theme":"dim"}]`, `[{"src":"https://h.example/i.png","sizes":"1x1"}]`,
	`[{"name":"a"}]`, `[{"name":"a","required":1}]`, `[{"name":""}]`,
	`{}`, `{"x":1}`, `{"type":"object"}`, `{"type":"objct"}`, `{"type":"string"}`, `{"properties":{"n":{"type":"strng"}}}`,
	`{"properties":5}`, `{"required":"name"}`, `{"anyOf":[]}`, `{"minLength":-1}`, `{"multipleOf":0}`, `{"items":[{},{}]}`,
	`{"items":5}`, `{"not":{"enum":1}}`, `{"dependentRequired":{"a":["b","b"]}}`, `{"$defs":{"a":[]}}`,
	`{"title":1}`, `{"readOnlyHint":"yes"}`, `{"audience":["user"]}`, `{"audience":["me"]}`, `{"priority":2}`,
	`{"lastModified":"2025-01-12T15:00:58Z"}`,
	`{"required":[{"name":"a"}]}`, `{"required":[{"type":"string"}]}`, `{"optional":[{"name":"a","type":"strng"}]}`,
	`{"optional":5}`,
	`{"type":"text"}`, `{"type":"binary","mimeType":"image/png"}`, `{"exitCodes":{"1":"Nothing.","255":""}}`,
	`{"exitCodes":{"0":"x"}}`, `{"exitCodes":{"256":"x"}}`, `{"exitCodes":{"01":"x"}}`, `{"exitCodes":{"1":1}}`,
	`{"type":"text","mimeType":""}`, `{"words":["-h"]}`, `{"words":["-h"],"exitCode":2}`, `{"words":[]}`, `{"words":[1]}`,
	`{"arguments":{}}`, `{"arguments":[]}`, `{"words":["-h"],"arguments":{}}`, `{"words":["-h"],"exitCode":0}`,
	`{"words":["-h"],"exitCode":256}`, `{"exitCode":1}`, `{"words":["-h"],"x":1}`,
}

// unread are fields of discovered items that the loader knows and does not read, with the reason. Their values cause no
// messages.
var unread = map[string]string{
	"tool path":            "the script lies beside",
	"tool execution":       "no tool runs as a task",
	"resource path":        "the file lies beside",
	"resource uriTemplate": "makes it a template",
	"prompt path":          "whether the file is there no schema knows",
}

// The published schemas accept exactly the values that the loader accepts without a message.
// They contain every field that the loader knows.
func TestSchemasAgree(t *testing.T) {
	for _, tc := range []struct {
		schema string
		kind   *kinds.Kind
		fields []string // known to the loader
		hidden []string // fields in this list that are internal
		needed string   // the members of a minimal item, in JSON without braces
		dir    string   // of the kind
		beside string   // the file that the metadata describes
	}{
		{schemas.Tool, kinds.Tools, kinds.ToolFields, nil, `"description":"D"`, "tools", "tool.sh"},
		{schemas.Resource, kinds.Resources, kinds.ResourceFields, []string{"arguments", "mimeTypeDeclared", "uriAuto"},
			`"description":"D"`, "resources", "r%d.txt"},
		{schemas.Prompt, kinds.Prompts, kinds.PromptFields, nil, `"description":"D"`, "prompts", "p%d.txt"},
	} {
		t.Run(tc.schema, func(t *testing.T) {
			text, err := schemas.Files.ReadFile(schemas.File(tc.schema))
			if err != nil {
				t.Fatal(err)
			}
			var s struct{ Properties map[string]any }
			if err := json.Unmarshal(text, &s); err != nil {
				t.Fatal(err)
			}
			delete(s.Properties, "$schema")
			got, want := slices.Sorted(maps.Keys(s.Properties)), slices.Sorted(slices.Values(tc.fields))
			want = slices.DeleteFunc(want, func(field string) bool { return slices.Contains(tc.hidden, field) })
			if !slices.Equal(got, want) {
				t.Errorf("the schema has\n%s, the loader\n%s", got, want)
			}
			content, docs, tried := files{}, map[int]string{}, map[int]string{}
			for _, field := range got {
				if unread[tc.schema+" "+field] != "" {
					continue
				}
				for _, value := range values {
					i := len(docs)
					docs[i] = fmt.Sprintf(`{"$schema":"../x.schema.json",%s,%q:%s}`, tc.needed, field, value)
					tried[i] = field + " " + value
					dir := fmt.Sprintf("%s/t%d/", tc.dir, i)
					name := dir + strings.Replace(tc.beside, "%d", fmt.Sprint(i), 1)
					content[name] = ""
					content[strings.TrimSuffix(name, path.Ext(name))+".meta.json"] = docs[i]
				}
			}
			b := newBed(t, nil, content)
			if _, err := b.List(t.Context(), tc.kind); err != nil {
				t.Fatal(err)
			}
			said := map[string]string{}
			for _, line := range b.Log() {
				for i := range docs {
					if strings.Contains(line, fmt.Sprintf("%s/t%d/", tc.dir, i)) && !strings.Contains(line, "Duplicate") {
						said[tried[i]] = line
					}
				}
			}
			if len(said) < 100 {
				t.Errorf("the loader warned of %d values", len(said))
			}
			for i, doc := range docs {
				faults := schemas.Compile(tc.schema).Check(json.RawMessage(doc))
				loader := said[tried[i]]
				if (len(faults) > 0) != (loader != "") {
					t.Errorf("%s: the schema says %v, the loader %q", tried[i], faults, loader)
				}
			}
		})
	}
}
