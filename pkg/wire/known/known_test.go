package known

import (
	"strings"
	"testing"
)

func TestKnown(t *testing.T) {
	if c := Find("claude-code"); c.Title != "Claude Code" || !c.StructuredAlone || c.MaxPicture != 5242880 {
		t.Errorf("%+v", c)
	}
	if c := Find(""); c != (Client{}) {
		t.Errorf("no name: %+v", c)
	}
	for _, tc := range []struct {
		have func(Client) bool
		want string
	}{
		{func(Client) bool { return false }, ""},
		{func(c Client) bool { return c.MaxText > 0 }, "Claude Code"},
		{func(c Client) bool { return c.MaxPicture > 0 }, "Claude Code and Claude Desktop"},
		{func(c Client) bool { return c.StructuredAlone }, "Claude Code, Codex and opencode"},
	} {
		if got := Titles(tc.have); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
	for name, want := range map[string]bool{
		"a": true, "a-B_9.x": true, "": false, "a b": false, "é": false, "$ref": false,
		strings.Repeat("a", 64): true, strings.Repeat("a", 65): false,
	} {
		if PlainName(name) != want {
			t.Errorf("%q: %t", name, !want)
		}
	}
}
