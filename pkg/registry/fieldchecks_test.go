package registry

import (
	"strings"
	"testing"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/kinds"
)

// only the part of a schema that clients reject is left out. The tool and the rest of the schema stay.
func TestSoundSchemas(t *testing.T) {
	for _, tc := range []struct{ given, want, said string }{
		{`{"type":"objct"}`, `{}`, `.type: must be "object"`},
		{`{"required":"name"}`, `{}`, ".required: must be an array of different strings"},
		{`{"required":["a","a"]}`, `{}`, ".required: must be an array of different strings"},
		{`{"properties":{"a":"string","b":{}}}`, `{"properties":{"b":{}}}`,
			".properties.a: not a schema, which is an object"},
		{`{"properties":{"a":{"type":"strng"}}}`, `{"properties":{"a":{}}}`,
			`.properties.a.type: "strng" is no type (did you mean string?)`},
		{`{"properties":{"a":{"type":["string","xxxxxxx"]}}}`, `{"properties":{"a":{}}}`,
			`.properties.a.type: "xxxxxxx" is no type`},
		{`{"properties":{"a":{"type":[]}}}`, `{"properties":{"a":{}}}`,
			".properties.a.type: must be the name of a type, or an array of different ones"},
		{`{"properties":{"a":{"type":["null","null"]}}}`, `{"properties":{"a":{}}}`,
			".properties.a.type: must be the name of a type, or an array of different ones"},
		{`{"properties":{"a":{"enum":"x","title":5}}}`, `{"properties":{"a":{}}}`,
			".properties.a.enum: must be an array|.properties.a.title: must be a string"},
		{`{"properties":{"a":{"minLength":-1,"maxLength":1.5,"minItems":"1"}}}`, `{"properties":{"a":{}}}`,
			".properties.a.minLength: must be a whole number, not negative|.properties.a.maxLength: must be a whole number, " +
				"not negative|.properties.a.minItems: must be a whole number, not negative"},
		{`{"properties":{"a":{"minimum":"1","exclusiveMinimum":true,"multipleOf":0}}}`, `{"properties":{"a":{}}}`,
			".properties.a.minimum: must be a number|.properties.a.exclusiveMinimum: must be a number|" +
				".properties.a.multipleOf: must be a number above 0"},
		{`{"properties":{"a":{"items":5}}}`, `{"properties":{"a":{}}}`,
			".properties.a.items: not a schema, which is an object"},
		{`{"properties":{"a":{"anyOf":[]}}}`, `{"properties":{"a":{}}}`, ".properties.a.anyOf: must not be empty"},
		{`{"properties":{"a":{"oneOf":["x"]}}}`, `{"properties":{"a":{}}}`,
			".properties.a.oneOf[0]: not a schema, which is an object"},
		{`{"properties":{"a":{"oneOf":{}}}}`, `{"properties":{"a":{}}}`, ".properties.a.oneOf: must be an array"},
		{`{"$defs":[],"dependentRequired":{"a":"b"},"additionalProperties":"no"}`, `{"dependentRequired":{}}`,
			".$defs: must be an object|.dependentRequired.a: must be an array of different strings|.additionalProperties: not " +
				"a schema, which is an object"},
		{`{"properties":{"a":true,"b":false}}`, `{"properties":{"a":{},"b":{"not":{}}}}`, ""},
		{`{"properties":{"a":{"type":["string","null"],"const":1,"default":[],"enum":[1],"minLength":3.0,"maxLength":1e2,` +
			`"multipleOf":0.5,"items":[{},true],"properties":{"x":false},"x-own":7}},` +
			`"required":[],"additionalProperties":false,"allOf":[{"if":{},"then":true}],"$defs":{"d":{"$ref":"#"}},` +
			`"patternProperties":{"^a":{}},"dependentRequired":{"a":["b"]},"prefixItems":[{}]}`, "", ""},
	} {
		if tc.want == "" {
			tc.want = tc.given
		}
		for _, field := range []string{"inputSchema", "arguments", "outputSchema"} {
			b := newBed(t, nil, files{"tools/a/tool.sh": "", "tools/a/tool.meta.json": `{"` + field + `":` + tc.given + `}`})
			item := b.tools().Items[0].JSON
			stored, want := "inputSchema", tc.want
			if field == "outputSchema" {
				stored = field
				if strings.Contains(tc.given, "objct") {
					continue // reported differently, because the type may change
				}
			} else {
				want = withDefaults(want)
			}
			if got := string(rawjson.Get(item, stored)); got != want {
				t.Errorf("%s %s:\n%s, want\n%s", field, tc.given, got, want)
			}
			var lines []string
			for said := range strings.SplitSeq(tc.said, "|") {
				if said != "" {
					lines = append(lines, "warning mcp.tools: tools/a/tool.meta.json: "+field+said+"; left out")
				}
			}
			b.WantLog(lines...)
		}
	}
	b := newBed(t, nil, files{"tools/a/tool.sh": "", "tools/a/tool.meta.json": "{\n \"outputSchema\": {\n  \"type\": " +
		"\"objct\"}}"})
	want(t, string(rawjson.Get(b.tools().Items[0].JSON, "outputSchema")), "{}")
	b.WantLog(`warning mcp.tools: tools/a/tool.meta.json:3:11: outputSchema.type: "objct" is no type (did you mean ` +
		`object?); left out`)
}

