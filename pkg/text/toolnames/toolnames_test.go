package toolnames

import (
	"strings"
	"testing"
)

// CLI-1012: the expected names are from running the clients.
func TestSent(t *testing.T) {
	for _, c := range []struct{ client, server, tool, sent string }{
		{"Claude Code", "demo", "dot.name", "mcp__demo__dot_name"},
		{"Codex CLI", "s", "a", "mcp__s__a"},
		{"Gemini CLI", "demo", "a.b:c/d", "mcp_demo_a.b:c_d"},
		{"VS Code", "a-long-server-name", "tool", "mcp_a-long-server-tool"},
		{"opencode", "my.srv", "a", "my_srv_a"},
		{"Copilot CLI", "my srv", "a.b", "my-srv-a-b"},
		{"Cline", "demo", "a", "demo__a"},
		{"Amazon Q CLI", "demo", "1my-tool", "mytool"},
	} {
		if got, _ := Of(c.client).Sent(c.server, c.tool); got != c.sent {
			t.Errorf("%s sends %s, not %s", c.client, got, c.sent)
		}
	}
}

// An unknown client has no limits.
func TestOf(t *testing.T) {
	if c := Of("Notepad"); c != nil {
		t.Errorf("%+v", c)
	}
	if c := Of("VS Code"); c == nil || c.Room("a-long-server-name-and-more") != 64-18 {
		t.Errorf("%+v", c)
	}
}

// CLI-407: letters, digits, _ and -, at most 64 of them.
func TestIsPortable(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "My_tool-2": true, strings.Repeat("a", 64): true, strings.Repeat("a", 65): false,
		"": false, "a.b": false, "a b": false, "a/b": false, "é": false, "a\n": false,
	} {
		if IsPortable(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

// Names of tools are unique, and every client accepts them.
func TestUnique(t *testing.T) {
	taken := map[string]bool{}
	long := strings.Repeat("x", MaxPortable)
	for _, c := range []struct{ name, want string }{
		{"a", "a"}, {"a", "a-2"}, {"a", "a-3"}, {"a-2", "a-2-2"}, {long, long}, {long, long[:60] + "-2"},
	} {
		if got := Unique(c.name, taken); got != c.want || !IsPortable(got) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
