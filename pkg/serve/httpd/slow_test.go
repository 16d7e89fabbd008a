//go:build unix

package httpd

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/project"
)

// H-11: a client that does not read its answer, or its stream, loses the connection. Others notice
// nothing.
func TestSlowReaders(t *testing.T) {
	files := tools(map[string]string{
		"large": "head -c 6000000 /dev/zero | tr '\\0' x",
		"verbose": sourceSDK +
			`for ((i = 0; i < 200; i++)); do mcp_progress $i "$(printf %060000d 0)"; done; echo done`,
		"hello": "echo hi",
	})
	s := serve(t, files, project.Env{"MCPBASH_MAX_PROGRESS_PER_MIN": "0"}, func(c *Config) {
		c.Listener.patience = 100 * time.Millisecond
	})
	for _, tool := range []string{"large", "verbose"} {
		body := fmt.Sprintf(
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"_meta":{%s,"progressToken":1}}}`,
			tool, meta)
		c, _ := s.raw("")
		c.(*net.TCPConn).SetReadBuffer(4 << 10)
		fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n%s\r\n"+
			"Mcp-Method: tools/call\r\nMcp-Name: %s\r\nContent-Length: %d\r\n\r\n%s", stateless, tool, len(body), body)
		await(t, "request", func() bool { return s.busy() })
		got := text(t, s.modern(t.Context(), "1", "tools/call", `"name":"hello"`, ""))
		if !strings.Contains(got, "hi") {
			t.Error(got)
		}
		await(t, "end of the request", func() bool { return !s.busy() })
	}
	s.client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		t.Error("a connection stays open:", err)
	}
}

// busy reports whether a stateless request runs.
func (s *testServer) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.callers[""]
	return c != nil && c.client.Busy()
}
