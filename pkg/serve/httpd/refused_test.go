//go:build unix

package httpd

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
)

// post sends a request as simple clients do: it reads the answer only after the last byte of the body.
func (s *testServer) post(first string, size int, lines ...string) (status int, body string) {
	s.t.Helper()
	lines = append([]string{first + " HTTP/1.1", "Host: localhost", "Content-Type: application/json"}, lines...)
	header := strings.Join(lines, "\r\n")
	content := strings.Repeat(" ", size)
	if strings.Contains(header, "chunked") {
		content = fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", size, content)
	} else {
		header += fmt.Sprintf("\r\nContent-Length: %d", size)
	}
	message := header + "\r\n\r\n" + content
	c, answer := s.raw("") // the message is ready, because the server does not wait for it long
	if _, err := io.WriteString(c, message); err != nil {
		s.t.Errorf("%s %q: %v", first, lines, err)
		return 0, ""
	}
	r, err := http.ReadResponse(answer, nil)
	if err != nil {
		s.t.Errorf("%s %q: %v", first, lines, err)
		return 0, ""
	}
	return r.StatusCode, text(s.t, r)
}

// H-12: a client that sends a long body reads why it is refused, whatever the reason.
func TestRefusedBodies(t *testing.T) {
	const size = 16 << 20 // bytes, more than the buffers of the kernel
	s := serve(t, nil, nil, withGate)
	for _, c := range []struct {
		first  string
		lines  headersOf
		status int
	}{
		{"POST /mcp", nil, 401}, {"POST /mcp", headersOf{"Authorization: Bearer ="}, 400},
		{"POST /mcp", headersOf{bearer("ada"), "Origin: http://example.com"}, 403},
		{"PUT /mcp", headersOf{bearer("ada")}, 405}, {"GET /mcp", headersOf{bearer("ada"), stateless}, 405},
		{"POST /mcp", headersOf{bearer("ada"), "Accept: text/html"}, 406},
		{"POST /mcp", headersOf{bearer("ada"), "Content-Encoding: gzip"}, 415},
		{"POST /mcp", headersOf{bearer("ada")}, 413},
		{"POST /", headersOf{bearer("ada")}, 404}, {"POST /replica", headersOf{bearer("ada")}, 404},
		{"POST /healthz", nil, 405},
	} {
		isText := !strings.HasSuffix(c.first, "/mcp")
		for _, lines := range []headersOf{c.lines, append(c.lines, "Transfer-Encoding: chunked")} {
			status, body := s.post(c.first, size, lines...)
			var answer struct {
				Error struct{ Code int }
			}
			err := json.Unmarshal([]byte(body), &answer)
			if status != c.status || (err != nil) != isText || answer.Error.Code != -32600 && !isText {
				t.Errorf("%s %q: %d %s", c.first, lines, status, body)
			}
		}
	}
	if n := s.counted(""); n != 0 {
		t.Errorf("%d bytes count", n)
	}
}

// H-12: after the answer to a short body, the client can use the connection again.
func TestRefusedShortBodies(t *testing.T) {
	s := serve(t, nil, nil, withGate)
	c, answers := s.raw("")
	for range 2 {
		io.WriteString(c, "PUT /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ada\r\nContent-Length: 2\r\n\r\n{}")
		r, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		const want = `{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request",` +
			`"data":"PUT is not allowed; the endpoint accepts POST, GET, DELETE"}}`
		if got := text(t, r); r.StatusCode != 405 || r.Close || got != want || r.Header.Get("Content-Type") != jsonType {
			t.Error(r.Status, r.Header, got)
		}
	}
}

// H-60, H-223: the answer to a refused request announces that its connection ends, if the server ends or has too many.
func TestRefusalsEndConnections(t *testing.T) {
	s := serve(t, nil, project.Env{"MCPBASH_HTTP_MAX_CONNECTIONS": "1"}, withGate)
	ask := func(path string, status int) (closes bool) {
		c, answer := s.raw("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n")
		defer c.Close()
		r, err := http.ReadResponse(answer, nil)
		if err != nil || r.StatusCode != status {
			t.Fatal(path, r, err)
		}
		return r.Close
	}
	if ask("/mcp", 401) {
		t.Error("a connection ends")
	}
	alone := func() bool { return s.connections.Open() == 0 }
	await(t, "the end of the first connection", alone)
	busy := s.begin("ada", 2, "{")
	await(t, "the busy connection", func() bool { return s.counted("") == 1 })
	if !ask("/mcp", 401) {
		t.Error("the end of a connection above the limit is not announced")
	}
	busy.Close()
	await(t, "the end of the busy connection", alone)
	s.serving.Store(false)
	for path, status := range map[string]int{"/mcp": 401, "http://localhost/mcp": 400, "/healthz": 200} {
		if !ask(path, status) {
			t.Errorf("%s: the server ends, and the connection does not", path)
		}
	}
}

// H-223: silent connections above the limit do not keep the next one waiting for the time of a header.
func TestSilentAboveLimit(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, project.Env{"MCPBASH_HTTP_MAX_CONNECTIONS": "1"}, withGate)
	busy := s.begin("ada", 2, "{")
	defer busy.Close()
	await(t, "the busy connection", func() bool { return s.counted("") == 1 })
	for range 2 { // the second one waits, too
		silent, _ := s.raw("")
		defer silent.Close()
	}
	began := time.Now()
	if status, _ := s.post("POST /mcp", 2, bearer("bert")); status != 503 || time.Since(began) > headerTime {
		t.Errorf("%d after %v", status, time.Since(began))
	}
}

// H-12, H-221 to H-223: a client that sends a long body to a full server reads why it is refused, whatever the server
// lacks.
func TestFullServer(t *testing.T) {
	const clients, size = 8, 8 << 20 // bytes, more than the buffers of the kernel
	const sent = 1 << 20
	for _, limit := range []project.Env{
		{"MCPBASH_HTTP_MAX_CONNECTIONS": fmt.Sprint(clients)}, {"MCPBASH_HTTP_MAX_REQUESTS": fmt.Sprint(clients)},
		{"MCPBASH_MAX_PENDING_BYTES": fmt.Sprint(clients * sent)},
	} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			limit["MCPBASH_HTTP_MAX_BODY"] = fmt.Sprint(size)
			s := serve(t, nil, limit, withGate)
			var slow []net.Conn
			for i := range clients {
				slow = append(slow, s.begin([]string{"ada", "carl"}[i%2], sent+1, strings.Repeat(" ", sent)))
			}
			await(t, "the bodies", func() bool { return s.counted("") == clients*sent })
			var others sync.WaitGroup
			for range 3 * clients {
				others.Go(func() {
					status, body := s.post("POST /mcp", size, bearer("bert"))
					if _, err := rawjson.Check([]byte(body)); status != 503 || err != nil {
						t.Error(status, body)
					}
				})
			}
			others.Wait()
			for _, c := range slow {
				io.WriteString(c, " ")
				if r, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || r.StatusCode == 200 {
					t.Error(r, err)
				}
			}
			if status, _ := s.post("POST /mcp", 2, bearer("bert")); status != 400 {
				t.Error("then:", status)
			}
		})
	}
}
