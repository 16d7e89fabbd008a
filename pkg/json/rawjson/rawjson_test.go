package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCheck(t *testing.T) {
	for _, tc := range []struct {
		in     string
		want   string // "" when an error is expected
		reason string
		offset int
	}{
		{in: ` {"a": 1} `, want: `{"a": 1}`},
		{in: `-0`, want: `-0`}, {in: `1.50`, want: `1.50`}, {in: `1E+7`, want: `1E+7`},
		{in: `"\ud800"`, want: `"\ud800"`}, {in: `[]`, want: `[]`}, {in: `[1,[2]]`, want: `[1,[2]]`},
		{in: ``, reason: "unexpected end"},
		{in: `{"a":1} x`, reason: "text after the value", offset: 8},
		{in: `01`, reason: "text after the value", offset: 1},
		{in: `1.`, reason: "unexpected end", offset: 2},
		{in: `1.x`, reason: "a digit expected", offset: 2},
		{in: `-`, reason: "unexpected end", offset: 1},
		{in: `1ex`, reason: "a digit expected", offset: 2},
		{in: `{"a" 1}`, reason: "':' expected", offset: 5},
		{in: `{"a":1,}`, reason: "a member name expected", offset: 7},
		{in: `{a:1}`, reason: "a member name expected", offset: 1},
		{in: `[1 2]`, reason: "',' or ']' expected", offset: 3},
		{in: `{"a":1 "b":2}`, reason: "',' or '}' expected", offset: 7},
		{in: `[1,]`, reason: "a value expected", offset: 3},
		{in: "\"a\nb\"", reason: "a control character in a string", offset: 2},
		{in: `"\x"`, reason: "an unknown escape in a string", offset: 2},
		{in: `"\u12g4"`, reason: "a hexadecimal digit expected", offset: 5},
		{in: `"\u12`, reason: "unexpected end", offset: 5},
		{in: `"abc`, reason: "unexpected end", offset: 4},
		{in: `tru`, reason: "a value expected"},
		{in: "null\x00", reason: "text after the value", offset: 4},
		{in: strings.Repeat("[", maxDepth+1), reason: "nested too deeply", offset: maxDepth},
		{in: strings.Repeat(`{"a":`, maxDepth+1), reason: "nested too deeply", offset: 5 * maxDepth},
	} {
		got, err := Check([]byte(tc.in))
		if tc.want != "" {
			if err != nil || string(got) != tc.want {
				t.Errorf("Check(%.40q) = %q, %v; want %q", tc.in, got, err, tc.want)
			}
			continue
		}
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || syntax.Reason != tc.reason || syntax.Offset != tc.offset {
			t.Errorf("Check(%.40q) = %v; want %q at %d", tc.in, err, tc.reason, tc.offset)
		}
	}
	if _, err := Check([]byte("\"\xff\"")); err != ErrInvalidUTF8 {
		t.Errorf("bytes that are no UTF-8: %v", err)
	}
	if _, err := Check([]byte(strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth))); err != nil {
		t.Errorf("the deepest nesting allowed: %v", err)
	}
}

// A byte order mark before a value is read past, and does not count as a column.
func TestByteOrderMark(t *testing.T) {
	if v, err := Check([]byte("\ufeff {\"a\":1}\n")); err != nil || string(v) != `{"a":1}` {
		t.Errorf("%s, %v", v, err)
	}
	for text, column := range map[string]int{"\ufeff{x": 2, "\ufeff": 1, "\ufeff\ufeff1": 1, "1\ufeff": 2} {
		_, err := Check([]byte(text))
		syntax, ok := err.(*SyntaxError)
		if !ok {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if line, got := syntax.Position([]byte(text)); line != 1 || got != column {
			t.Errorf("%q: line %d, column %d", text, line, got)
		}
	}
}

func TestPosition(t *testing.T) {
	text := []byte("{\n  \"é\" 1}")
	_, err := Check(text)
	var syntax *SyntaxError
	if !errors.As(err, &syntax) {
		t.Fatal(err)
	}
	if line, column := syntax.Position(text); line != 2 || column != 7 {
		t.Errorf("position %d:%d, want 2:7", line, column)
	}
}

func TestNext(t *testing.T) {
	rest := []byte(" {\"a\":1}\n[2] 3")
	var got []string
	for {
		v, more, err := Next(rest)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(v))
		rest = more
	}
	if s := strings.Join(got, "|"); s != `{"a":1}|[2]|3` {
		t.Error(s)
	}
}

