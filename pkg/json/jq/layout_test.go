package jq

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"mcp-bash/pkg/json/jqtext"
	"mcp-bash/pkg/json/rawjson"
)

// SDK-18, SDK-19.
func TestNormal(t *testing.T) {
	for in, want := range map[string]string{
		` { "b" : 1.0 , "a" : [ 1 , -0, "x y" ] } `: `{"b":1.0,"a":[1,-0,"x y"]}`,
		`"\u00e9\/\ud83d\ude00\u2028<>&"`:           "\"é/😀\u2028<>&\"",
		`"\u0022\u005c\u0008\u000C\u000a\u000D\t"`:  `"\"\\\b\f\n\r\t"`,
		`"\u0000\u001F\u007f"`:                      `"\u0000\u001f\u007f"`,
		"\"\x7f\"":                                  `"\u007f"`,
		`"\ud83d\ude00\ud83dx\ude00"`:               "\"😀\uFFFDx\uFFFD\"",
		`{"a":1,"b":{"c":1,"c":2},"\u0061":3}`:      `{"a":3,"b":{"c":2}}`,
		`[{"é":1,"\u00e9":2},{}]`:                   `[{"é":2},{}]`,
		`1.50`:                                      `1.50`,
		`[]`:                                        `[]`,
	} {
		if got := string(jqtext.Normal(json.RawMessage(in))); got != want {
			t.Errorf("Normal(%s) = %s, want %s", in, got, want)
		}
	}
}

// SDK-19 in an object of many members.
func TestRepeatedAmongMany(t *testing.T) {
	var in, want strings.Builder
	in.WriteString(`{"first":1`)
	want.WriteString(`{"first":2`)
	for i := range 16 + 5 {
		name := strings.Repeat("x", i+1)
		in.WriteString(`,"` + name + `":0`)
		want.WriteString(`,"` + name + `":0`)
	}
	in.WriteString(`,"first":2}`)
	want.WriteString(`}`)
	if got := string(jqtext.Normal(json.RawMessage(in.String()))); got != want.String() {
		t.Error(got)
	}
}

func TestLayout(t *testing.T) {
	const doc = `{"b":[1.0,{}],"a":{"é":"x","\u0001":[]},"B\"":null}`
	for _, tc := range []struct {
		name string
		jqtext.Layout
		want string
	}{
		{"compact", jqtext.Layout{}, `{"b":[1.0,{}],"a":{"é":"x","\u0001":[]},"B\"":null}`},
		{"sorted by content, not by spelling", jqtext.Layout{Sorted: true},
			`{"B\"":null,"a":{"\u0001":[],"é":"x"},"b":[1.0,{}]}`},
		{"ascii", jqtext.Layout{ASCII: true}, `{"b":[1.0,{}],"a":{"\u00e9":"x","\u0001":[]},"B\"":null}`},
		{"tabs", jqtext.Layout{Indent: "\t"},
			"{\n\t\"b\": [\n\t\t1.0,\n\t\t{}\n\t],\n\t\"a\": {\n\t\t\"é\": \"x\",\n\t\t\"\\u0001\": []\n\t},\n\t\"B\\\"\": " +
				"null\n}"},
	} {
		if got := string(tc.Layout.Append(nil, json.RawMessage(doc))); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
	if got := string(jqtext.Layout{ASCII: true}.Append(nil, json.RawMessage(`"😀\ud800"`))); got != `"\ud83d\ude00\ufffd"` {
		t.Error(got)
	}
}

// FuzzLayout checks that every layout writes the same document, and writes its own output unchanged.
func FuzzLayout(f *testing.F) {
	for _, seed := range documents {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, err := rawjson.Check(text)
		var want any
		if err != nil || rawjson.KindOf(doc) == rawjson.Number || json.Unmarshal(doc, &want) != nil {
			return // numbers have separate tests
		}
		exact, _ := json.Marshal(want)
		for _, l := range []jqtext.Layout{{}, {Indent: "\t"}, {Sorted: true}, {ASCII: true},
			{Indent: " ", Sorted: true, ASCII: true}} {
			written := l.Append(nil, doc)
			var got any
			if err := json.Unmarshal(written, &got); err != nil {
				t.Fatalf("%+v %s: %v", l, written, err)
			}
			if same, _ := json.Marshal(got); !bytes.Equal(same, exact) {
				t.Fatalf("%+v wrote %s for %s", l, written, doc)
			}
			if again := l.Append(nil, written); !bytes.Equal(again, written) {
				t.Fatalf("%+v wrote %s for %s", l, again, written)
			}
		}
		if through := appendGoValue(nil, goValue(doc)); !bytes.Equal(through, appendGoValue(nil, goValue(through))) {
			t.Fatalf("%s came out of the engine as %s", doc, through)
		}
		if !bytes.Equal(jqtext.Layout{}.Append(nil, jqtext.Normal(doc)), jqtext.Layout{}.Append(nil, doc)) {
			t.Fatalf("%s is not the normal form of %s", jqtext.Normal(doc), doc)
		}
	})
}
