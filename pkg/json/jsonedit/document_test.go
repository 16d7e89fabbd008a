package jsonedit

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"mcp-bash/pkg/json/rawjson"
)

const handwritten = `{
    "version": 1.0,
    "_meta": {"keep":   [1e3, 9223372036854775807, "\u00e9\/"]},
    "tools": [
        {"name": "a", "path": "a.sh"},
        {"name": "b",
         "path": "b.sh", "odd": 1.50}
    ],
	"prompts": null, "exclude": ["x", "y"]
}
`

// unchanged parts keep their bytes.
func TestDocument(t *testing.T) {
	entry := json.RawMessage(`{"name":"c","path":"c.sh","n":1.0}`)
	laidOut := "{\n      \"name\": \"c\",\n      \"path\": \"c.sh\",\n      \"n\": 1.0\n    }"
	for name, tc := range map[string]struct {
		text string
		edit func(d *Document)
		want string
	}{
		"nothing": {handwritten, func(d *Document) {}, handwritten},
		"append": {handwritten, func(d *Document) { d.Append("tools", entry) },
			strings.Replace(handwritten, "1.50}\n", "1.50},\n        "+laidOut+"\n", 1)},
		"replace": {handwritten, func(d *Document) { d.ReplaceElement("tools", 0, entry) },
			strings.Replace(handwritten, `{"name": "a", "path": "a.sh"}`, laidOut, 1)},
		"first": {handwritten, func(d *Document) { d.Delete("tools", 0) },
			strings.Replace(handwritten, "{\"name\": \"a\", \"path\": \"a.sh\"},\n        ", "", 1)},
		"last": {handwritten, func(d *Document) { d.Delete("tools", 1) },
			strings.Replace(handwritten, ",\n        {\"name\": \"b\",\n         \"path\": \"b.sh\", \"odd\": 1.50}",
				"", 1)},
		"all": {handwritten, func(d *Document) { d.Delete("tools", 0); d.Delete("tools", 0) },
			handwritten[:strings.Index(handwritten, "\n        {")] + handwritten[strings.Index(handwritten,
				"],\n\t"):]},
		"null member": {handwritten, func(d *Document) { d.Append("prompts", entry) },
			strings.Replace(handwritten, `"prompts": null`, "\"prompts\": [\n    "+laidOut+"\n  ]", 1)},
		"new member": {handwritten, func(d *Document) { d.Append("merge", rawjson.Quote("tools")) },
			strings.Replace(handwritten, "\"y\"]\n", "\"y\"],\n\t\"merge\": [\n    \"tools\"\n  ]\n", 1)},
		"string": {handwritten, func(d *Document) { d.Append("exclude", rawjson.Quote("z")) },
			strings.Replace(handwritten, `"y"]`, `"y", "z"]`, 1)},
		"drop": {handwritten, func(d *Document) { d.DeleteStrings("exclude", "x", "none") },
			strings.Replace(handwritten, `"x", `, "", 1)},
		"drop all": {handwritten, func(d *Document) { d.DeleteStrings("exclude", "x", "y") },
			strings.Replace(handwritten, `"x", "y"`, "", 1)},
		"drop none": {handwritten, func(d *Document) { d.DeleteStrings("merge", "x") }, handwritten},
		"one line": {`{"version":1,"tools":[{"name":"a","path":"a","x":1.0}]}`,
			func(d *Document) { d.Append("tools", entry) },
			"{\n  \"version\": 1,\n  \"tools\": [\n    {\n      \"name\": \"a\",\n      \"path\": \"a\",\n      \"x\": 1.0\n  " +
				"  },\n    " + laidOut + "\n  ]\n}\n"},
		"empty array": {"{\n\"version\":1, \"tools\":[ ]}", func(d *Document) { d.Append("tools", entry) },
			"{\n\"version\":1, \"tools\":[\n    " + laidOut + "\n  ]}\n"},
		"twice": {"{\n\"tools\":[1],\"too\\u006cs\":[2]}\n", func(d *Document) { d.Delete("tools", 0) },
			"{\n\"tools\":[1],\"too\\u006cs\":[]}\n"},
		"inline": {"{\n\"tools\":[{\"a\":1}]}\n", func(d *Document) { d.Append("tools", entry) },
			"{\n\"tools\":[{\"a\":1},\n    " + laidOut + "]}\n"},
		"CRLF": {"{\r\n  \"tools\": [\r\n    {}\r\n  ]\r\n}\r\n",
			func(d *Document) { d.Append("tools", rawjson.Quote("s")) },
			"{\r\n  \"tools\": [\r\n    {},\r\n    \"s\"\r\n  ]\r\n}\r\n"},
	} {
		d := New([]byte(tc.text))
		tc.edit(d)
		if string(d.Text) != tc.want {
			t.Errorf("%s: %s\nwant %s", name, d.Text, tc.want)
		}
	}
}

