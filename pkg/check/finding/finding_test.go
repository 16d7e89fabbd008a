package finding

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

var rules = ParseRules(`# A comment.

a.b (error): it is wrong
    It
    fails.
    Fix: mend
    it

c (info): it is so
    Nothing comes of it.
`)

func TestParseRules(t *testing.T) {
	want := Rules{
		{ID: "a.b", Severity: Error, Summary: "it is wrong", Reason: "It fails.", Fix: "mend it"},
		{ID: "c", Severity: Info, Summary: "it is so", Reason: "Nothing comes of it."},
	}
	if !slices.Equal(rules, want) {
		t.Errorf("%+v", rules)
	}
}

// CLI-1003, CLI-1007, CLI-1105: one finding in its three forms.
func TestForms(t *testing.T) {
	for _, c := range []struct {
		f                   Finding
		text, message, json string
	}{
		{
			Finding{ID: "a.b", Severity: Error, Section: "tools", Path: "x\ny", Line: 3, Message: "bad", Fix: "mend it"},
			"✗ x\\ny - bad\n    line 3: mend it [a.b]\n",
			`{"level":"error","section":"tools","message":"x\ny - bad","id":"a.b","path":"x\ny","line":3,"fix":"mend it"}`,
			`{"id":"a.b","severity":"error","message":"x\ny - bad","fixable":false,"suggestedCommand":null,` +
				`"section":"tools","path":"x\ny","line":3,"fix":"mend it"}`,
		},
		{
			Finding{ID: "c", Severity: Warning, Message: "m", Fix: "f", Fixable: true, Command: "do"},
			"⚠ m\n    f [c]\n", `{"level":"warning","section":"","message":"m","id":"c","fix":"f"}`,
			`{"id":"c","severity":"warning","message":"m","fixable":true,"suggestedCommand":"do","fix":"f"}`,
		},
		{Finding{ID: "c", Severity: Info, Path: "p", Message: "m", Good: true}, "✓ p - m\n",
			`{"level":"info","section":"","message":"p - m","id":"c","path":"p"}`,
			`{"id":"c","severity":"info","message":"p - m","fixable":false,"suggestedCommand":null,"path":"p"}`},
		{Finding{ID: "c", Severity: Info, Message: "m"}, "• m\n", `{"level":"info","section":"","message":"m","id":"c"}`,
			`{"id":"c","severity":"info","message":"m","fixable":false,"suggestedCommand":null}`},
	} {
		var text strings.Builder
		if c.f.Print(&text); text.String() != c.text {
			t.Errorf("%q, not %q", text.String(), c.text)
		}
		if got := string(c.f.AppendMessage(nil)); got != c.message {
			t.Errorf("%s, not %s", got, c.message)
		}
		if got := string(c.f.AppendJSON(nil)); got != c.json {
			t.Errorf("%s, not %s", got, c.json)
		}
	}
}

// CLI-1011: the explanation of an id.
func TestExplain(t *testing.T) {
	if got := rules.Find("a.b").Explain(); got != "a.b (error): it is wrong\n\nIt fails.\n\nWhat to do: mend it\n" {
		t.Error(got)
	}
	if got := rules.Find("c").Explain(); !strings.HasSuffix(got, "What to do: nothing\n") {
		t.Error(got)
	}
	if rules.Find("d") != nil {
		t.Error("found what there is not")
	}
	if got := rules.List(); got != "a.b  error    it is wrong\nc    info     it is so\n" {
		t.Errorf("%q", got)
	}
	want := `{"id":"a.b","severity":"error","summary":"it is wrong","reason":"It fails.","fix":"mend it"}`
	if got, err := json.Marshal(rules.Find("a.b")); err != nil || string(got) != want {
		t.Error(string(got), err)
	}
}
