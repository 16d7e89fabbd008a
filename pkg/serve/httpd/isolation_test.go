//go:build unix

package httpd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/project"
)

// H-81: roots of a client that can be on another machine are ignored, unless the operator trusts them.
func TestRemoteRoots(t *testing.T) {
	for _, c := range []struct {
		remote, trust bool
		want          string
	}{{false, false, "/tmp"}, {true, false, ""}, {true, true, "/tmp"}} {
		s := serve(t, tools(map[string]string{"roots": `echo "roots: $MCP_ROOTS_PATHS"`}), nil, func(config *Config) {
			config.Listener.Local, config.TrustRoots = !c.remote, c.trust
		})
		se := s.open("2025-11-25", `"roots":{}`)
		own := se.listen()
		if c.want != "" {
			own.find("roots/list")
			se.send(`{"jsonrpc":"2.0","id":1,"result":{"roots":[{"uri":"file:///tmp"}]}}`)
		}
		if got := text(t, se.call("1", "roots", "")); !strings.Contains(got, `roots: `+c.want+`\n`) {
			t.Errorf("remote %t, trusted %t: %s", c.remote, c.trust, got)
		}
	}
}

// H-82: two clients that differ do not share the files that describe a single client.
func TestUISupport(t *testing.T) {
	s := serve(t, tools(map[string]string{
		"ui": sourceSDK + `echo "ui: $MCPBASH_CLIENT_SUPPORTS_UI $(cd "$MCPBASH_STATE_DIR" && echo extensions.*)"`,
	}), nil)
	with := s.open("2025-11-25", `"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}`)
	without := s.open("2025-11-25", "")
	for se, want := range map[*testSession]string{with: "ui: 1 extensions.*", without: "ui: 0 extensions.*"} {
		if got := text(t, se.call("1", "ui", "")); !strings.Contains(got, want) {
			t.Error(got, want)
		}
	}
}

// H-13, H-29: a request of a slow method gets comments while it runs.
func TestSlowRequest(t *testing.T) {
	s := serve(t, tools(map[string]string{
		"wait": waitAt("$TMPDIR/go") + `rm "$TMPDIR/go"; echo done`,
	}), project.Env{"MCPBASH_HTTP_KEEPALIVE": "0.05"})
	release := func() { os.WriteFile(filepath.Join(s.Project.Env["TMPDIR"], "go"), nil, 0o644) }
	se := s.open("2025-11-25", "")
	release()
	if got := text(t, se.call("1", "wait", "")); !strings.Contains(got, "done") {
		t.Fatal(got)
	}
	r := events(t, se.call("2", "wait", ""))
	for comments := 0; comments < 2; {
		if lines, ok := r.block(); ok && lines[0] == ": " {
			comments++
		}
	}
	release()
	r.find("done")
	modern := events(t, s.modern(t.Context(), "3", "tools/call", `"name":"wait"`, ""))
	if lines, ok := modern.block(); !ok || lines[0] != ": " {
		t.Error(lines)
	}
	release()
	modern.find("done")
}

// H-80: the clients of a server with one slot take turns.
func TestTurns(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, tools(map[string]string{
		"mark": `n=$(mktemp "$TMPDIR/n.XXXXXX"); echo "$MCP_TOOL_ARGS_JSON" >> "` + dir + `/order"; rm "$n"`,
		"wait": "touch " + dir + "/began; " + waitAt(dir+"/go"),
	}), project.Env{"MCPBASH_MAX_CONCURRENT_REQUESTS": "1"})
	first := s.open("2025-11-25", "")
	done := make(chan bool)
	call := func(se *testSession, id, tool, who string) {
		go func() {
			text(t, se.call(id, tool, `,"arguments":{"who":"`+who+`"}`))
			done <- true
		}()
	}
	waiting := func(se *testSession) int { return int(se.server().open.Load()) }
	call(first, "1", "wait", "")
	awaitFile(t, dir+"/began")
	for i, who := range []string{"a1", "a2", "a3"} {
		call(first, who[1:]+"1", "mark", who)
		await(t, "queue", func() bool { return waiting(first) == i+2 })
	}
	second := s.open("2025-11-25", "")
	call(second, "1", "mark", "b1")
	await(t, "queue", func() bool { return waiting(second) == 1 })
	os.WriteFile(dir+"/go", nil, 0o644)
	for range 5 {
		select {
		case <-done:
		case <-time.After(patience):
			t.Fatal("a request waits forever")
		}
	}
	order, err := os.ReadFile(dir + "/order")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(order)) {
		got = append(got, between(line, `"who":"`, `"`))
	}
	if len(got) != 4 || got[0] != "b1" && got[1] != "b1" {
		t.Error(got)
	}
}
