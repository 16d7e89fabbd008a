//go:build unix

package httpd

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"testing"
)

// A session with an open stream of GET uses little memory, and no goroutine of net/http.
func TestIdleSessions(t *testing.T) {
	s := serve(t, nil, nil)
	var conns []net.Conn
	t.Cleanup(func() {
		for _, c := range conns {
			c.Close()
		}
	})
	post := func(c net.Conn, r *bufio.Reader, body, lines string) *http.Response {
		io.WriteString(c, "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"+lines+
			"Content-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"+body)
		answer, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, answer.Body)
		return answer
	}
	open := func() {
		c, r := s.raw("")
		conns = append(conns, c)
		answer := post(c, r, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`, "")
		lines := "Mcp-Session-Id: " + answer.Header.Get("Mcp-Session-Id") + "\r\n"
		post(c, r, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, lines)
		io.WriteString(c, "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n"+lines+"\r\n")
		if line, err := r.ReadString('\n'); err != nil || line != "HTTP/1.1 200 OK\r\n" {
			t.Fatal(line, err)
		}
	}
	const sessions, most = 300, 15 << 10 // the clients are in the same process
	used := func() (bytes uint64, goroutines int) {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc + m.StackInuse, runtime.NumGoroutine()
	}
	for range 20 {
		open()
	}
	bytes, goroutines := used()
	for range sessions {
		open()
	}
	await(t, "streams without goroutines of net/http", func() bool {
		_, now := used()
		return now-goroutines <= sessions+5
	})
	if now, _ := used(); now > bytes+sessions*most {
		t.Errorf("%d bytes a session", (now-bytes)/sessions)
	}
}
