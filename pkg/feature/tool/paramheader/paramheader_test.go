package paramheader

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"mcp-bash/pkg/json/rawjson"
)

// schema returns an inputSchema with the properties a and b.
func schema(a, b string) string {
	return `{"type":"object","properties":{"a":` + a + `,"b":` + b + `}}`
}

// H-440: the arguments that are repeated in headers.
func TestParams(t *testing.T) {
	const nested = `{"type":"object","properties":{"x-mcp-header":{"type":"integer","x-mcp-header":"Deep"}}}`
	got, faults := Parse(json.RawMessage(schema(`{"type":"string","x-mcp-header":"Region"}`, nested)))
	if len(faults) > 0 || fmt.Sprint(got) != "[{Region [a] string} {Deep [b x-mcp-header] integer}]" {
		t.Errorf("%v, %v", got, faults)
	}
	if got[0].Header() != "Mcp-Param-Region" {
		t.Error(got[0].Header())
	}
	for arguments, want := range map[string]string{
		`{"a":"x","b":{"x-mcp-header":4.0}}`: `"x" 4.0`, `{"a":null,"b":{"x-mcp-header":null}}`: " ", `{}`: " ",
		`{"a":"x","a":"y","b":7}`: `"y" `, `null`: " ", ``: " ",
	} {
		text := json.RawMessage(arguments)
		if got := fmt.Sprintf("%s %s", got[0].Value(text), got[1].Value(text)); got != want {
			t.Errorf("%s: %s", arguments, got)
		}
	}
	for _, none := range []string{`{}`, `true`, ``, `{"type":"object"}`,
		schema(`{"const":{"x-mcp-header":"A"}}`, `{"enum":[{"x-mcp-header":"A"}],"default":{"x-mcp-header":"A"}}`)} {
		if got, faults := Parse(json.RawMessage(none)); len(got) > 0 || len(faults) > 0 {
			t.Errorf("%s: %v, %v", none, got, faults)
		}
	}
}

// H-441: each rule of the specification.
func TestFaults(t *testing.T) {
	const sound = `{"type":"string","x-mcp-header":"A"}`
	in := func(keyword string) string { return schema(`{"type":"object",`+keyword+`}`, "{}") }
	for text, want := range map[string]string{
		schema(`{"type":"string","x-mcp-header":1}`, "{}"):                             "must be a string",
		schema(`{"type":"string","x-mcp-header":""}`, "{}"):                            "must not be empty",
		schema(`{"type":"string","x-mcp-header":"a b"}`, "{}"):                         `"a b" is not part`,
		schema(`{"type":"string","x-mcp-header":"a\r\nb"}`, "{}"):                      `"a\r\nb" is not part`,
		schema(`{"type":"string","x-mcp-header":"ü"}`, "{}"):                           "is not part",
		schema(`{"type":"string","x-mcp-header":"a:"}`, "{}"):                          "is not part",
		schema(sound, `{"type":"integer","x-mcp-header":"a"}`):                         "used twice",
		schema(`{"type":"number","x-mcp-header":"A"}`, "{}"):                           "needs a property",
		schema(`{"type":"object","x-mcp-header":"A"}`, "{}"):                           "needs a property",
		schema(`{"type":["string","null"],"x-mcp-header":"A"}`, "{}"):                  "needs a property",
		schema(`{"x-mcp-header":"A"}`, "{}"):                                           "needs a property",
		schema(`{"type":"integer","x-mcp-header":"A","const":9007199254740992}`, "{}"): "9007199254740992 is not an integer",
		schema(`{"type":"integer","x-mcp-header":"A","enum":[1,1e30]}`, "{}"):          "1e30 is not an integer",
		schema(`{"type":"integer","x-mcp-header":"A","default":1.5}`, "{}"):            "1.5 is not an integer",
		`{"type":"string","x-mcp-header":"A"}`:                                         "way of nothing but",
		in(`"items":` + sound):                                                         "way of nothing but",
		in(`"prefixItems":[` + sound + `]`):                                            "way of nothing but",
		in(`"oneOf":[{"properties":{"c":` + sound + `}}]`):                             "way of nothing but",
		in(`"not":{"properties":{"c":` + sound + `}}`):                                 "way of nothing but",
		in(`"if":{"properties":{"c":` + sound + `}}`):                                  "way of nothing but",
		in(`"additionalProperties":` + sound):                                          "way of nothing but",
		in(`"patternProperties":{"p":` + sound + `}`):                                  "way of nothing but",
		in(`"$defs":{"d":` + sound + `}`):                                              "way of nothing but",
		in(`"x-own":{"y":[` + sound + `]}`):                                            "way of nothing but",
		`{"$defs":{"d":{"properties":{"c":` + sound + `}}}}`:                           "way of nothing but",
		schema(`{"type":"string","x-\u006dcp-header":""}`, "{}"):                       "must not be empty",
	} {
		params, faults := Parse(json.RawMessage(text))
		if len(faults) != 1 || !strings.Contains(faults[0].Reason, want) || params != nil {
			t.Errorf("%s: %v, %v", text, params, faults)
		}
	}
}

func TestInteger(t *testing.T) {
	for text, want := range map[string]int64{
		"42": 42, "42.0": 42, "-0": 0, "4.2e1": 42, "420e-1": 42, "9007199254740991": maxSafe, "-9007199254740991": -maxSafe,
	} {
		if got, ok := Integer(text); !ok || got != want {
			t.Errorf("%s: %d, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "+1", "01", "1.5", "x", " 1", "1 ", "0x10", "1_0", "1/2", "9007199254740992",
		"9007199254740991.5", "1e400", "1e-400", "1e99999999999", "NaN", "null", `"1"`, strings.Repeat("1", 65)} {
		if got, ok := Integer(text); ok {
			t.Errorf("%s: %d", text, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(schema(`{"type":"string","x-mcp-header":"A"}`, `{"items":[{"x-mcp-header":1}]}`), `{"a":"x"}`)
	f.Add(`{"x-mcp-header":{}}`, `[]`)
	f.Fuzz(func(t *testing.T, text, arguments string) {
		doc, err := rawjson.Check([]byte(text))
		args, argsErr := rawjson.Check([]byte(arguments))
		if err != nil || argsErr != nil {
			return
		}
		params, faults := Parse(doc)
		if len(params) > 0 && len(faults) > 0 {
			t.Error("a schema with a fault has params")
		}
		for _, p := range params {
			if p.Name == "" || !isToken(p.Name) || len(p.Path) == 0 {
				t.Errorf("%+v", p)
			}
			Integer(string(p.Value(args)))
		}
		for _, fault := range faults {
			if _, _, ok := rawjson.Position(doc, fault.Piece); !ok {
				t.Errorf("%s has no position", fault.Piece)
			}
		}
	})
}
