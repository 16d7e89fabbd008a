package answers

import (
	"encoding/json"
	"testing"

	"mcp-bash/pkg/wire/mcp"
)

// CLI-809: the valid input for each kind of field, and its value.
func TestFields(t *testing.T) {
	f := readForm(mcp.InputRequest{Params: json.RawMessage(`{"message":"m","requestedSchema":{"required":["s"],"properties":{
		"s":{"type":"string","maxLength":3},
		"n":{"type":"number","minimum":0.5},"i":{"type":"integer"},"b":{"type":"boolean"},
		"enum":{"type":"string","enum":["r","g"],"enumNames":["Red","Green"]},
		"one":{"type":"string","oneOf":[{"const":"a","title":"Letter A"},{"const":"2","title":"Two"}]},
		"many":{"type":"array","minItems":1,"items":{"anyOf":[{"const":"x","title":"X-ray"},{"const":"y","title":"Yoke"}]}},
		"list":{"type":"array","items":{"type":"string","enum":["x","y"]},"maxItems":1},
		"date":{"type":"string","format":"date"},"at":{"type":"string","format":"date-time"},
		"uri":{"type":"string","format":"uri"},"mail":{"type":"string","format":"email"}
	}}}`)})
	fields := map[string]*field{}
	for i := range f.fields {
		fields[f.fields[i].name] = &f.fields[i]
	}
	for _, tc := range []struct{ name, typed, want string }{
		{"s", " a ", `" a "`}, {"s", "1", `"1"`}, {"s", "long", ""},
		{"n", "1.50", "1.50"}, {"n", "0", ""}, {"n", "1e400", ""}, {"n", "abc", ""}, {"n", `"1"`, ""},
		{"i", "-3", "-3"}, {"i", "3.5", ""}, {"i", "12345678901234567890", "12345678901234567890"},
		{"b", "Yes", "true"}, {"b", "n", "false"}, {"b", "1", ""},
		{"enum", "g", `"g"`}, {"enum", "1", `"r"`}, {"enum", "red", `"r"`},
		{"enum", "3", ""}, {"enum", "0", ""}, {"enum", "-1", ""},
		{"one", "2", `"2"`}, {"one", "1", `"a"`}, {"one", "letter a", `"a"`}, // values take precedence over numbers
		{"many", "x, yoke", `["x","y"]`}, {"many", "2", `["y"]`}, {"many", ",", ""}, {"many", "z", ""},
		{"list", "x", `["x"]`}, {"list", "x,y", ""},
		{"date", "2026-02-28", `"2026-02-28"`}, {"date", "2026-02-30", ""},
		{"at", "2026-01-31T12:00:00+01:00", `"2026-01-31T12:00:00+01:00"`}, {"at", "noon", ""},
		{"uri", "mailto:x@y", `"mailto:x@y"`}, {"uri", "/x", ""},
		{"mail", "a@b.example", `"a@b.example"`}, {"mail", "a b@c", ""},
	} {
		got, err := fields[tc.name].parse(tc.typed)
		if err != nil && tc.want != "" || err == nil && string(got) != tc.want {
			t.Errorf("%s %q: %s, %v; want %s", tc.name, tc.typed, got, err, tc.want)
		}
	}
}

// FuzzForm parses arbitrary questions and answers. Accepted answers are JSON.
func FuzzForm(f *testing.F) {
	f.Add(`{"requestedSchema":{"properties":{"a":{"enum":["x"],"default":"x"},"b":{"type":"array","items":{"oneOf":[{}]}}},
		"required":["a"]}}`, `{"a":"x"}`, "x")
	f.Add(`{"url":"x"}`, `["accept",{"action":"accept","content":7}]`, "1")
	f.Fuzz(func(t *testing.T, params, given, typed string) {
		if !json.Valid([]byte(params)) {
			return
		}
		form := readForm(mcp.InputRequest{Params: json.RawMessage(params)})
		for i := range form.fields {
			if v, err := form.fields[i].parse(typed); err == nil && !json.Valid(v) {
				t.Fatalf("%q", v)
			}
			form.fields[i].expects()
		}
		if !json.Valid([]byte(given)) {
			return
		}
		a, ok := Read(json.RawMessage(given))
		if !ok {
			return
		}
		if reply, err := a.to("a", form); err == nil && !json.Valid(reply) {
			t.Fatalf("%q", reply)
		}
	})
}
