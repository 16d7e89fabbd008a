package httpd

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A memoryWriter is a response in memory, which allocates nothing.
type memoryWriter struct {
	header http.Header
	status int
	body   []byte
}

func (w *memoryWriter) Header() http.Header    { return w.header }
func (w *memoryWriter) WriteHeader(status int) { w.status = status }
func (w *memoryWriter) Write(p []byte) (int, error) {
	w.body = append(w.body, p...)
	return len(p), nil
}
func (w *memoryWriter) SetReadDeadline(time.Time) error { return nil }
func (w *memoryWriter) FlushError() error               { return nil }

// request returns a function that has the server answer a request, without a connection. The result contains a text.
func (s *testServer) request(method, params, want string, lines map[string]string) func() {
	body := bytes.NewReader([]byte(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + `}}`))
	r := httptest.NewRequestWithContext(s.t.Context(), "POST", "/mcp", body)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range lines {
		r.Header.Set(name, value)
	}
	r.Body = io.NopCloser(body)
	w := &memoryWriter{header: http.Header{}}
	return func() {
		body.Seek(0, io.SeekStart)
		clear(w.header)
		w.body, w.status = w.body[:0], 0
		s.http.Handler.ServeHTTP(w, r)
		if w.status != 0 || !bytes.Contains(w.body, []byte(want)) {
			s.t.Fatalf("%s: %d %s", method, w.status, w.body)
		}
	}
}

// A quick request starts no script.
type quick struct {
	method string
	most   [2]float64 // allocations of each
	file   string     // a file that the server reads, or ""
	send   [2]func()  // with a session, and stateless
}

func quickRequests(t *testing.T) (list []quick) {
	s := serve(t, map[string]string{
		"tools/a/tool.sh":     "echo x",
		"resources/a.txt":     "the text",
		"prompts/p.txt":       "the text for {{who}}",
		"prompts/p.meta.json": `{"name":"p","description":"d","arguments":[{"name":"who","required":true}]}`,
	}, nil)
	session := map[string]string{"Mcp-Session-Id": s.open("2025-06-18", "").id}
	uri := "file://" + filepath.Join(s.root, "resources/a.txt")
	for _, c := range []struct {
		method, name, params, want, file string
		most                             [2]float64
	}{
		{"tools/list", "", "", `"tools":[`, "", [2]float64{20, 29}},
		{"resources/read", uri, `"uri":"` + uri + `",`, `"text":"the text"`, "resources/a.txt", [2]float64{26, 37}},
		{"prompts/get", "p", `"name":"p","arguments":{"who":"you"},`, `"text":"the text for you"`, "prompts/p.txt",
			[2]float64{29, 35}},
	} {
		q := quick{method: c.method, most: c.most}
		if c.file != "" {
			q.file = filepath.Join(s.root, c.file)
		}
		lines := map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": c.method}
		if c.name != "" {
			lines["Mcp-Name"] = c.name
		}
		q.send[0] = s.request(c.method, strings.TrimSuffix(c.params, ","), c.want, session)
		q.send[1] = s.request(c.method, c.params+`"_meta":{`+meta+`}`, c.want, lines)
		list = append(list, q)
	}
	return list
}

// RES-86: a resource and a text of a prompt that do not change are not opened for each request. inotify counts how
// often they are.
func TestFewOpens(t *testing.T) {
	for _, q := range quickRequests(t) {
		if q.file == "" {
			continue
		}
		opens := opensOf(t, q.file)
		for i, send := range q.send {
			// A file that has changed is opened each time until its change is settled.
			for end := time.Now().Add(patience); ; {
				if send(); opens() == 0 {
					break
				}
				if time.Now().After(end) {
					t.Fatalf("%s %d: each request opens %s", q.method, i, q.file)
				}
			}
		}
	}
}

// opensOf returns a function that returns how often a file was opened since the last call.
func opensOf(t *testing.T, file string) func() int {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Skipf("left out: inotify: %v", err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if _, err := unix.InotifyAddWatch(fd, file, unix.IN_OPEN); err != nil {
		t.Fatal(err)
	}
	return func() int {
		var events [64 * unix.SizeofInotifyEvent]byte
		n, err := unix.Read(fd, events[:])
		if err == unix.EAGAIN {
			return 0
		}
		if err != nil {
			t.Fatal(err)
		}
		return n / unix.SizeofInotifyEvent
	}
}
