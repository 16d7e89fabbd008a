package headers

import (
	"encoding/base64"
	"encoding/json"
	"mime"
	"net/http"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"mcp-bash/pkg/feature/tool/paramheader"
	"mcp-bash/pkg/json/rawjson"
)

// H-10: media types in all their forms.
func TestAccepts(t *testing.T) {
	for value, want := range map[string]bool{
		"": false, "application/json": true, "text/html, application/json;q=0.2": true, "*/*": true, "application/*": true,
		"*/json": true, "APPLICATION/JSON": true, "application/jsonp": false, "text/event-stream": false, ",,;": false,
		"application/json;q=0": false, "application/json ; Q=0.000,*/*": false, "application/json;q=0.001": true,
		"application/json;q=": true, "*/*;q=0, application/json": true, "application/*;q=0, */*": false, "*/*;q=0": false,
		"application/json;q=0, application/json;q=0.1": true, "application/json;a=\"b;q=0,\\\";q=0\"": true,
		"a/b;c=\"d, application/json\"": false, "application/json;a=b;q=0;c=d": false, "application/json;sq=0": true,
		"a/b,\tapplication/json \t;q=1": true, "\u00a0application/json": false, "application/j\u017fon": false,
	} {
		if got := Accepts(http.Header{"Accept": {value}}, "application", "json"); got != want {
			t.Errorf("%q: %t", value, got)
		}
	}
	if !Accepts(http.Header{}, "text", "event-stream") || !Accepts(http.Header{"Accept": {"a/b", "text/*"}}, "text", "x") {
		t.Error("no header, or several")
	}
	for value, want := range map[string]bool{
		"application/json": true, "application/json; charset=UTF-8": true, `Application/JSON;charset="utf-8"`: true,
		"application/json; charset=utf-16": false, "text/json": false, "": false, "application/json; a=b": true,
		"application/json; charset=utf-8; a=b": true, "application/json; charset=utf-8;": true,
		"application/json; a=b; charset=latin1": false, `application/json; a="; charset=latin1"`: true,
		"application/json\t;\tcharset=utf-8": true, "application/j\u017fon": false, "application/json\u00a0": false,
	} {
		if got := IsJSON(http.Header{"Content-Type": {value}}); got != want {
			t.Errorf("%q: %t", value, got)
		}
	}
	if IsJSON(http.Header{}) || IsJSON(http.Header{"Content-Type": {"application/json", "application/json"}}) {
		t.Error("no type, or several")
	}
}

// H-21, H-22: a header matches only the text that the client encoded.
func FuzzEqualDecoded(f *testing.F) {
	for _, s := range []string{"", "a", "Größe", " x ", "a\nb",
		"=?base64?YQ==?=", "=?base64??=", "=?base64?YQ=?=", "\xff"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, value, text string) {
		h := http.Header{Name: {value}}
		if EqualDecoded(h, Name, text) == nil && value != text {
			coded, ok := strings.CutPrefix(value, prefix)
			plain, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(coded, suffix))
			if !ok || err != nil || string(plain) != text {
				t.Errorf("%q matches %q", value, text)
			}
		}
		if !utf8.ValidString(text) {
			return
		}
		h = http.Header{Name: {prefix + base64.StdEncoding.EncodeToString([]byte(text)) + suffix}}
		if err := EqualDecoded(h, Name, text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		IsJSON(http.Header{"Content-Type": {value}})
	})
}

// H-10: a range of Accept counts as the library reads it.
func FuzzAccepts(f *testing.F) {
	for _, s := range []string{"text/event-stream;q=0", `*/*;a="b;q=0,";q=0.5`, "text/*; q=0.0", "a/b,c/d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		got := Accepts(http.Header{"Accept": {value}}, "text", "event-stream")
		media, parameters, err := mime.ParseMediaType(value)
		q, weighted := parameters["q"]
		plain := !strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c > '~' })
		if err != nil || !plain || strings.ContainsAny(media, ", ") ||
			weighted && !strings.Contains(strings.ToLower(value), "q="+strings.ToLower(q)) {
			return // the library also reads q*0=1 and q="1"
		}
		want := slices.Contains([]string{"text/event-stream", "text/*", "*/*", "*/event-stream"}, media)
		if strings.HasPrefix(q, "0") && strings.Trim(q, "0.") == "" {
			want = false
		}
		if got != want {
			t.Errorf("%q: %t", value, got)
		}
	})
}

// annotated is the inputSchema of the tests.
const annotated = `{"type":"object","properties":{
"s":{"type":"string","x-mcp-header":"text"},
"i":{"type":"integer","x-mcp-header":"COUNT"},
"b":{"type":"boolean","x-mcp-header":"Flag"},
"o":{"type":"object","properties":{"d":{"type":"string","x-mcp-header":"Deep"}}}}}`

func params(t testing.TB) []paramheader.Param {
	params, faults := paramheader.Parse(json.RawMessage(annotated))
	if len(params) != 4 || len(faults) > 0 {
		t.Fatal(params, faults)
	}
	return params
}

