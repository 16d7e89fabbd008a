package cases

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/json/rawjson"
)

// CLI-2101: the members of a case.
func TestParse(t *testing.T) {
	list, err := Parse([]byte(`name: all members
tool: a
arguments: {n: 1, list: [x, "2"]}
roots: [data]
answers: [yes, {size: small}]
env: {KEY: "1"}
timeout: 5
cancel: 0.5
expect:
  text: |
    one
    two
  contains: one
  matches: [o, t.o]
  structured: {a: [1]}
  error: {code: -32001}
---
# nothing
---
tool: b
cancel: question
dryRun: true
`))
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	a, b := list[0], list[1]
	if a.Name != "all members" || a.Line != 1 || a.Tool != "a" || string(a.Arguments) != `{"n":1,"list":["x","2"]}` ||
		len(a.Roots) != 1 || !a.HasRoots || string(a.Answers) != `["yes",{"size":"small"}]` || a.Env["KEY"] != "1" ||
		a.Timeout != 5 || a.DryRun || *a.Expect.Text != "one\ntwo\n" || len(a.Expect.Contains) != 1 ||
		len(a.Expect.Matches) != 2 || string(a.Expect.Structured) != `{"a":[1]}` ||
		string(a.Expect.Error) != `{"code":-32001}` {
		t.Errorf("%+v", a)
	}
	if d, ok := a.Cancel.After(); d != 500*time.Millisecond || !ok {
		t.Errorf("%v, %v", d, ok)
	}
	if _, ok := b.Cancel.After(); ok || b.Line != 20 || string(b.Arguments) != "{}" || b.Cancel != AtQuestion ||
		!b.DryRun || b.HasRoots || string(b.Expect.Error) != `{"code":-32001}` {
		t.Errorf("%+v", b)
	}
}

// CLI-2101: a fault has the number of its line, and unknown members are faults.
func TestFaults(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "there is no case",
		"# nothing\n":                           "there is no case",
		"- a":                                   "line 1: must be an object",
		"tool: a\nexpects: {}":                  "line 2: /expects: is not expected",
		"tool: a\nexpect:\n  txt: x":            "line 3: /expect/txt: is not expected",
		"tool: a\n---\nname: b":                 "line 3: /tool: is required",
		"tool: a\ntool: b":                      `line 1: "tool" is repeated`,
		"tool: &x a":                            "line 1: anchors and aliases are not supported",
		"tool: [":                               "did not find",
		"tool: a\nexpect: {error: no}":          "line 2: /expect/error: does not match any",
		"tool: a\ncancel: soon":                 "line 2: /cancel: does not match any",
		"tool: a\ntimeout: 0":                   "line 2: /timeout: must be >= 1",
		"tool: a\narguments: [x]":               "line 2: /arguments: must be an object",
		"tool: a\nenv: {A: 1}":                  "line 2: /env/A: must be a string",
		"tool: a\nenv:\n  MCPBASH_CONFINE: off": "line 3: /env/MCPBASH_CONFINE: a case cannot set this variable",
		"tool: a\nenv:\n  MCPBASH_SECURITY_LEVEL: open":          "line 3: /env/MCPBASH_SECURITY_LEVEL: a case cannot set",
		"tool: a\nexpect:\n  matches: [a, '(']":                  "line 3: /expect/matches: error parsing regexp",
		"tool: a\nexpect:\n  structured:\n    - $matches: '('":   "line 4: /expect/structured/0: error parsing regexp",
		"tool: a\n" + strings.Repeat("---\ntool: a\n", MaxCases): "more than 1000 cases",
		"tool: " + strings.Repeat("a", MaxFile):                  "larger than 1048576 bytes",
		"tool: " + strings.Repeat("a", 513):                      "line 1: /tool: must have at most 512",
	} {
		if list, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, %v; want %s", text, list, err, want)
		}
	}
	_, err := Parse([]byte("tool: a\nz: 1\nexpect: {y: 1}\n---\nx: 1"))
	if want := "line 2: /z: is not expected\nline 3: /expect/y: is not expected\n"; !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v", err)
	}
}

