package toolnames

import "testing"

// CLI-1012: what clients send was seen by running them.
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

// A client that nothing is known of has no limits.
func TestOf(t *testing.T) {
	if c := Of("Notepad"); c != nil {
		t.Errorf("%+v", c)
	}
	if c := Of("VS Code"); c == nil || c.Room("a-long-server-name-and-more") != 64-18 {
		t.Errorf("%+v", c)
	}
}
