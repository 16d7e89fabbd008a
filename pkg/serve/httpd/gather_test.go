//go:build unix

package httpd

import (
	"net"
	"strings"
	"sync/atomic"
	"testing"
)

// A countingListener counts the writes of its connections.
type countingListener struct {
	net.Listener
	writes *atomic.Int64
}

func (l countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return countingConn{c, l.writes}, err
}

type countingConn struct {
	net.Conn
	writes *atomic.Int64
}

func (c countingConn) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

// A JSON answer of up to mostGathered bytes is one write, however it fits into the buffers of net/http.
func TestAnswerIsOneWrite(t *testing.T) {
	files := tools(map[string]string{"a": "echo x"})
	for _, size := range []int{10, 1 << 10, leastGathered - 200, leastGathered, 4 << 10, 8 << 10, mostGathered - 1<<10} {
		files["tools/a/tool.meta.json"] = `{"name":"a","description":"` + strings.Repeat("x", size) + `"}`
		var writes atomic.Int64
		s := serve(t, files, nil, func(c *Config) { c.Listener.Listener = countingListener{c.Listener.Listener, &writes} })
		for range 3 { // the buffer is used again
			before := writes.Load()
			answer := text(t, s.modern(t.Context(), "1", "tools/list", "", ""))
			if n := writes.Load() - before; n != 1 || strings.Count(answer, "x") < size || !strings.HasSuffix(answer, "}") {
				t.Errorf("%d bytes: %d writes, %d bytes arrived", size, n, len(answer))
			}
		}
	}
}
