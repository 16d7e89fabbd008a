//go:build unix

package serve

import (
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/registration"
)

// the client of a running server is notified when another program registers
// or removes a tool.
func TestRegistering(t *testing.T) {
	c := ready(t, map[string]string{
		"server.d/server.meta.json": "{}", "tools/hello/tool.sh": "echo hello", "tools/work/more/run.sh": "echo worked",
	}, project.Env{"MCP_TOOLS_TTL": "0"})
	c.request("tools/list", "")
	listChanged := func() {
		t.Helper()
		for {
			select {
			case line := <-c.changed:
				if strings.Contains(line, "notifications/tools/list_changed") {
					return
				}
			case <-time.After(patience):
				t.Fatal("no notification")
			}
		}
	}
	listChanged() // there was no cache
	r := registration.NewProject(project.Open(c.root, project.OSEnv(), c.root, func(string) {}), registry.Options{})
	payload := `{"id":"work.run","name":"run","version":"1.0.0","path":"work/more/run.sh","capabilities":["Process"]}`
	if _, err := r.Register(t.Context(), []byte(payload), registration.RegisterOptions{}); err != nil {
		t.Fatal(err)
	}
	listChanged()
	want := `{"name":"run","description":"","path":"work/more/run.sh","inputSchema":{"type":"object","properties":{}},` +
		`"_meta":{"mcpbash/tool":{"id":"work.run","version":"1.0.0","capabilities":["Process"]}}}`
	if got := c.request("tools/list", ""); !strings.Contains(got, want) || !strings.Contains(got, `"name":"hello"`) {
		t.Error(got)
	}
	if got := c.call("run", "{}"); !strings.Contains(got, "worked") {
		t.Error(got)
	}
	if _, err := r.Unregister(t.Context(), "work.run"); err != nil {
		t.Fatal(err)
	}
	listChanged()
	if got := c.call("run", "{}"); !strings.Contains(got, "Tool 'run' not found") {
		t.Error(got)
	}
}
