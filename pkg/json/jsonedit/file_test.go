package jsonedit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mcp-bash/pkg/json/rawjson"
)

var lenient = Dialect{Comments: true, TrailingCommas: true}

const entry = `{"command":"/bin/x","args":[],"env":{"A":"1"}}`

// laidOut returns the entry as it is in a file that indents each level by unit.
func laidOut(unit string, depth int, br string) string {
	lines := []string{`"demo": {`, `u"command": "/bin/x",`, `u"args": [],`, `u"env": {`, `uu"A": "1"`, `u}`, `}`}
	for i, line := range lines {
		rest := strings.TrimLeft(line, "u")
		line = strings.Repeat(unit, len(line)-len(rest)) + rest
		if i > 0 {
			line = strings.Repeat(unit, depth) + line
		}
		lines[i] = line
	}
	return strings.Join(lines, br)
}

// CLI-711: an entry is added next to similar ones with their layout, and removing it
// restores the text.
func TestFile(t *testing.T) {
	two, tabs := laidOut("  ", 2, "\n"), laidOut("\t", 2, "\n")
	for name, tc := range map[string]struct {
		text, want string
		leaves     string // the text after removing, if that is not the original one
	}{
		"nothing": {"", "{\n  \"servers\": {\n    " + two + "\n  }\n}\n", "{\n  \"servers\": {}\n}\n"},
		"only notes": {"// mine", "// mine\n{\n  \"servers\": {\n    " + two + "\n  }\n}\n",
			"// mine\n{\n  \"servers\": {}\n}\n"},
		"empty": {"{}\n", "{\n  \"servers\": {\n    " + two + "\n  }\n}\n", "{\n  \"servers\": {}\n}\n"},
		"no section": {"{\n\t\"a\": 1 // one\n}\n",
			"{\n\t\"a\": 1, // one\n\t\"servers\": {\n\t\t" + tabs + "\n\t}\n}\n",
			"{\n\t\"a\": 1, // one\n\t\"servers\": {}\n}\n"},
		"empty section": {"{\n  \"servers\": {},\n  \"b\": 2\n}",
			"{\n  \"servers\": {\n    " + two + "\n  },\n  \"b\": 2\n}", ""},
		"section with a note": {"{\n  \"servers\": {\n    // none yet\n  }\n}",
			"{\n  \"servers\": {\n    // none yet\n    " + two + "\n  }\n}", ""},
		"beside another": {"{\n  \"servers\": {\n    \"a\": {} /* first */ // last\n    // end\n  }\n}\n",
			"{\n  \"servers\": {\n    \"a\": {}, /* first */ // last\n    " + two + "\n    // end\n  }\n}\n", ""},
		"comma at the end": {"{\n  \"servers\": {\n    \"a\": {}, // one\n  },\n}\n",
			"{\n  \"servers\": {\n    \"a\": {}, // one\n    " + two + ",\n  },\n}\n", ""},
		"one line": {`{"servers":{"a":{}},"b":[1,2]}`,
			`{"servers":{"a":{},"demo":` + entry + `},"b":[1,2]}`, ""},
		"one line, empty section": {`{"servers":{}}`, `{"servers":{"demo":` + entry + `}}`, ""},
		"one line, spaces": {`{ "servers": { "a": {} }, "b": 2 }`,
			`{ "servers": { "a": {}, "demo": ` + entry + ` }, "b": 2 }`, ""},
		"inline": {"{\n  \"servers\": {\"a\": {}, },\n  \"b\": 2\n}",
			"{\n  \"servers\": {\"a\": {}, \"demo\": " + entry + ", },\n  \"b\": 2\n}", ""},
		"Windows": {"{\r\n    \"servers\": {\r\n        \"a\": {} // one\r\n    }\r\n}\r\n",
			"{\r\n    \"servers\": {\r\n        \"a\": {}, // one\r\n        " + laidOut("    ", 2, "\r\n") +
				"\r\n    }\r\n}\r\n", ""},
		"strings with marks": {"{\n  \"a\": \"// no } note, \\\" /*\",\n  \"servers\": {\n    \"b\": \",]\"\n  }\n}\n",
			"{\n  \"a\": \"// no } note, \\\" /*\",\n  \"servers\": {\n    \"b\": \",]\",\n    " + two + "\n  }\n}\n", ""},
		"escaped name": {"{\n  \"\\u0073ervers\": {\n    \"a\": 1e3\n  }\n}\n",
			"{\n  \"\\u0073ervers\": {\n    \"a\": 1e3,\n    " + two + "\n  }\n}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := lenient.Open([]byte(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			if err := f.Set(json.RawMessage(entry), "servers", "demo"); err != nil {
				t.Fatal(err)
			}
			if string(f.Bytes()) != tc.want {
				t.Fatalf("set:\n%s\nwant\n%s", f.Bytes(), tc.want)
			}
			if err := f.Set(json.RawMessage(entry), "servers", "demo"); err != nil || string(f.Bytes()) != tc.want {
				t.Errorf("set twice: %v\n%s", err, f.Bytes())
			}
			if err := f.Remove("servers", "demo"); err != nil {
				t.Fatal(err)
			}
			leaves := tc.leaves
			if leaves == "" {
				leaves = tc.text
			}
			if string(f.Bytes()) != leaves {
				t.Errorf("removed:\n%s\nwant\n%s", f.Bytes(), leaves)
			}
			if err := f.Remove("servers", "demo"); err != nil || string(f.Bytes()) != leaves {
				t.Errorf("removed twice: %v\n%s", err, f.Bytes())
			}
		})
	}
}

