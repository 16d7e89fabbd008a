//go:build unix

package httpd

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/clock"
	"mcp-bash/pkg/project"
)

// H-11: a client that does not read its answer, or its stream, loses the connection. Others notice nothing.
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

// H-11: the time to read does not depend on the wall clock, which may be set back.
func TestWriteDeadline(t *testing.T) {
	here, there := net.Pipe()
	go io.Copy(io.Discard, there)
	defer here.Close()
	c := &timedConn{Conn: here, within: time.Minute}
	if _, err := c.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if left := time.Duration(c.until.Load()) - clock.Now(); left <= 0 || left > time.Minute {
		t.Errorf("the deadline is in %v", left)
	}
}

// P-1803: the answers that a client does not read take a limited number of bytes. Another client gets its answers
// meanwhile, and everything is released in the end.
func TestUnreadAnswersAreBounded(t *testing.T) {
	const size, most = 6 << 20, 4 << 20 // an answer is longer than the buffers of the kernel, which are at most 4 MiB
	s := serve(t, map[string]string{"resources/large": strings.Repeat("x", size)},
		project.Env{"MCPBASH_MAX_PENDING_BYTES": fmt.Sprint(most)}, withCallers)
	uri := "file://" + s.root + "/resources/large"
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":%q,"_meta":{%s}}}`, uri, meta)
	var slow []net.Conn
	for range 10 {
		c, _ := s.raw("")
		c.(*net.TCPConn).SetReadBuffer(4 << 10)
		fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: x\r\nX-Caller: slow\r\nContent-Type: application/json\r\n%s\r\n"+
			"Mcp-Method: resources/read\r\nMcp-Name: %s\r\nContent-Length: %d\r\n\r\n%s", stateless, uri, len(body), body)
		slow = append(slow, c)
	}
	key := (&auth.Identity{Name: "slow"}).Owner()
	await(t, "a client that has too much to read", func() bool { return s.unread.full(key) })
	for range 3 {
		got := text(t, s.modern(t.Context(), "1", "resources/read", fmt.Sprintf(`"uri":%q`, uri), "", "X-Caller: other"))
		if len(got) < size {
			t.Error(got)
		}
	}
	if n := s.unread.all.Load(); n > most+4*size {
		t.Errorf("%d bytes are unread", n)
	}
	for _, c := range slow {
		c.Close()
	}
	await(t, "no unread answers", func() bool { return s.unread.all.Load() == 0 && s.unread.of.All() == 0 })
}

// busy reports whether a stateless request runs.
func (s *testServer) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.callers[""]
	return c != nil && c.client.Busy()
}