// CLI-2102: the differences between an outcome and what a case expects.
func TestCompare(t *testing.T) {
	const result = `{"content":[{"type":"text","text":"Hello\nAda \n"},{"type":"image","data":""},{"type":"text","text":"!"}],
		"structuredContent":{"a":[1,{"b":"x","c":null}],"d":1.0},"isError":%}`
	good := Outcome{Result: json.RawMessage(strings.Replace(result, "%", "false", 1))}
	bad := Outcome{Result: json.RawMessage(strings.Replace(result, "%", "true", 1))}
	refused := Outcome{Error: json.RawMessage(`{"code":-32602,"message":"wrong name","data":{"hint":"x"}}`)}
	for _, tc := range []struct {
		end          Outcome
		expect, want string // each Difference.What
	}{
		{good, `{}`, ""},
		{good, `{text: "Hello\nAda \n!  "}`, ""},
		{good, `{text: Hello}`, "text"},
		{good, `{text: ""}`, "text"},
		{good, `{contains: [Ada, Bob, Eve], matches: ["^Hello$", "(?m)^Hello$"]}`,
			"text does not contain, text does not contain, text does not match"},
		{good, `{structured: {a: [1, {b: x}], d: 1e0}}`, ""},
		{good, `{structured: {a: [2]}}`, "structured/a"},
		{good, `{structured: {a: [1, {c: null}]}}`, ""},
		{good, `{structured: {a: [1]}}`, "structured/a"},
		{good, `{structured: {a: [1, {b: y}], e: 1}}`, "structured/a/1/b, structured/e"},
		{good, `{structured: {a: [1, {b: {$matches: "^x"}}]}}`, ""},
		{good, `{structured: {a: [1, {b: {$matches: "^y"}}], d: {$matches: "1"}}}`,
			"structured/a/1/b does not match, structured/d does not match"},
		{good, `{structured: {d: "1"}}`, "structured/d"},
		{good, `{error: true}`, "the call did not fail"},
		{bad, `{}`, "the call failed"},
		{bad, `{error: true, contains: Hello}`, ""},
		{bad, `{error: true, contains: Bob}`, "text does not contain"},
		{bad, `{error: {code: 1}}`, "error"},
		{refused, `{}`, "the call failed"},
		{refused, `{error: true, text: wrong name}`, ""},
		{refused, `{error: {code: -32602, data: {hint: {$matches: x}}}}`, ""},
		{refused, `{error: {code: -32001}}`, "error/code"},
		{refused, `{error: {message: wrong}, structured: 1}`, "error/message, structured"},
	} {
		list, err := Parse([]byte("tool: a\nexpect: " + tc.expect))
		if err != nil {
			t.Errorf("%s: %v", tc.expect, err)
			continue
		}
		var got []string
		for _, d := range list[0].Expect.Compare(&tc.end) {
			got = append(got, d.What)
		}
		if strings.Join(got, ", ") != tc.want {
			t.Errorf("%s: %q; want %s", tc.expect, got, tc.want)
		}
	}
}

// FuzzParse parses arbitrary files. Accepted cases can be compared with any outcome.
func FuzzParse(f *testing.F) {
	f.Add([]byte("tool: a\nexpect:\n  text: |\n    x\n---\ntool: b\ncancel: 1e3\n"))
	f.Add([]byte(`{"tool":"a","arguments":{"x":1},"expect":{"structured":{"a":[{"$matches":"x"}]},"error":{"code":1}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := Parse(text)
		if err != nil {
			return
		}
		for _, c := range list {
			if c.Line < 1 || c.Tool == "" || !json.Valid(c.Arguments) {
				t.Errorf("%+v", c)
			}
			c.Expect.Compare(&Outcome{Result: json.RawMessage(`{"structuredContent":{"a":[1]}}`)})
			c.Expect.Compare(&Outcome{Error: json.RawMessage(`{"code":1}`)})
		}
	})
}

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
