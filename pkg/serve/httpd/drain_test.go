//go:build unix

package httpd

import (
	"os"
	"strings"
	"testing"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/protocol"
)

// H-60, H-61: the server stops being ready, streams end with their reason, and running requests
// finish before it ends.
func TestDrain(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, tools(map[string]string{
		"wait": sourceSDK + "touch " + dir + "/began; " + waitAt(dir+"/go") + "echo done",
		"ask":  sourceSDK + `mcp_emit_text "got $(mcp_elicit_string Name)"`,
	}), project.Env{"MCPBASH_HTTP_DRAIN_DELAY": "1"})
	se := s.open("2025-11-25", `"elicitation":{}`)
	own := se.listen()
	listen := events(t, s.modern(t.Context(), "9", "subscriptions/listen",
		`"notifications":{"toolsListChanged":true}`, ""))
	listen.find("acknowledged")
	answers := make(chan string, 2)
	go func() { answers <- text(t, se.call("1", "wait", "")) }()
	awaitFile(t, dir+"/began")
	asked := events(t, se.call("2", "ask", ""))
	asked.find("elicitation/create")

	drained := make(chan *protocol.Ending)
	go func() { drained <- s.Drain() }()
	await(t, "not ready", func() bool { return s.do(t.Context(), "GET /readyz", "").StatusCode == 503 })
	r := s.modern(t.Context(), "1", "tools/list", "", "")
	if r.StatusCode != 200 || !r.Close {
		t.Error("a request during the delay:", r.Status, r.Header)
	}
	if got := listen.find(`"id":9,"result"`); !strings.Contains(got, "complete") || listen.next() != "" {
		t.Error(got)
	}
	for reason := false; ; {
		lines, ok := own.block()
		if !ok {
			if !reason {
				t.Error("the stream ended without a reason")
			}
			break
		}
		reason = reason || lines[0] == ": the server stops"
	}
	asked.find("cancel")
	select {
	case <-drained:
		t.Fatal("it ended before its requests")
	default:
	}
	os.WriteFile(dir+"/go", nil, 0o644)
	if got := <-answers; !strings.Contains(got, `done\n`) {
		t.Error(got)
	}
	if lost := <-drained; lost != nil {
		t.Error(lost)
	}
}