// A value in an entry is replaced in place or added. People's comments around it are kept.
func TestFileInside(t *testing.T) {
	const text = "{\n  \"servers\": {\n    // ours\n    \"demo\": {\n      \"command\": \"/old\", // where it was\n" +
		"      \"env\": {\"A\": \"1\"}, // inline\n    }, // end\n    \"next\": {}\n  }\n}\n"
	f, err := lenient.Open([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range []struct{ value, path string }{
		{`"/new"`, "servers demo command"}, {`"2"`, "servers demo env B"}, {`[]`, "servers demo args"},
	} {
		if err := f.Set(json.RawMessage(set.value), strings.Fields(set.path)...); err != nil {
			t.Fatal(err)
		}
	}
	want := strings.NewReplacer("/old", "/new", `{"A": "1"}`, `{"A": "1", "B": "2"}`,
		"// inline\n", "// inline\n      \"args\": [],\n").Replace(text)
	if string(f.Bytes()) != want {
		t.Errorf("%s\nwant\n%s", f.Bytes(), want)
	}
	if err := f.Remove("servers", "demo"); err != nil {
		t.Fatal(err)
	}
	want = "{\n  \"servers\": {\n    // ours // end\n    \"next\": {}\n  }\n}\n"
	if string(f.Bytes()) != want {
		t.Errorf("%s\nwant\n%s", f.Bytes(), want)
	}
}

// A text that cannot be parsed is rejected, with the line in the error.
func TestFileRefused(t *testing.T) {
	for _, tc := range []struct {
		dialect    Dialect
		text, want string
	}{
		{Dialect{}, "{\n// no\n}", "line 2: a comment, where only plain JSON is accepted"},
		{Dialect{}, "{\"a\": 1,\n}", "line 1: a comma before a closing bracket, which is not accepted"},
		{Dialect{Comments: true}, "{\n\"a\": 1, // x\n}", "line 2: a comma before a closing bracket"},
		{lenient, "{\n\"a\": 1 /* x\n}", "line 2, column 8: parsing comment"},
		{lenient, "{\n\"a\": 1,,}", "line 2, column 8: "},
		{lenient, "{,}", "line 1, column 2: "},
		{lenient, "[,]", "line 1, column 2: "},
		{lenient, "{\"a\":,}", "line 1, column 6: "},
		{lenient, "{\"a\": \"b}", "line 1, column 10: "},
		{lenient, "[]", "not a JSON object"},
		{lenient, "{} {}", "line 1, column 4: "},
		{lenient, "{\"a\": \"\xff\"}", "invalid UTF-8"},
		{lenient, strings.Repeat("[", maxDepth+1), "more than 500000 values, or values nested deeper"},
		{lenient, "[" + strings.Repeat("1,", maxValues) + "]", "more than 500000 values"},
		{lenient, "{\"a\": 1/**/2}", "line 1, column 12: "},
	} {
		if _, err := tc.dialect.Open([]byte(tc.text)); err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%q: %v, want %s", tc.text, err, tc.want)
		}
	}
	for text, want := range map[string]string{
		`{"servers":[]}`:                          "servers is not an object",
		`{"servers":null}`:                        "servers is not an object",
		"{\"servers\":{},\n\"\\u0073ervers\":{}}": "line 2: servers is repeated",
		`{"servers":{"demo":1,"demo":2}}`:         "line 1: servers.demo is repeated",
	} {
		f, err := lenient.Open([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Set(json.RawMessage(entry), "servers", "demo"); err == nil || err.Error() != want {
			t.Errorf("%s: %v", text, err)
		}
		if err := f.Remove("servers", "demo"); err == nil || err.Error() != want {
			t.Errorf("%s: %v", text, err)
		}
		if string(f.Bytes()) != text {
			t.Errorf("%s has become %s", text, f.Bytes())
		}
	}
	// A comment that would include the text after the entry.
	const odd = "{\n  \"servers\": {\n    // note\n    \"demo\": {}}}"
	f, err := lenient.Open([]byte(odd))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Remove("servers", "demo"); err == nil || string(f.Bytes()) != odd {
		t.Errorf("%v\n%s", err, f.Bytes())
	}
}

// In any file, only the entry changes. Only white space is lost, and removing the entry
// restores the file (CLI-711).
func FuzzFile(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "// x", "{\n  \"servers\": {\n    \"a\": {} /* b */, // c\n  },\n}", `{"servers":{"a":1},"b":[{},]}`,
		"{\r\n\t\"servers\": { } }", "{\"servers\":{\n\"a\":\"\\\"//\"\n,\n\"b\":2}}", "{\"servers\":{\"demo\":{\"x\":1}}}",
		"{\"s\":1,\"s\":2,\"servers\":{/**/}}", "{\"servers\":{\"a\":1,/*\n*/}}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := lenient.Open(text)
		if err != nil {
			return
		}
		had, err := file.Get("servers", "demo")
		section, _ := file.Get("servers")
		if err != nil {
			return
		}
		rest := others(t, file)
		if err := file.Set(json.RawMessage(entry), "servers", "demo"); err != nil {
			return
		}
		set := bytes.Clone(file.Bytes())
		if got, err := file.Get("servers", "demo"); err != nil || string(rawjson.Normal(got)) != entry {
			t.Fatalf("%v, %s in\n%s", err, got, set)
		}
		if now := others(t, file); !reflect.DeepEqual(rest, now) {
			t.Fatalf("%q has become %q:\n%v\n%v", text, set, rest, now)
		}
		if had == nil && !within(text, set) {
			t.Fatalf("%q has lost something: %q", text, set)
		}
		if err := file.Remove("servers", "demo"); err != nil {
			if had == nil {
				t.Fatalf("%q: %v", set, err)
			}
			return
		}
		if now := others(t, file); !reflect.DeepEqual(rest, now) {
			t.Fatalf("%q has become %q", set, file.Bytes())
		}
		if had == nil && len(rawjson.Members(section)) > 0 && !bytes.Equal(file.Bytes(), text) {
			t.Fatalf("%q has become %q, then %q", text, set, file.Bytes())
		}
	})
}

// others returns the content of a file without the entry. A section without other entries
// counts as missing.
func others(t *testing.T, f *File) any {
	var all map[string]any
	if f.root.Value == nil {
		return map[string]any{}
	}
	d := json.NewDecoder(bytes.NewReader(minimal(f.root)))
	d.UseNumber()
	if err := d.Decode(&all); err != nil {
		t.Fatalf("%v in %q", err, f.Bytes())
	}
	if section, ok := all["servers"].(map[string]any); ok {
		if delete(section, "demo"); len(section) == 0 {
			delete(all, "servers")
		}
	}
	return all
}

// within reports whether all characters of a text are in another one, in order, ignoring
// white space.
func within(text, other []byte) bool {
	for _, c := range text {
		if bytes.IndexByte([]byte(" \t\r\n"), c) >= 0 {
			continue
		}
		at := bytes.IndexByte(other, c)
		if at < 0 {
			return false
		}
		other = other[at+1:]
	}
	return true
}

// Editing a large file with deep and broad values takes linear time.
func TestFileLarge(t *testing.T) {
	var b strings.Builder
	b.WriteString("{\n")
	for i := range 5000 {
		fmt.Fprintf(&b, "  \"k%d\": [%s], // n\n", i, strings.Repeat("{},", 20))
	}
	b.WriteString("  \"deep\": " + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + ",\n}\n")
	f, err := lenient.Open([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Set(json.RawMessage(entry), "servers", "demo"); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(f.Bytes()[:1000], []byte(b.String()[:1000])) {
		t.Error("the beginning has changed")
	}
}
