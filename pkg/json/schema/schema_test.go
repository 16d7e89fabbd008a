package schema

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// T-11.
func TestCheck(t *testing.T) {
	const person = `{"type":"object","properties":{"n":{"type":"integer","minimum":0,"exclusiveMaximum":10},"s":{"type":["string","null"],"minLength":1,"maxLength":3,"pattern":"^a"},
		"e":{"enum":["x",1]},"c":{"const":true},"l":{"type":"array","items":{"type":"number","multipleOf":0.5},"minItems":1,"maxItems":2,"uniqueItems":true},"o/~":{"type":"object","required":["k"],"minProperties":2}},
		"required":["n"],"additionalProperties":false}`
	for _, tc := range []struct{ schema, value, want string }{
		{person, `{"n":1}`, ``},
		{person, `{"n":1,"s":null,"l":[1.5]}`, ``},
		{person, `[]`, `must be an object`},
		{person, `{}`, `/n: is required`},
		{person, `{"n":"5","x":1}`, `/n: must be an integer; /x: is not expected`},
		{person, `{"n":1.5}`, `/n: must be an integer`},
		{person, `{"n":1e400}`, `is not valid JSON`},
		{person, `{"n":-1}`, `/n: must be >= 0`},
		{person, `{"n":10,"s":"","e":2,"c":false}`,
			`/c: must be true; /e: must be one of "x", 1; /n: must be < 10; /s: must have at least 1 character; /s: must ` +
				`match the pattern ^a`},
		{person, `{"n":1,"s":7}`, `/s: must be a string or null`},
		{person, `{"n":1,"s":"abcd"}`, `/s: must have at most 3 characters`},
		{person, `{"n":1,"l":[]}`, `/l: must have at least 1 item`},
		{person, `{"n":1,"l":[1,1,0.3]}`,
			`/l: must have at most 2 items; /l: must not contain the same item twice; /l/2: must be a multiple of 0.5`},
		{person, `{"n":1,"o/~":{"a":1}}`, `/o~1~0/k: is required; /o~1~0: must have at least 2 members`},
		{`{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}`, `5`, `must be a string`},
		{`{"properties":{"a":{"$ref":"#/definitions/b"}},"definitions":{"b":{"type":"string"}}}`, `{"a":1}`,
			`/a: must be a string`},
		{`{"items":[{"type":"string"}],"additionalItems":false}`, `[1,2]`, `/0: must be a string; /1: is not expected`},
		{`{"prefixItems":[{"type":"string"}],"items":{"type":"number"}}`, `["a","b"]`, `/1: must be a number`},
		{`{"dependencies":{"a":["b"]}}`, `{"a":1}`, `/b: is required with a`},
		{`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, `/b: is required with a`},
		{`{"dependentSchemas":{"a":{"properties":{"b":{"not":{}}}}}}`, `{"a":1,"b":2}`, `/b: is not expected`},
		{`{"anyOf":[{"type":"string"},{"minimum":5}]}`, `3`, `does not match any of the forms allowed`},
		{`{"allOf":[{"type":"string"}]}`, `3`, `must be a string`},
		{`{"propertyNames":{"pattern":"^x"}}`, `{"y":1}`, `/y: has a name that is not allowed`},
		{`{"patternProperties":{"^x":{"type":"string"}},"additionalProperties":{"type":"number"}}`, `{"x1":1,"y":"z"}`,
			`/x1: must be a string; /y: must be a number`},
		{`{"properties":{"a":false}}`, `{"a":1}`, `/a: is not expected`},
		{`{"contains":{"type":"string"}}`, `[1]`, `does not match the schema`},
		{`{"type":"object","properties":{"d":{"type":"string","format":"date"}},"x-own":1}`, `{"d":"no date"}`, ``},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","type":"string"}`, `1`, `must be a string`},
		{`true`, `1`, ``},
	} {
		s, err := Compile(json.RawMessage(tc.schema))
		if err != nil {
			t.Errorf("%s: %v", tc.schema, err)
			continue
		}
		var got []string
		for _, v := range s.Check(json.RawMessage(tc.value)) {
			got = append(got, v.String())
		}
		if strings.Join(got, "; ") != tc.want {
			t.Errorf("%s against %s:\n got %s\nwant %s", tc.value, tc.schema, strings.Join(got, "; "), tc.want)
		}
	}
}