// SDK-19, P-406: the last of a repeated member wins, at the position of the first.
func TestMembers(t *testing.T) {
	v := json.RawMessage(`{"a":1,"b":[1,{"x":"}"}],"a":{"y":"\""},"\u0063":"z"}`)
	got := Members(v)
	want := []Member{{"a", json.RawMessage(`{"y":"\""}`)}, {"b", json.RawMessage(`[1,{"x":"}"}]`)},
		{"c", json.RawMessage(`"z"`)}}
	if len(got) != len(want) {
		t.Fatalf("%d members", len(got))
	}
	for i := range want {
		if got[i].Name != want[i].Name || !bytes.Equal(got[i].Value, want[i].Value) {
			t.Errorf("member %d: %s %s", i, got[i].Name, got[i].Value)
		}
	}
	if string(Get(v, "a")) != `{"y":"\""}` || string(Get(v, "c")) != `"z"` || Get(v, "none") != nil {
		t.Error("Get")
	}
	if s, _ := Text(Path(v, "a", "y")); s != `"` {
		t.Errorf("Path: %q", s)
	}
	var many strings.Builder
	many.WriteString(`{"k0":0`)
	for range 100 {
		many.WriteString(`,"k1":1,"k2":2`)
	}
	for i := range 60 {
		fmt.Fprintf(&many, `,"x%d":1`, i)
	}
	many.WriteString(`,"x0":2}`)
	list := Members(json.RawMessage(many.String()))
	if len(list) != 63 || list[3].Name != "x0" || string(list[3].Value) != "2" {
		t.Errorf("many members: %d, %v", len(list), list[3])
	}
}

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		`"a\u00e9\n\/"`: "aé\n/", `"\ud83d\ude00"`: "😀", `"\ud83d"`: "\uFFFD", `"\ud83dx"`: "\uFFFDx",
		`"\ude00\ud83d"`: "\uFFFD\uFFFD", `"\u0000"`: "\x00", `""`: "",
	} {
		if got, ok := Text(json.RawMessage(in)); !ok || got != want {
			t.Errorf("Text(%s) = %q", in, got)
		}
	}
	if _, ok := Text(json.RawMessage(`1`)); ok {
		t.Error("a number has no text")
	}
}

// SDK-18.
func TestAppendString(t *testing.T) {
	for in, want := range map[string]string{
		"a\"\\/\b\f\n\r\t": `"a\"\\/\b\f\n\r\t"`,
		"\x00\x01\x1f\x7f": `"\u0000\u0001\u001f\u007f"`,
		"<>&\u2028é😀":      "\"<>&\u2028é😀\"",
		"a\xff\xc3(b\xe2":  "\"a\uFFFD\uFFFD(b\uFFFD\"",
		"\uFFFD":           "\"\uFFFD\"",
	} {
		if got := string(AppendString(nil, in)); got != want {
			t.Errorf("AppendString(%q) = %s, want %s", in, got, want)
		}
		if got := string(AppendString(nil, []byte(in))); got != want {
			t.Errorf("AppendString([]byte %q) = %s", in, got)
		}
	}
}

func TestNormal(t *testing.T) {
	for in, want := range map[string]string{
		`{ "b" : 1.0 , "a" : [ 1 , "x y" ] }`: `{"b":1.0,"a":[1,"x y"]}`,
		`{"a":1,"b":{"c":1,"c":2},"a":3}`:     `{"a":3,"b":{"c":2}}`,
		`[{"é":1,"\u00e9":2}]`:                `[{"é":2}]`,
		`123456789012345678901234567890`:      `123456789012345678901234567890`,
	} {
		if got := string(Normal(json.RawMessage(in))); got != want {
			t.Errorf("Normal(%s) = %s, want %s", in, got, want)
		}
	}
	if got := string(AppendCompact(nil, json.RawMessage(`[ "a b" , { } ]`))); got != `["a b",{}]` {
		t.Error(got)
	}
}

func TestIndent(t *testing.T) {
	got := string(AppendIndent(nil, json.RawMessage(`{"a":[1,{}],"b":{"c":[]},"d":"<"}`), 1))
	want := "{\n    \"a\": [\n      1,\n      {}\n    ],\n    \"b\": {\n      \"c\": []\n    },\n    \"d\": \"<\"\n  }"
	if got != want {
		t.Errorf("%s", got)
	}
}