// withDefaults is a schema as it is stored for the arguments of a tool.
func withDefaults(schema string) string {
	for _, member := range []string{`"type":"object"`, `"properties":{}`} {
		if name, _, _ := strings.Cut(member, ":"); rawjson.Get([]byte(schema), strings.Trim(name, `"`)) == nil {
			schema = strings.TrimSuffix(schema, "}") + "," + member + "}"
		}
	}
	return strings.Replace(schema, "{,", "{", 1)
}

// checks of hints, annotations and icons. Messages contain the place of the fault.
func TestSoundMembers(t *testing.T) {
	b := newBed(t, nil, files{
		"tools/a/tool.sh": "# a tool\n# mcp: {\"annotations\":{\"readOnlyHint\":\"yes\",\"title\":\"T\",\"other\":5}}\n",
		"tools/a/i.svg":   "<svg/>",
		"tools/a/tool.meta.json": `{
  "icons": [{"src": "i.svg", "sizes": "48x48", "theme": "blue", "x": 1}, {"src": "https://x/y.png", "mimeType": 5}]
}`,
		"resources/r.txt": "", "resources/r.meta.json": `{"annotations":{"audience":["user","nobody"],"priority":2,` +
			`"lastModified":"yesterday","more":1}}`,
		"resources/t.meta.json": `{"name":"t","uriTemplate":"x://{y}","annotations":{"audience":["user"],"priority":0.5,` +
			`"lastModified":"2025-01-12T15:00:58Z"}}`,
	})
	item := b.tools().Items[0].JSON
	want(t, string(rawjson.Get(item, "annotations")), `{"title":"T","other":5}`)
	want(t, string(rawjson.Get(item, "icons")), `[{"src":"data:image/svg+xml;base64,PHN2Zy8+","x":1,`+
		`"mimeType":"image/svg+xml"},{"src":"https://x/y.png"}]`)
	b.WantLog(
		`warning mcp.tools: tools/a/tool.sh:2:39: annotations.readOnlyHint: must be true or false; left out`,
		`warning mcp.tools: tools/a/tool.meta.json:2:39: icons[0].sizes: must be an array of strings; left out`,
		`warning mcp.tools: tools/a/tool.meta.json:2:57: icons[0].theme: must be "light" or "dark"; left out`,
		`warning mcp.tools: tools/a/tool.meta.json:2:113: icons[1].mimeType: must be a string; left out`,
	)
	if got := b.listing(kinds.Resources); !strings.Contains(got, `"annotations":{"more":1}`) {
		t.Error(got)
	}
	b.WantLog(
		`warning mcp.resources: resources/r.meta.json:1:28: annotations.audience: must be an array of "user" and `+
			`"assistant"; left out`,
		`warning mcp.resources: resources/r.meta.json:1:57: annotations.priority: must be a number from 0 to 1; left out`,
		`warning mcp.resources: resources/r.meta.json:1:74: annotations.lastModified: must be a time like `+
			`2025-01-12T15:00:58Z; left out`,
	)
	if got := b.listing(kinds.Templates); !strings.Contains(got, `"annotations":{"audience":["user"],"priority":0.5,`+
		`"lastModified":"2025-01-12T15:00:58Z"}`) {
		t.Error(got)
	}
	b.WantLog()
}

// unknown keys that resemble a known one cause a warning. Other unknown keys do not.
func TestUnknownKeys(t *testing.T) {
	b := newBed(t, nil, files{
		"tools/a/tool.sh": "", "tools/a/tool.meta.json": "{\n  \"descripton\": \"x\",\n  \"vendor.example/own\": 1, " +
			"\"namespace\": 2, \"execution\": 3\n}",
		"resources/t.meta.json": `{"name":"t","uriTemplate":"x://{y}","mimetype":"text/plain"}`,
	})
	b.names()
	b.listing(kinds.Resources)
	b.listing(kinds.Templates)
	b.WantLog(
		`warning mcp.tools: tools/a/tool.meta.json:2:3: unknown key "descripton"; did you mean description?`,
		`warning mcp.resources.templates: resources/t.meta.json:1:37: unknown key "mimetype"; did you mean mimeType?`,
	)
}

// a field with many faults does not fill the log.
func TestManyFaults(t *testing.T) {
	b := newBed(t, nil, files{"tools/a/tool.sh": "",
		"tools/a/tool.meta.json": `{"inputSchema":{"allOf":[{}` + strings.Repeat(",5", 5000) + `]}}`})
	want(t, string(rawjson.Path(b.tools().Items[0].JSON, "inputSchema", "allOf")), "[{}]")
	if got := len(b.Log()); got != 10 {
		t.Errorf("%d lines", got)
	}
}
