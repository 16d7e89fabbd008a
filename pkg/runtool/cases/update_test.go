package cases

import (
	"encoding/json"
	"strings"
	"testing"

	"mcp-bash/pkg/json/rawjson"
)

// CLI-2106: --update changes the values of text, structured and error, and nothing else.
func TestUpdate(t *testing.T) {
	printed := Outcome{Result: json.RawMessage(`{"content":[{"type":"text","text":"one\ntwo\n"}],
		"structuredContent":{"a":1,"b":[{"c":"x","d":2}],"e":"17 s"}}`)}
	refused := Outcome{Error: json.RawMessage(`{"code":-32602,"message":"wrong"}`)}
	for _, tc := range []struct {
		name, before, after string // "" if the case cannot be updated
		end                 Outcome
	}{
		{"text", "# first\ntool: a\nexpect:\n  # the text\n  text: three # old\n\n  contains: one\n---\ntool: b\n",
			"# first\ntool: a\nexpect:\n  # the text\n  text: |\n    one\n    two\n\n  contains: one\n---\ntool: b\n", printed},
		{"a literal", "tool: a\nexpect:\n  text: |\n    # three\n\n    four\n\n# the end\n",
			"tool: a\nexpect:\n  text: |\n    one\n    two\n\n# the end\n", printed},
		{"structured", "expect:\n    structured:\n        a: 2\n        # a list\n        b:\n        - c: y\n" +
			"        e: {$matches: s$}\n        f: 1\ntool: a\n",
			"expect:\n    structured:\n      a: 1\n      b:\n        - {c: x}\n" +
				"      e:\n        $matches: \"s$\"\ntool: a\n", printed},
		{"both", "tool: a\nexpect:\n  structured: {b: []}\n  text: x",
			"tool: a\nexpect:\n  structured:\n    b:\n      - {c: x, d: 2}\n  text: |\n    one\n    two\n", printed},
		{"an error", "tool: a\nexpect:\n  error:\n    code: 1\n    message: wrong\n",
			"tool: a\nexpect:\n  error:\n    code: -32602\n    message: wrong\n", refused},
		{"flow", "tool: a\nexpect: {text: x}\n", "", printed},
		{"only JSON", `{"tool": "a", "expect": {"text": "x"}}`, "", printed},
		{"another part", "tool: a\nexpect:\n  text: x\n  contains: y\n", "", printed},
		{"an unexpected error", "tool: a\nexpect:\n  text: x\n", "", refused},
		{"no structure", "tool: a\nexpect:\n  structured: {a: 1}\n  error: true\n", "", refused},
	} {
		list, err := Parse([]byte(tc.before))
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		var got []byte
		if changed, ok := list[0].Expect.Accept(&tc.end); ok {
			got, err = Rewrite([]byte(tc.before), list[0].Line, changed)
		}
		if string(got) != tc.after {
			t.Errorf("%s:\n%s%v", tc.name, got, err)
			continue
		}
		if tc.after == "" {
			continue
		}
		if list, err = Parse(got); err != nil || len(list[0].Expect.Compare(&tc.end)) > 0 {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
	if _, err := Rewrite([]byte("tool: a\nexpect:\n  text: x\n"), 2, nil); err == nil ||
		!strings.Contains(err.Error(), "the file has changed") {
		t.Errorf("%v", err)
	}
}

// FuzzRewrite changes the text of arbitrary cases. All other members stay as they are.
func FuzzRewrite(f *testing.F) {
	f.Add([]byte("tool: a\nexpect:\n  text: |\n    x\n  contains: y\n---\ntool: b\n"), "one\ntwo")
	f.Add([]byte("expect:\n text: 'x\n  y'\n matches:\n - a\ntool: a"), "")
	f.Fuzz(func(t *testing.T, text []byte, want string) {
		list, err := Parse(text)
		if err != nil {
			return
		}
		quoted := rawjson.Quote(want)
		for i, c := range list {
			if c.Expect.Text == nil {
				continue
			}
			fresh, err := Rewrite(text, c.Line, []rawjson.Member{{Name: "text", Value: quoted}})
			if err != nil {
				continue
			}
			again, err := Parse(fresh)
			if err != nil || len(again) != len(list) {
				t.Fatalf("%q\n%q\n%v", text, fresh, err)
			}
			got, _ := rawjson.Text(quoted)
			if again[i].Tool != c.Tool || *again[i].Expect.Text != got ||
				len(again[i].Expect.Contains) != len(c.Expect.Contains) ||
				string(again[i].Arguments) != string(c.Arguments) {
				t.Fatalf("%q\n%q", text, fresh)
			}
		}
	})
}
