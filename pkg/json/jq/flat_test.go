package jq

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"mcp-bash/pkg/json/jqtext"
	"mcp-bash/pkg/json/rawjson"
)

// documents are the test data of the package (SDK-211).
var documents = []string{
	`{}`, `[]`, `null`, `true`, `0`, `"x"`, `""`,
	`{"name":"World","n":[1]}`,
	`{"s":"line\n\n","only":"\n\n","e":"","b":"back\\slash","bn":"a\\n","q":"\"q\"","t":"a\tb\rc\bd\fe\u0002\u001f"}`,
	`{"":1," ":2,"a b":3,"a.b":4,"[0]":5,"é":6,"__proto__":7,"and":8,"end":9,"if":10,"0":11,"a-b":12,"_x9":13}`,
	`{"i":[0,-0,1.0,1.50,1e3,1E-7,123456789012345678901234567890,-5,3.14,1e400],"z":null,"t":true,"x":false}`,
	`{"rows":"a\n.name\tsX","opt":"-n","fmt":"%s%d","glob":"*?[a]","sub":"$(id)` + "`id`" + `","uni":"é😀\u2028"}`,
	`{"a":{"b":{"c":[{"d":[[],{}]},[[1],[2]]]}}}`,
	`[1,[2,{"a":[3]}],"x"]`,
	`{"a":{"b":1},"a.b":2}`,
	`{"a":"x","a[0]":"y"}`,
	`{"nul":"\u0000"}`, `{"\u0001":1}`, `{"del":"\u007f"}`, "{\"del\":\"\x7f\"}", `{"k\"":1}`, `{"k\\":1}`, `{"k\n":1}`,
	`{"a":1,"a":2}`, `{"a":{"x":1,"x":1}}`, `{"u":"\u00e9"}`, `{"slash":"\/"}`, `{"A":"\u001F"}`, `{"half":"\ud800"}`,
	`{ "a": 1 }`,
}

// SDK-205.
func TestFlat(t *testing.T) {
	for doc, want := range map[string]string{
		`{"name":"World","n":[1]}`: ".\to{\"name\":\"World\",\"n\":[1]}\n.name\tsWorld\n.n\ta[1]\n.n[0]\ti1\n",
		`{"a b":"x\ny\\\n","é":{}}`: ".\to{\"a b\":\"x\\\\ny\\\\\\\\\\\\n\",\"é\":{}}\n" +
			".\"a b\"\tsx\\ny\\\\\n.\"é\"\to{}\n",
		`{"i":1.0,"f":1.5,"t":true,"x":false,"z":null,"big":123456789012345678901}`: ".\to{\"i\":1.0,\"f\":1.5,\"t\":true," +
			"\"x\":false,\"z\":null,\"big\":123456789012345678901}\n" +
			".i\ti1\n.f\tf1.5\n.t\tttrue\n.x\txfalse\n.z\tznull\n.big\ti123456789012345678901\n",
		`[[7]]`: ".\ta[[7]]\n.[0]\ta[7]\n.[0][0]\ti7\n",
	} {
		if got, ok := jqtext.Flat(json.RawMessage(doc)); !ok || got != want {
			t.Errorf("Flat(%s) = %q, %v\nwant %q", doc, got, ok, want)
		}
	}
}

