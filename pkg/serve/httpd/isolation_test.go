//go:build unix

package httpd

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/serve/httpd/internal/guard"
)

// H-81: the roots of a client that can be on another machine are ignored, unless the operator trusts them.
func TestRemoteRoots(t *testing.T) {
	key := auth.Identity{Name: "ada"}
	for _, c := range []struct {
		name    string
		access  guard.Config
		trust   bool
		headers []string
		want    string
	}{
		{"a plain loopback address", guard.Config{Local: true}, false, nil, "/tmp"},
		{"an address for other machines", guard.Config{Auth: always{&key}}, false, nil, ""},
		{"an address for other machines, trusted", guard.Config{Auth: always{&key}}, true, nil, "/tmp"},
		{"tokens", guard.Config{Local: true, Auth: always{&key}}, false, nil, ""},
		{"a public URL", guard.Config{Local: true, Public: true}, false, nil, ""},
		{"a public URL, trusted", guard.Config{Local: true, Public: true}, true, nil, "/tmp"},
		{"an allowed host", guard.Config{Local: true, Hosts: []string{"mcp.example.com"}}, false, nil, ""},
		{"an allowed origin", guard.Config{Local: true, Origins: []string{"https://example.com"}}, false, nil, ""},
		{"a socket file", guard.Config{Local: true, Socket: true}, false, nil, ""},
		{"Forwarded", guard.Config{Local: true}, false, []string{"Forwarded: for=203.0.113.7"}, ""},
		{"X-Forwarded-For", guard.Config{Local: true}, false, []string{"X-Forwarded-For: 203.0.113.7"}, ""},
		{"X-Forwarded-Proto", guard.Config{Local: true}, false, []string{"x-forwarded-proto: https"}, ""},
		{"X-Real-IP", guard.Config{Local: true}, false, []string{"X-Real-IP: 203.0.113.7"}, ""},
		{"Via", guard.Config{Local: true}, false, []string{"Via: 1.1 proxy"}, ""},
		{"a header of a network", guard.Config{Local: true}, false, []string{"Fly-Client-IP: 203.0.113.7"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			script := map[string]string{"roots": `echo "roots: $MCP_ROOTS_PATHS"`}
			s := serve(t, tools(script), nil, func(config *Config) {
				g, err := guard.New(c.access)
				if err != nil {
					t.Fatal(err)
				}
				config.Gate, config.TrustRoots = &Gate{guard: g}, c.trust
			})
			s.lines = append(c.headers, "Authorization: Bearer t")
			se := s.open("2025-11-25", `"roots":{}`)
			own := se.listen()
			if c.want != "" {
				own.find("roots/list")
				se.send(`{"jsonrpc":"2.0","id":1,"result":{"roots":[{"uri":"file:///tmp"}]}}`)
			}
			if got := text(t, se.call("1", "roots", "")); !strings.Contains(got, `roots: `+c.want+`\n`) {
				t.Error(got)
			}
		})
	}
}

// always accepts every token as an identity.
type always struct{ *auth.Identity }

func (a always) Authenticate(context.Context, string) (*auth.Identity, error) {
	return a.Identity, nil
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

// H-13, H-29: a request gets comments while it runs, also the first one of its method.
func TestSlowRequest(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, tools(map[string]string{
		"wait": waitAt(dir+"/go") + "rm " + dir + "/go; echo done",
	}), project.Env{"MCPBASH_HTTP_KEEPALIVE": "0.05"})
	release := func() { os.WriteFile(filepath.Join(dir, "go"), nil, 0o644) }
	se := s.open("2025-11-25", "")
	r := sentEvents(t, se.call("2", "wait", ""))
	for comments := 0; comments < 2; {
		if lines, ok := r.block(); ok && lines[0] == ": " {
			comments++
		}
	}
	release()
	r.find("done")
	modern := sentEvents(t, s.modern(t.Context(), "3", "tools/call", `"name":"wait"`, ""))
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
