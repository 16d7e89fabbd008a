//go:build unix

package tool

import (
	"strings"
	"testing"

	"mcp-bash/pkg/json/jsontest"
	"mcp-bash/pkg/project"
)

// T-137: standard error goes to the client, to the log, or to both. The client always gets the reason of a failure.
func TestStderrTarget(t *testing.T) {
	long := strings.Repeat("echo 'a line of forty-one bytes, with a break' >&2\n", 50) + "echo last >&2; exit 1"
	lines := func(n int) string { return strings.Repeat("a line of forty-one bytes, with a break\n", n) + "last" }
	for _, c := range []struct{ target, body, entry, want, logged string }{
		{"client", "echo note >&2; echo ok", "", `{"content":[{"type":"text","text":"ok\n"}],"isError":false,
			"_meta":{"exitCode":0,"stderr":"note"}}`, ""},
		{"log", "echo note >&2; echo ok", "", `{"content":[{"type":"text","text":"ok\n"}],"isError":false,
			"_meta":{"exitCode":0}}`, "tool 't': note\n"},
		{"both", "echo note >&2; echo ok", "", `{"content":[{"type":"text","text":"ok\n"}],"isError":false,
			"_meta":{"exitCode":0,"stderr":"note"}}`, "tool 't': note\n"},
		{"log", "echo 'Authorization: Bearer abcdefghijklmnop' >&2", "", `{"content":[{"type":"text",
			"text":"Authorization: **redacted**"}],"isError":false,"_meta":{"exitCode":0}}`,
			"tool 't': Authorization: Bearer abcdefghijklmnop\n"},
		{"log", "echo why >&2; exit 3", "", `{"content":[{"type":"text","text":"why"}],"isError":true,
			"_meta":{"exitCode":3}}`, "tool 't': why\n"},
		{"log", "echo part; echo why >&2; exit 3", "", `{"content":[{"type":"text","text":"part\n"},
			{"type":"text","text":"why"}],"isError":true,"_meta":{"exitCode":3}}`, "tool 't': why\n"},
		{"log", "echo 'Authorization: Bearer abcdefghijklmnop' >&2; exit 3", "", `{"content":[{"type":"text",
			"text":"Authorization: **redacted**"}],"isError":true,"_meta":{"exitCode":3}}`,
			"tool 't': Authorization: Bearer abcdefghijklmnop\n"},
		{"log", long, "", `{"content":[{"type":"text","text":"` + strings.ReplaceAll(lines(25), "\n", `\n`) + `"}],
			"isError":true,"_meta":{"exitCode":1}}`, "tool 't': " + lines(50) + "\n"},
		{"client", long, "", `{"content":[{"type":"text","text":"` + strings.ReplaceAll(lines(50), "\n", `\n`) + `"}],
			"isError":true,"_meta":{"exitCode":1,"stderr":"` + strings.ReplaceAll(lines(50), "\n", `\n`) + `"}}`, ""},
		{"log", "echo message >&2", `"output":{"type":"text"}`, `{"content":[{"type":"text","text":"message"}],
			"isError":false,"_meta":{"exitCode":0}}`, "tool 't': message\n"},
		{"log", "echo message >&2; exit 2", `"output":{"type":"text"}`, `{"content":[{"type":"text","text":"message"},
			{"type":"text","text":"The program ended with exit status 2."}],"isError":true,"_meta":{"exitCode":2}}`,
			"tool 't': message\n"},
		{"log", "echo starting >&2; sleep 600", `"timeoutSecs":1`, "timeout", "tool 't': starting\n"},
	} {
		b := newFixture(t, project.Env{"MCPBASH_TOOL_STDERR": c.target})
		logged := ""
		if b.tools.project.Calls.StderrTo.Log {
			b.tools.ScriptLog = func(name string, stderr []byte) { logged += name + ": " + string(stderr) }
		}
		var more []string
		if c.entry != "" {
			more = append(more, c.entry)
		}
		got := b.run(c.body, more...)
		switch {
		case logged != c.logged:
			t.Errorf("%s: %.60s: logged %q, want %q", c.target, c.body, logged, c.logged)
		case c.want == "timeout":
			if !strings.Contains(got, `"type":"timeout"`) || strings.Contains(got, `"stderr"`) {
				t.Errorf("%s: %s: %s", c.target, c.body, got)
			}
		case !jsontest.Same(got, `{"name":"t",`+c.want[1:]):
			t.Errorf("%s: %.60s: %s, want %s", c.target, c.body, got, c.want)
		}
	}
}

// T-137, T-187: the error of the Bash edition has no diagnostics either, and keeps its message.
func TestStderrTargetOfErrors(t *testing.T) {
	b := newFixture(t, project.Env{
		"MCPBASH_TOOL_STDERR": "log", "MCPBASH_TOOL_FAILURE_MODE": "error", "MCPBASH_TRACE_TOOLS": "true",
	})
	want := `{"code":-32603,"message":"why","data":{"exitCode":3,"_meta":{"exitCode":3}}}`
	if got := b.run("echo why >&2; echo more >&2; exit 3"); !jsontest.Same(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
}

// T-136, T-137: standard error that is copied as it arrives is not logged again.
func TestStderrIsLoggedOnce(t *testing.T) {
	b := newFixture(t, project.Env{"MCPBASH_TOOL_STDERR": "log", "MCPBASH_TOOL_STREAM_STDERR": "true"})
	var copied strings.Builder
	b.tools.Stderr = &copied
	b.tools.ScriptLog = func(name string, stderr []byte) { t.Errorf("%s: %s", name, stderr) }
	if b.run("echo note >&2"); copied.String() != "note\n" {
		t.Errorf("%q", &copied)
	}
}