// SDK-205, SDK-206: documents without a table.
func TestFlatRefuses(t *testing.T) {
	rows := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat("1,", n-1), ",") + "]" }
	size := func(n int) string { return `{"a":"` + strings.Repeat("x", n) + `"}` }
	for name, doc := range map[string]string{
		"too many rows":          rows(jqtext.MaxFlatRows + 1),
		"too long":               size(jqtext.MaxFlatBytes / 2),
		"longer than any table":  size(jqtext.MaxFlatBytes + 1),
		"nothing":                ``,
		"U+0000 in a string":     `{"a":"\u0000"}`,
		"U+0001 in a string":     `["\u0001"]`,
		"U+007F in a string":     `["\u007f"]`,
		"U+007F as it is":        "[\"\x7f\"]",
		"U+007F in a name":       "{\"\x7f\":1}",
		"a control in a name":    `{"a\tb":1}`,
		"a quote in a name":      `{"a\"b":1}`,
		"a backslash in a name":  `{"a\\b":1}`,
		"a repeated name":        `{"a":1,"b":2,"a":3}`,
		"a repeated name inside": `{"a":[{"b":1,"b":2}]}`,
		"white space":            `{"a": 1}`,
		"an escape too many":     `{"a":"\u00e9"}`,
		"half a character":       `{"a":"\ud800"}`,
	} {
		if table, ok := jqtext.Flat(json.RawMessage(doc)); ok || table != "" {
			t.Errorf("%s: %q", name, table)
		}
	}
	for name, doc := range map[string]string{
		"as many rows as there may be": rows(jqtext.MaxFlatRows),
		// . TAB o {"a":"…"} LF .a TAB s … LF
		"as long as it may be": size((jqtext.MaxFlatBytes - len(".\to{\"a\":\"\"}\n.a\ts\n")) / 2),
	} {
		if table, ok := jqtext.Flat(json.RawMessage(doc)); !ok {
			t.Errorf("%s: no table", name)
		} else if len(table) > jqtext.MaxFlatBytes || strings.Count(table, "\n") > jqtext.MaxFlatRows {
			t.Errorf("%s: %d bytes", name, len(table))
		}
	}
}

// plainFlat is a simple implementation of SDK-205 and SDK-206.
func plainFlat(doc json.RawMessage) (string, bool) {
	if string(jqtext.Normal(doc)) != string(doc) {
		return "", false
	}
	escape := strings.NewReplacer("\\", "\\\\", "\n", "\\n")
	var table strings.Builder
	rows, refused := 0, false
	var walk func(path string, v json.RawMessage)
	walk = func(path string, v json.RawMessage) {
		rows++
		text := string(jqtext.AppendText(nil, v))
		kind := "?"
		switch rawjson.KindOf(v) {
		case rawjson.Null:
			kind = "z"
		case rawjson.Bool:
			kind = map[string]string{"true": "t", "false": "x"}[text]
		case rawjson.Number:
			kind = "f"
			if strings.Trim(text, "-0123456789") == "" {
				kind = "i"
			}
		case rawjson.String:
			kind = "s"
			refused = refused || strings.ContainsAny(text, "\x00\x01\x7f")
			text = strings.TrimRight(text, "\n")
		case rawjson.Array:
			kind = "a"
		case rawjson.Object:
			kind = "o"
		}
		fmt.Fprintf(&table, "%s\t%s%s\n", path, kind, escape.Replace(text))
		for _, m := range rawjson.Members(v) {
			refused = refused || strings.ContainsFunc(m.Name, func(r rune) bool {
				return r < ' ' || r == 0x7f ||
					r == '"' || r == '\\'
			})
			step := `."` + m.Name + `"`
			if jqtext.IsIdentifier(m.Name) {
				step = "." + m.Name
			}
			walk(strings.TrimSuffix(path, ".")+step, m.Value)
		}
		i := 0
		for element := range rawjson.Elements(v) {
			walk(path+"["+strconv.Itoa(i)+"]", element)
			i++
		}
	}
	walk(".", doc)
	if refused || rows > jqtext.MaxFlatRows || table.Len() > jqtext.MaxFlatBytes {
		return "", false
	}
	return table.String(), true
}

// A row is one row of a table, as Bash decodes it.
type row struct {
	kind  byte
	value string
}

