package yamltext

import (
	"encoding/json"
	"strings"
	"testing"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/json/yamljson"
)

// A person can read and edit the text.
func TestAppendMembers(t *testing.T) {
	const value = `{"tool":"a b","list":[1,"yes","x: y"],"none":{},"empty":[],"object":{"text":"one\n\n  two\n","rest":"one\ntwo"},
		"rows":[{"a":"b"},[{"c":1}]],
		"long":["aaaaaaaaaaaaaaaaaaaa","aaaaaaaaaaaaaaaaaaaa","aaaaaaaaaaaaaaaaaaaa","aaaaaaa"],
		"longer":["aaaaaaaaaaaaaaaaaaaa","aaaaaaaaaaaaaaaaaaaa","aaaaaaaaaaaaaaaaaaaa","aaaaaaaa"],"quoted":"12","odd":"x\ty","dash":"- a","lines":" one\ntwo","a: b":null,"on":true}`
	const want = `tool: a b
list: [1, "yes", "x: y"]
none: {}
empty: []
object:
  text: |
    one

      two
  rest: |-
    one
    two
rows:
  - {a: b}
  - [{c: 1}]
long: [aaaaaaaaaaaaaaaaaaaa, aaaaaaaaaaaaaaaaaaaa, aaaaaaaaaaaaaaaaaaaa, aaaaaaa]
longer:
  - aaaaaaaaaaaaaaaaaaaa
  - aaaaaaaaaaaaaaaaaaaa
  - aaaaaaaaaaaaaaaaaaaa
  - aaaaaaaa
quoted: "12"
odd: "x\ty"
dash: "- a"
lines: " one\ntwo"
"a: b": null
"on": true
`
	if got := string(AppendMembers(nil, json.RawMessage(value), 0)); got != want {
		t.Errorf("%s", got)
	}
}

// FuzzAppendMembers writes arbitrary objects. Reading returns the same value.
func FuzzAppendMembers(f *testing.F) {
	for _, text := range []string{`{"a":"x\ny\n","b":[{"c":null}]}`,
		`{"a":" ","b":"#","c":"\u2028\n","d":"~","e":"a\n\n"}`,
		`{"a":"x\n y","b":"\u0085\nz","":"","-":"-","? ":"? ","a":"0x1F"}`, `{"a":"\ufeffx\ny","b":"a:\nb","c":"\ud800"}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		value, err := rawjson.Check([]byte(text))
		if err != nil || rawjson.KindOf(value) != rawjson.Object || len(rawjson.Members(value)) == 0 {
			return
		}
		if value = rawjson.Normal(value); !isReadable(value, 0) {
			return
		}
		written := AppendMembers(nil, value, 0)
		documents, err := yamljson.Parse(written, 0)
		if err != nil {
			t.Fatalf("%s\n%s\n%v", value, written, err)
		}
		if len(documents) != 1 || !rawjson.Equal(documents[0].JSON, value) {
			t.Fatalf("%s\n%s\n%s", value, written, documents[0].JSON)
		}
	})
}

// isReadable reports whether a value is not too deep for the reader, and has no numbers that it writes differently.
func isReadable(v json.RawMessage, depth int) bool {
	if depth > 15 || rawjson.KindOf(v) == rawjson.Number && strings.ContainsAny(string(v), ".eE-") {
		return false
	}
	for name, member := range rawjson.All(v) {
		if name == "<<" || !isReadable(member, depth+1) {
			return false
		}
	}
	for e := range rawjson.Elements(v) {
		if !isReadable(e, depth+1) {
			return false
		}
	}
	return true
}
