package jq

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"mcp-bash/pkg/json/jqtext"
	"mcp-bash/pkg/json/rawjson"
)

// SDK-209: simple filters and others.
func TestParseSimple(t *testing.T) {
	for _, filter := range []string{
		"", ".", " . ", ".a", "\t.a\t", "._a9", `."a b"`, `.""`, `."a.b[0]"`, ".a[0]", ".a[0][12].b", `."x"[3]."y".z`,
		".and", ".__proto__",
		`.//"d"`, `. // "d"`, `.a//1`, `.a // -15`, ".a // 0", ".a // 999999999999999", ".a // true", ".a // false",
		".a // null", ".a // empty",
		`.a // ""`, ".a[99999999999999999999999]", `.a // "it's $5, //"`,
	} {
		if _, ok := ParseSimple(filter); !ok {
			t.Errorf("%q is simple", filter)
		}
	}
	for _, filter := range []string{
		"a", "..", ".a.", ".a..b", ".a b", ". a", ".a .b", ".a[ 0]", ".a[]", ".a[-1]", ".a[01]", ".a[0", ".a[0:1]",
		".[0]", `.["k"]`, ".a?", ".a[0]?",
		`."a\nb"`, `."a`, ".9", ".a-b", "-1", ".a|.b", ".a,.b", "(.a)", ".a | length", "empty", "null",
		".a // ", ".a //", ".a / 1", ".a // 1.5", ".a // 01", ".a // -0", ".a // --1", ".a // 1000000000000000",
		".a // +1", ".a // nul", ".a // 'x'",
		`.a // "x" // "y"`, `.a // "\""`, `.a // "`, ".a // .b", ".a // [1]", ".a // 1 2", ".a\n", `."a` + "\n" + `b"`,
		"é", ".é",
	} {
		if s, ok := ParseSimple(filter); ok {
			t.Errorf("%q is not simple: %+v", filter, s)
		}
	}
}

// SDK-22, SDK-24, SDK-210.
func TestEval(t *testing.T) {
	const doc = `{"s":"line\n\n","e":"","i":5,"f":3.140,"t":true,"x":false,"z":null,` +
		`"o":{"b":1,"a":[1,"x",null]},"arr":[10,[20,{"k":"v"}]],"a b":{"":7},"and":1,"dup":1,"dup":2}`
	for filter, want := range map[string]string{
		".s": "line\n\n", ".e": "", ".i": "5", ".f": "3.14", ".t": "true", ".x": "false", ".z": "null",
		".o": `{"b":1,"a":[1,"x",null]}`, ".missing": "null", ".missing.deeper[3].still": "null", ".z.x": "null",
		".z[0]":   "null",
		".arr[0]": "10", ".arr[1][1].k": "v", ".arr[2]": "null", ".arr[2].x": "null",
		".arr[99999999999999999999]": "null",
		`."a b".""`:                  "7", ".and": "1", ".dup": "2", ".o.a[1]": "x",
		`.missing // "d"`: "d", `.x // "d"`: "d", `.z // -3`: "-3", `.e // "d"`: "", ".i // 7": "5",
		".t // false": "true",
		".x // null":  "null", ".x // false": "false", ".missing // empty": "<nothing>", ".x//empty": "<nothing>",
		".o.q // true": "true",
	} {
		simple, ok := ParseSimple(filter)
		if !ok {
			t.Errorf("%s is simple", filter)
			continue
		}
		value, err := simple.Eval(json.RawMessage(doc))
		got := string(jqtext.AppendText(nil, value))
		if value == nil {
			got = "<nothing>"
		}
		if err != nil || got != want {
			t.Errorf("%s gives %q, %v, want %q", filter, got, err, want)
		}
	}
	for filter, want := range map[string]string{
		".s.x":        `Cannot index string with "x"`,
		`.s.x // "d"`: `Cannot index string with "x"`,
		".s[0]":       "Cannot index string with number",
		".i[0]":       "Cannot index number with number",
		".t.x":        `Cannot index boolean with "x"`,
		".arr.k":      `Cannot index array with "k"`,
		".o[0]":       "Cannot index object with number",
		".x.y":        `Cannot index boolean with "y"`,
	} {
		simple, _ := ParseSimple(filter)
		value, err := simple.Eval(json.RawMessage(doc))
		var index *IndexError
		if value != nil || !errors.As(err, &index) || err.Error() != want {
			t.Errorf("%s gives %s, %v, want %s", filter, value, err, want)
		}
	}
}

// FuzzSimple compares simple filters with gojq. It ignores intended differences: strings indexed by number (SDK-210),
// the order of members (SDK-16) and digits inside containers (SDK-205).
func FuzzSimple(f *testing.F) {
	for i, filter := range []string{
		".", ".name", ".n[0]", `."a b"`, `.a.b.c[1].d`, `.s // "d"`, ".z // empty", ".i[9] // 5", ".x // -3",
		".t//null", ".n[0].x", ".opt[0]", ".a.b // true",
	} {
		for _, doc := range documents[i:] {
			f.Add(doc, filter)
		}
	}
	f.Fuzz(func(t *testing.T, text, filter string) {
		simple, ok := ParseSimple(filter)
		doc, err := rawjson.Check([]byte(text))
		if !ok || err != nil || !utf8.ValidString(filter) || strings.ContainsRune(filter, 0) {
			return
		}
		value, err := simple.Eval(doc)
		var index *IndexError
		if errors.As(err, &index) && index.ByNumber && index.Kind == rawjson.String {
			return
		}
		e, compileErr := compile(cmp.Or(filter, "."), &options{}, nil, io.Discard)
		if compileErr != nil {
			t.Fatalf("%q: %v", filter, compileErr)
		}
		var want json.RawMessage
		wantErr := e.apply(doc, func(result json.RawMessage) error {
			want = append(json.RawMessage(nil), result...)
			return nil
		})
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q on %s: %v, gojq says %v", filter, doc, err, wantErr)
		}
		if err != nil {
			return
		}
		if (value == nil) != (want == nil) {
			t.Fatalf("%q on %s: %s, gojq says %s", filter, doc, value, want)
		}
		if value != nil && string(appendGoValue(nil, goValue(value))) != string(want) {
			t.Fatalf("%q on %s: %s, gojq says %s", filter, doc, value, want)
		}
	})
}

func BenchmarkEval(b *testing.B) {
	doc := json.RawMessage(`{"path":"/tmp/some/file.txt","options":{"recursive":true,"depth":3,"exclude":["*.o","*.a"]}}`)
	simple, _ := ParseSimple(".options.exclude[1]")
	b.ReportAllocs()
	for b.Loop() {
		simple.Eval(doc)
	}
}