//
func TestCanonical(t *testing.T) {
	got := string(AppendCanonical(nil,
		json.RawMessage(`{ "b" : 1.0, "\u0061" : "\u0001\u002f\u007f\u2028<\"", "B": [ true , null ] }`)))
	want := "{\"B\":[true,null],\"a\":\"\\u0001/\x7f\u2028<\\\"\",\"b\":1.0}"
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestBuilder(t *testing.T) {
	b := Over([]byte("> "))
	b.Object().Name("a").Array().Int(-3).Bool(true).Null().Raw(nil).Object().End().End().
		Name("b").Strings([]string{"x", "y"}).Name("c").Text([]byte("z")).
		Name("d").Append(func(dst []byte) []byte { return append(dst, '1') }).End()
	if got := string(b.Bytes()); got != `> {"a":[-3,true,null,null,{}],"b":["x","y"],"c":"z","d":1}` {
		t.Error(got)
	}
}

// FuzzCheck compares the package with encoding/json. Both accept the same texts, and
// splitting and rewriting lose nothing.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-0.5e3,"\u00e9\ud83d\ude00",true,null,{}]}`, `[[[]]]`, ` 1 `,
		`{"a":1,"a":2}`, `"\ud800"`, `{`, `tru`, "\"\xff\""} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := Check(text)
		if plain := bytes.TrimPrefix(text, ByteOrderMark); (json.Valid(plain) && utf8.Valid(text)) != (err == nil) {
			t.Fatalf("Check(%q): %v, encoding/json has another opinion", text, err)
		}
		if err != nil {
			return
		}
		var want any
		if json.Unmarshal(v, &want) != nil {
			return // a number out of range for encoding/json
		}
		exact, _ := json.Marshal(want)
		for name, rewritten := range map[string][]byte{
			"Normal": Normal(v), "AppendIndent": AppendIndent(nil, v, 0), "AppendCanonical": AppendCanonical(nil, v),
			"AppendCompact": AppendCompact(nil, v),
		} {
			var got any
			if err := json.Unmarshal(rewritten, &got); err != nil {
				t.Fatalf("%s(%s) = %s: %v", name, v, rewritten, err)
			}
			if same, _ := json.Marshal(got); !bytes.Equal(same, exact) {
				t.Fatalf("%s(%s) = %s", name, v, rewritten)
			}
		}
		if s, ok := Text(v); ok && s != want.(string) {
			t.Fatalf("Text(%s) = %q, want %q", v, s, want)
		}
	})
}

func FuzzAppendString(f *testing.F) {
	f.Add("a\xff\"\\\x01\x7fé")
	f.Fuzz(func(t *testing.T, s string) {
		quoted := AppendString(nil, s)
		var got string
		if err := json.Unmarshal(quoted, &got); err != nil {
			t.Fatalf("%q: %v", quoted, err)
		}
		want := string([]rune(s)) // every invalid byte is one U+FFFD
		if got != want {
			t.Fatalf("%q came back as %q", want, got)
		}
		if !bytes.Equal(quoted, AppendString(nil, []byte(s))) {
			t.Fatal("strings and bytes differ")
		}
	})
}

func BenchmarkAppendString(b *testing.B) {
	text := bytes.Repeat([]byte("The quick brown fox jumps over the lazy dog.\n"), 1000)
	dst := make([]byte, 0, 2*len(text))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		dst = AppendString(dst[:0], text)
	}
}

func BenchmarkCheck(b *testing.B) {
	text := []byte(`{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"name":"hello","arguments":{"name":"World",` +
		`"count":3}}}`)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Check(text); err != nil {
			b.Fatal(err)
		}
	}
}

func TestAt(t *testing.T) {
	doc := json.RawMessage(`{"a/b":[1,{"~":2}],"0":3}`)
	for pointer, want := range map[string]string{"": string(doc), "/a~1b/1/~0": "2", "/0": "3", "/a~1b/2": `[1,{"~":2}]`,
		"/a~1b/-1": `[1,{"~":2}]`, "/a~1b/x/y": `[1,{"~":2}]`, "/x": string(doc)} {
		if got := string(At(doc, pointer)); got != want {
			t.Errorf("%q: %s, want %s", pointer, got, want)
		}
	}
}

// Every byte at every position of a word, alone and next to others, survives AppendString
// with strings and with bytes (T-705).
func TestAppendStringWords(t *testing.T) {
	check := func(s string) {
		t.Helper()
		got := AppendString(nil, s)
		var back string
		if err := json.Unmarshal(got, &back); err != nil || back != s ||
			!bytes.Equal(got, AppendString(nil, []byte(s))) || !bytes.Equal(got, AppendValid(nil, s)) {
			t.Fatalf("%q: %s, %v", s, got, err)
		}
		for i, c := range got {
			if c < ' ' || c == 0x7f {
				t.Fatalf("%q: byte %d is %#x", s, i, c)
			}
		}
	}
	for c := rune(0); c < 0x180; c++ {
		for _, around := range []string{"a", "\"", "\x01", "é", "\x1f\x7f\\ !"} {
			for n := range 18 {
				check(strings.Repeat(around, n) + string(c) + strings.Repeat("z", 17-n))
				check(strings.Repeat("z", n) + string(c) + strings.Repeat(around, 3) + strings.Repeat("y", 9))
			}
		}
	}
}