func decodeTable(t *testing.T, table string) (paths []string, rows map[string]row) {
	rows = map[string]row{}
	unescape := strings.NewReplacer(`\\`, `\`, `\n`, "\n")
	for line := range strings.Lines(table) {
		path, cell, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if _, twice := rows[path]; !ok || cell == "" || twice {
			t.Fatalf("row %q in %q", line, table)
		}
		paths = append(paths, path)
		rows[path] = row{cell[0], unescape.Replace(cell[1:])}
	}
	return paths, rows
}

// rebuild returns the document at a path, rebuilt from the rows of its leaves.
func rebuild(paths []string, rows map[string]row, at string) any {
	r := rows[at]
	prefix := at
	if at == "." && r.kind == 'o' {
		prefix = "" // .name, not ..name
	}
	switch r.kind {
	case 'o':
		object := map[string]any{}
		for _, path := range paths {
			step, below := strings.CutPrefix(path, prefix+".")
			if !below || path == "." {
				continue
			}
			if quoted, ok := strings.CutPrefix(step, `"`); ok {
				if name, ok := strings.CutSuffix(quoted, `"`); ok && !strings.Contains(name, `"`) {
					object[name] = rebuild(paths, rows, path)
				}
			} else if jqtext.IsIdentifier(step) {
				object[step] = rebuild(paths, rows, path)
			}
		}
		return object
	case 'a':
		array := []any{}
		for {
			path := at + "[" + strconv.Itoa(len(array)) + "]"
			if _, ok := rows[path]; !ok {
				return array
			}
			array = append(array, rebuild(paths, rows, path))
		}
	case 's':
		return r.value
	}
	return goValue(json.RawMessage(r.value))
}

// asPrinted returns a document with its strings as they are printed according to SDK-22.
func asPrinted(v any) any {
	switch v := v.(type) {
	case string:
		return strings.TrimRight(v, "\n")
	case []any:
		for i := range v {
			v[i] = asPrinted(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = asPrinted(v[name])
		}
	}
	return v
}

// FuzzFlat compares the table with SDK-205 and SDK-206, with its document, and with the
// results of simple filters for the same paths (SDK-210).
func FuzzFlat(f *testing.F) {
	for _, doc := range documents {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, err := rawjson.Check(text)
		if err != nil {
			return
		}
		for _, doc := range []json.RawMessage{doc, jqtext.Normal(doc)} {
			table, ok := jqtext.Flat(doc)
			if want, wantOK := plainFlat(doc); table != want || ok != wantOK {
				t.Fatalf("Flat(%s) = %q, %v, want %q, %v", doc, table, ok, want, wantOK)
			}
			if !ok {
				continue
			}
			paths, rows := decodeTable(t, table)
			if kind := rawjson.KindOf(doc); (kind == rawjson.Object || kind == rawjson.Array) &&
				rows["."].value != string(doc) {
				t.Fatalf("the root row of %s is %q (SDK-208)", doc, rows["."].value)
			}
			got, want := appendGoValue(nil, rebuild(paths, rows, ".")), appendGoValue(nil, asPrinted(goValue(doc)))
			if !bytes.Equal(got, want) {
				t.Fatalf("%s came back as %s", doc, got)
			}
			for path, r := range rows {
				simple, ok := ParseSimple(path)
				if !ok {
					if !strings.HasPrefix(path, ".[") {
						t.Fatalf("%s is no simple filter", path)
					}
					continue
				}
				value, err := simple.Eval(doc)
				if got := strings.TrimRight(string(jqtext.AppendText(nil, value)), "\n"); err != nil || got != r.value {
					t.Fatalf("%s gives %q, %v for %s, its row %q", path, got, err, doc, r.value)
				}
			}
		}
	})
}

func BenchmarkFlat(b *testing.B) {
	for name, doc := range map[string]string{
		"small": `{"name":"World","count":3}`,
		"medium": `{"path":"/tmp/some/file.txt","options":{"recursive":true,"depth":3,"exclude":["*.o","*.a"]},` +
			`"text":"line one\nline two\n","ratio":1.50}`,
		"large": `{"text":"` + strings.Repeat(`The quick brown fox.\n`, 300) + `"}`,
		"rows":  `{"list":[` + strings.TrimSuffix(strings.Repeat(`"item",`, 100), ",") + `]}`,
		"names": manyNames(100),
	} {
		b.Run(name, func(b *testing.B) {
			payload := json.RawMessage(doc)
			if _, ok := jqtext.Flat(payload); !ok {
				b.Fatal("no table")
			}
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				jqtext.Flat(payload)
			}
		})
	}
}

func manyNames(n int) string {
	var b rawjson.Builder
	b.Object()
	for i := range n {
		b.Name("member" + strconv.Itoa(i)).Int(i)
	}
	return string(b.End().Bytes())
}