// An edit of any register.json leaves valid JSON in which all other values are the same
//
func FuzzDocument(f *testing.F) {
	f.Add([]byte(handwritten), byte(0), byte(0))
	f.Add([]byte(`{"version":1,"tools":[]}`), byte(1), byte(0))
	f.Add([]byte("{\"version\":1,\n\"tools\":null,\"tools\":[{\"name\":\"\\u0061\",\"path\":\"b\"}]}"), byte(2),
		byte(1))
	f.Add([]byte("{\"version\":1\n,\"exclude\" : [ \"a\"\n,\"b\" ] }"), byte(3), byte(0))
	f.Add([]byte(" {\n}"), byte(4), byte(0))
	f.Fuzz(func(t *testing.T, text []byte, what, at byte) {
		original, err := rawjson.Check(text)
		if err != nil || rawjson.KindOf(original) != rawjson.Object {
			return
		}
		d := New(bytes.Clone(text))
		entries := d.Elements("tools")
		i := 0
		if len(entries) > 0 {
			i = int(at) % len(entries)
		}
		entry := json.RawMessage(`{"name":"fuzz","path":"f.sh"}`)
		wanted := slices.Clone(entries)
		touched := "tools"
		switch {
		case what%5 == 0 || len(entries) == 0 && what%5 < 3:
			d.Append("tools", entry)
			wanted = append(wanted, entry)
		case what%5 == 1:
			d.ReplaceElement("tools", i, entry)
			wanted[i] = entry
		case what%5 == 2:
			d.Delete("tools", i)
			wanted = slices.Delete(wanted, i, i+1)
		case what%5 == 3:
			touched = "exclude"
			d.Append("exclude", rawjson.Quote("fuzz"))
		default:
			touched = "exclude"
			d.DeleteStrings("exclude", "a", "x")
		}
		edited, err := rawjson.Check(d.Text)
		if err != nil {
			t.Fatalf("%s\nfrom %s\n%s", err, text, d.Text)
		}
		for _, member := range rawjson.Members(original) {
			if member.Name != touched && !rawjson.Equal(member.Value, rawjson.Get(edited, member.Name)) {
				t.Fatalf("%s has become %s", member.Value, rawjson.Get(edited, member.Name))
			}
		}
		if got := d.Elements("tools"); !slices.EqualFunc(got, wanted, rawjson.Equal) {
			t.Fatalf("%s\nwant %s", got, wanted)
		}
		if !bytes.HasSuffix(d.Text, []byte("\n")) {
			t.Fatal("no newline at the end")
		}
	})
}

// A byte order mark of a file stays. A document loses it.
func TestByteOrderMark(t *testing.T) {
	f, err := Dialect{}.Open([]byte("\ufeff{\n  \"a\": 1\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Set(json.RawMessage("2"), "a"); err != nil || string(f.Bytes()) != "\ufeff{\n  \"a\": 2\n}\n" {
		t.Errorf("%q, %v", f.Bytes(), err)
	}
	if d := New([]byte("\ufeff{\n}\n")); string(d.Text) != "{\n}\n" {
		t.Errorf("%q", d.Text)
	}
}