func coded(text string) string {
	return prefix + base64.StdEncoding.EncodeToString([]byte(text)) + suffix
}

// H-442.
func TestParams(t *testing.T) {
	for _, tc := range []struct {
		arguments string
		header    string // lines "name: value"
		want      string // of the error; "": the headers match
	}{
		{`{}`, "", ""},
		{``, "", ""},
		{`{"s":null,"i":null,"o":null}`, "", ""},
		{`{"s":"us-west1","other":"x"}`, "mcp-param-text: us-west1\nMcp-Param-Other: y", ""},
		{`{"s":"a","i":42,"b":true,"o":{"d":"x"}}`, "Mcp-Param-Text: a\nMcp-Param-Count: 42.0\n" +
			"Mcp-Param-Flag: true\nMcp-Param-Deep: x", ""},
		{`{"i":4.2e1}`, "Mcp-Param-Count: 42", ""},
		{`{"i":-7}`, "Mcp-Param-Count: " + coded("-7"), ""},
		{`{"s":" padded "}`, "Mcp-Param-Text: =?base64?IHBhZGRlZCA=?=", ""},
		{`{"s":"=?base64?literal?="}`, "Mcp-Param-Text: =?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=", ""},
		{`{"s":"Hello, 世界"}`, "Mcp-Param-Text: =?base64?SGVsbG8sIOS4lueVjA==?=", ""},
		{`{"s":""}`, "Mcp-Param-Text: ", ""},
		{`{"s":"first","s":"last"}`, "Mcp-Param-Text: last", ""},

		{`{"s":"a"}`, "", "is missing"},
		{`{"s":""}`, "", "is missing"},
		{`{"s":"a"}`, "Mcp-Param-Text: a\nMcp-Param-Text: a", "occurs 2 times"},
		{`{}`, "Mcp-Param-Text: a", "is present, but the argument is not"},
		{`{"s":null}`, "Mcp-Param-Text: null", "is present, but the argument is not"},
		{`{"s":"a"}`, "Mcp-Param-Text: A", `is "A", but the message has "a"`},
		{`{"s":"first","s":"last"}`, "Mcp-Param-Text: first", "but the message has"},
		{`{"s":"ü"}`, "Mcp-Param-Text: ü", "invalid characters"},
		{`{"s":"a"}`, "Mcp-Param-Text: =?base64?YQ?=", "invalid base64"},
		{`{"s":"a"}`, "Mcp-Param-Text: =?base64?/w==?=", "invalid base64"},
		{`{"s":"a"}`, "Mcp-Param-Text: =?BASE64?YQ==?=", "but the message has"},
		{`{"i":42}`, "Mcp-Param-Count: 43", "but the message has"},
		{`{"i":42}`, "Mcp-Param-Count: +42", "but the message has"},
		{`{"i":42}`, "Mcp-Param-Count: 42.5", "but the message has"},
		{`{"i":9007199254740991}`, "Mcp-Param-Count: 9007199254740990.9", "but the message has"},
		{`{"i":9007199254740992}`, "Mcp-Param-Count: 9007199254740992", "not an integer"},
		{`{"i":1.5}`, "Mcp-Param-Count: 1.5", "not an integer"},
		{`{"i":1e999999999}`, "Mcp-Param-Count: 1e999999999", "not an integer"},
		{`{"i":"42"}`, "Mcp-Param-Count: 42.0", "but the message has"},
		{`{"b":true}`, "Mcp-Param-Flag: True", "but the message has"},
		{`{"s":["a"]}`, "Mcp-Param-Text: a", "cannot repeat"},
		{`{"o":{"d":"x"}}`, "", "Mcp-Param-Deep is missing"},
	} {
		h := http.Header{}
		for line := range strings.Lines(tc.header) {
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			h.Add(name, value)
		}
		err := EqualParams(h, params(t), json.RawMessage(tc.arguments))
		if err == nil && tc.want != "" || err != nil && (tc.want == "" || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s with %q: %v, want %q", tc.arguments, tc.header, err, tc.want)
		}
	}
}

// A header that matches contains the argument, and nothing makes the comparison fail otherwise than
// with an error.
func FuzzParams(f *testing.F) {
	f.Add("a", `"a"`)
	f.Add(coded("ü"), `"ü"`)
	f.Add("42.0", `42`)
	f.Add("1e99", `true`)
	list := params(f)
	f.Fuzz(func(t *testing.T, value, argument string) {
		v, err := rawjson.Check([]byte(argument))
		if err != nil {
			return
		}
		h := http.Header{"Mcp-Param-Text": {value}, "Mcp-Param-Count": {value}}
		arguments := json.RawMessage(`{"s":` + string(v) + `,"i":` + string(v) + `}`)
		if EqualParams(h, list[:1], arguments) == nil && rawjson.KindOf(v) == rawjson.String {
			text, _ := rawjson.Text(v)
			if got, err := decode(value); err != nil || got != text {
				t.Errorf("%q matches %s", value, v)
			}
		}
		EqualParams(h, list[1:2], arguments)
	})
}
