//go:build unix

package httpd

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// BenchmarkRequests measures requests that start no script, with 16 connections.
func BenchmarkRequests(b *testing.B) {
	s := serve(b, map[string]string{
		"resources/a.txt": string(bytes.Repeat([]byte("x"), 1000)),
		"prompts/p.txt":   "Hello ${who}",
		"prompts/p.meta.json": `{"name":"p","description":"d",` +
			`"arguments":{"type":"object","properties":{"who":{"type":"string"}}}}`,
	}, nil)
	uri := "file://" + filepath.Join(s.root, "resources/a.txt")
	os.WriteFile(filepath.Join(s.root, "resources/a.meta.json"), []byte(`{"name":"a","uri":"`+uri+`"}`), 0o644)
	for _, c := range []struct{ name, method, header, params string }{
		{"list", "tools/list", "", ""},
		{"read", "resources/read", uri, `,"uri":"` + uri + `"`},
		{"prompt", "prompts/get", "p", `,"name":"p","arguments":{"who":"you"}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"_meta":{%s}%s}}`, c.method, meta,
				c.params)
			request := "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n" +
				"Accept: application/json, text/event-stream\r\n" + stateless + "\r\nMcp-Method: " + c.method + "\r\n"
			if c.header != "" {
				request += "Mcp-Name: " + c.header + "\r\n"
			}
			request += "Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
			b.ReportAllocs()
			b.SetParallelism(8)
			b.RunParallel(func(pb *testing.PB) {
				conn, err := net.Dial("tcp", s.Listener.Addr().String())
				if err != nil {
					b.Error(err)
					return
				}
				defer conn.Close()
				answer := make([]byte, 8<<10)
				for pb.Next() {
					io.WriteString(conn, request)
					n, err := conn.Read(answer)
					if err != nil || !bytes.HasPrefix(answer[:n], []byte("HTTP/1.1 200")) ||
						!bytes.Contains(answer[:n], []byte(`"result":`)) || !bytes.HasSuffix(answer[:n],
						[]byte("}\n")) {
						b.Errorf("%v: %s", err, answer[:n])
						return
					}
				}
			})
		})
	}
}