// An invalid schema is an error and never causes a panic. Nothing outside the schema is
// fetched.
func TestCompileErrors(t *testing.T) {
	for _, text := range []string{
		`{"type":5}`, `{"$ref":"#/nope"}`, `{"$ref":"https://example.com/x"}`, `{"pattern":"(?=x)"}`, `7`,
		`{"properties":[]}`, `{"minLength":-1.5}`,
	} {
		if _, err := Compile(json.RawMessage(text)); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}

func TestViolationLimit(t *testing.T) {
	var required []string
	for i := range 50 {
		required = append(required, fmt.Sprintf("%q", fmt.Sprint("k", i)))
	}
	s, err := Compile(json.RawMessage(`{"required":[` + strings.Join(required, ",") + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.Check(json.RawMessage(`{}`))); n != maxViolations {
		t.Errorf("%d violations", n)
	}
}

func TestCircularReference(t *testing.T) {
	s, err := Compile(json.RawMessage(`{"type":"object","properties":{"next":{"$ref":"#"},"v":{"type":"string"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(s.Check(json.RawMessage(`{"next":{"next":{"v":1}}}`)))
	if got != "[/next/next/v: must be a string]" {
		t.Error(got)
	}
}

// A schema that applies itself to the same value is an error, because its check would not end. Other references to
// itself do not end the process either, when an invalid value is explained.
func TestCircularSchemas(t *testing.T) {
	for _, text := range []string{
		`{"$ref":"#"}`, `{"$ref":"#a","$anchor":"a"}`, `{"allOf":[{"$ref":"#/allOf/0"}]}`, `{"not":{"$ref":"#"}}`,
		`{"$dynamicRef":"#a","$dynamicAnchor":"a"}`, `{"$id":"http://x/y","$ref":"http://x/y"}`,
		`{"then":{"$ref":"#"},"if":{}}`,
		`{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"oneOf":[{"$ref":"#/$defs/a"}]}},"items":{"$ref":"#/$defs/a"}}`,
		`{"dependentSchemas":{"a":{"$ref":"#"}}}`, `{"dependencies":{"a/b":{"$ref":"#"}}}`,
	} {
		if _, err := Compile(json.RawMessage(text)); err == nil || !strings.Contains(err.Error(), "refers to itself") {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{
		`{"properties":{"a":{"anyOf":[{"$ref":"#"},{"type":"boolean"}]}}}`,
		`{"propertyNames":{"$ref":"#/$defs/a"},"$defs":{"a":{}}}`,
		`{"items":{"oneOf":[{"$ref":"#"},{"not":{"$ref":"#"}},{"if":{"$ref":"#"},"then":false}]}}`,
		`{"default":{"$ref":"#"}}`,
		`{"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}],"$defs":{"a":{"properties":{"b":{"$ref":"#"}}}}}`,
		`{"propertyNames":{"$ref":"#"}}`,
	} {
		s, err := Compile(json.RawMessage(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		for _, value := range []string{`{"a":5}`, `[[5],5]`, `{"a":{"a":{"a":7}},"b":[1]}`, `"x"`} {
			s.Check(json.RawMessage(value))
			s.Adjust(json.RawMessage(value))
		}
	}
}

func TestCache(t *testing.T) {
	var c Cache
	for i, want := range []bool{true, false} {
		if s, first, err := c.Get(json.RawMessage(`{"type":"string"}`)); s == nil || err != nil || first != want {
			t.Errorf("call %d: %v %v", i, first, err)
		}
		if _, first, err := c.Get(json.RawMessage(`{"type":5}`)); err == nil || first != want {
			t.Errorf("call %d: %v %v", i, first, err)
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add(`{"type":"object","required":["a"],"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"enum":[1]}}}`,
		`{"a":2}`)
	f.Add(`{"items":[{"not":{}}],"dependencies":{"a":["b"]}}`, `[1]`)
	f.Fuzz(func(t *testing.T, text, value string) {
		s, err := Compile(json.RawMessage(text))
		if err == nil {
			s.Check(json.RawMessage(value))
		}
	})
}

// T-11: a value that would need gigabytes of memory is rejected before it is decoded. Other
// values need at most the estimated memory.
func TestDecodedSize(t *testing.T) {
	s, err := Compile(json.RawMessage(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	many := func(element string, bytes int) json.RawMessage {
		return json.RawMessage("[" + strings.Repeat(element+",", bytes/(len(element)+1)) + element + "]")
	}
	members := func(n int) json.RawMessage {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"%d":0`, i)
		}
		return json.RawMessage("{" + b.String()[1:] + "}")
	}
	for what, value := range map[string]json.RawMessage{
		"numbers": many("1", 16<<20), "objects": many(`{"":0}`, 16<<20), "arrays": many("[]", 16<<20),
		"members": members(2 << 20),
	} {
		if got := fmt.Sprint(s.Check(value)); got != "[holds too many values to be checked]" {
			t.Errorf("%s: %s", what, got)
		}
	}
	for what, value := range map[string]json.RawMessage{
		"numbers": many("1", 1<<20), "objects": many(`{"":0}`, 1<<20), "nested": many(`{"a":{"b":[{"c":"d"}]}}`, 1<<20),
		"arrays": many("[1]", 1<<20), "texts": many(`"abc"`, 1<<20), "members": members(100_000),
	} {
		if got := s.Check(value); got != nil {
			t.Errorf("%s: %v", what, got)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var v any
		if err := json.Unmarshal(value, &v); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if used, reckoned := int(after.HeapAlloc)-int(before.HeapAlloc),
			decodedSize(value, 1<<30); used > reckoned*3/2 {
			t.Errorf("%s: %d bytes, reckoned %d", what, used, reckoned)
		}
		runtime.KeepAlive(v)
	}
}

// CLI-1015: an error has the keyword and the JSON types, but no types of Go.
func TestFormError(t *testing.T) {
	for text, want := range map[string]string{
		`{"required":5}`:                        "required: expected an array of strings, found a number",
		`{"properties":{"a":{"required":"x"}}}`: "properties.a.required: expected an array of strings, found a string",
		`{"allOf":[{},{"title":5}]}`:            "allOf[1].title: expected a string, found a number",
		`{"items":{"pattern":[]}}`:              "items.pattern: expected a string, found an array",
		`{"type":5}`:                            "type: expected the name of a type, or an array of names, found a number",
		`{"minLength":"x"}`:                     "minLength: expected a whole number, found a string",
		`{"properties":[]}`:                     "properties: expected an object, found an array",
		`{"items":"x"}`:                         "items: expected an object, found a string",
		`{"required":["a",5]}`:                  "required: expected an array of strings, found another value in it",
		`{"uniqueItems":"x"}`:                   "uniqueItems: expected true or false, found a string",
		`{"multipleOf":"x"}`:                    "multipleOf: expected a number, found a string",
		`{"enum":5}`:                            "enum: expected an array, found a number",
		`{"properties":{"a":5}}`:                "properties: expected an object of other values, found a wrong one in it",
		`{"dependentRequired":{"a":5}}`:         "dependentRequired: expected an array of strings, found an object",
		`5`:                                     "expected an object, found a number",
		`{"pattern":"("}`:                       "pattern: error parsing regexp: missing closing ): `(`",
	} {
		_, err := Compile([]byte(text))
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", text, err, want)
		}
	}
	for _, text := range []string{
		`{"$vocabulary":{"a":5}}`, `{"dependencies":{"a":5}}`, `{"$defs":{"a":{"allOf":{}}}}`, `{"minLength":1.5}`, `[]`,
		`{"additionalProperties":3}`, `{"not":[]}`, `"x"`, `{"$ref":"#/x"}`,
	} {
		_, err := Compile([]byte(text))
		if err == nil || strings.Contains(err.Error(), "Go ") || strings.Contains(err.Error(), "jsonschema") ||
			strings.Contains(err.Error(), "struct") || strings.Contains(err.Error(), "unmarshal") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
