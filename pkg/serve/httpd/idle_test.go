//go:build unix

package httpd

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// An idle stream uses little memory, and neither a goroutine nor a buffer of net/http. The limits include the ends of
// the clients, which are in the same process.
func TestIdleStreams(t *testing.T) {
	for _, c := range []struct {
		name string
		most uint64 // bytes for a stream
		open func(c *idleClient)
	}{
		{"session", 14 << 10, (*idleClient).openSession},
		{"stateless", 7 << 10, (*idleClient).listen},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, nil, nil)
			open := func(n int) {
				for range n {
					conn, r := s.raw("")
					t.Cleanup(func() { conn.Close() })
					c.open(&idleClient{t, conn, r})
				}
			}
			const streams = 300
			open(20)
			bytes, goroutines := memoryInUse()
			open(streams)
			await(t, "streams without goroutines of net/http", func() bool {
				return runtime.NumGoroutine()-goroutines <= streams+5
			})
			await(t, fmt.Sprintf("streams with at most %d bytes each", c.most), func() bool {
				now, _ := memoryInUse() // also of what the tests before leave for a moment
				return now <= bytes+streams*c.most
			})
		})
	}
}

// memoryInUse returns the bytes and the number of goroutines that the process uses.
func memoryInUse() (bytes uint64, goroutines int) {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse, runtime.NumGoroutine()
}

// An idleClient opens a stream over its connection.
type idleClient struct {
	t    *testing.T
	conn net.Conn
	r    *bufio.Reader
}

// post sends a POST, and leaves the response to the caller.
func (c *idleClient) post(body, lines string) {
	io.WriteString(c.conn, "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"+lines+
		"Content-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"+body)
}

// ask is post and the response.
func (c *idleClient) ask(body, lines string) *http.Response {
	c.post(body, lines)
	answer, err := http.ReadResponse(c.r, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	io.Copy(io.Discard, answer.Body)
	return answer
}

// awaitStream reads the beginning of a response.
func (c *idleClient) awaitStream() {
	if line, err := c.r.ReadString('\n'); err != nil || line != "HTTP/1.1 200 OK\r\n" {
		c.t.Fatal(line, err)
	}
}

func (c *idleClient) openSession() {
	answer := c.ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`, "")
	lines := "Mcp-Session-Id: " + answer.Header.Get("Mcp-Session-Id") + "\r\n"
	c.ask(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, lines)
	io.WriteString(c.conn, "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n"+lines+"\r\n")
	c.awaitStream()
}

// listen sends a long request, of which only the id is needed while the stream is open.
func (c *idleClient) listen() {
	c.post(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},`+
		`"_meta":{`+meta+`,"x":"`+strings.Repeat("x", 8<<10)+`"}}}`, stateless+"\r\nMcp-Method: subscriptions/listen\r\n")
	c.awaitStream()
}
