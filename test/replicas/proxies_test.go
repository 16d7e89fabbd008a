//go:build unix

package replicas

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A proxy is a balancer that operators use. Its configuration is the one in docs/DEPLOY.md.
type proxy struct {
	program string
	args    []string // before the file
	before  string   // the rest of a configuration, with %s for a directory
	after   string
	front   string // how the configuration names a socket file, with %s for it; in place of the port
}

var proxies = []proxy{{
	program: "nginx", args: []string{"-e", "stderr", "-c"}, front: "listen unix:%s;",
	before: `daemon off; pid %[1]s/pid; error_log stderr error;
events { worker_connections 256; }
http {
  access_log off;
  client_body_temp_path %[1]s/1; proxy_temp_path %[1]s/2; fastcgi_temp_path %[1]s/3; uwsgi_temp_path %[1]s/4;
  scgi_temp_path %[1]s/5;
`, after: "}\n",
}, {
	program: "haproxy", args: []string{"-db", "-f"}, front: "bind %s", before: "global\n  maxconn 256\n",
}}

// documented returns the configuration of a program in docs/DEPLOY.md.
func documented(t *testing.T, program string) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/DEPLOY.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "\n```"+program+"\n")
	text, _, ok := strings.Cut(text, "\n```\n")
	if !ok {
		t.Fatalf("docs/DEPLOY.md has no configuration of %s", program)
	}
	return text + "\n"
}

// configure returns the configuration for the replicas of a cluster, whose clients connect to a socket file.
func (p *proxy) configure(t *testing.T, c *cluster, dir, socket string) string {
	t.Helper()
	text := documented(t, p.program)
	replaced := func(old, now string) {
		t.Helper()
		if strings.Count(text, old) != 1 {
			t.Fatalf("%q is not once in the configuration of %s", old, p.program)
		}
		text = strings.Replace(text, old, now, 1)
	}
	for n, addr := range c.addrs {
		replaced(fmt.Sprintf("10.0.0.%d:8000", n+1), addr)
	}
	port, _, _ := strings.Cut(p.front, " ")
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), port+" ") {
			replaced(strings.TrimSpace(line), fmt.Sprintf(p.front, socket))
			break
		}
	}
	before := p.before
	if strings.Contains(before, "%[1]s") {
		before = fmt.Sprintf(before, dir)
	}
	return before + text + p.after
}

// start starts the proxy in front of a cluster, and returns a client whose connections lead to it.
func (p *proxy) start(t *testing.T, c *cluster) *http.Client {
	t.Helper()
	path, err := exec.LookPath(p.program)
	if err != nil {
		if path, err = exec.LookPath("/usr/sbin/" + p.program); err != nil {
			t.Skipf("left out: %s is not installed", p.program)
		}
	}
	dir, err := os.MkdirTemp("", "proxy") // a short path for the socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket, file := filepath.Join(dir, "s"), filepath.Join(dir, "config")
	if err := os.WriteFile(file, []byte(p.configure(t, c, dir, socket)), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, append(p.args, file)...)
	var messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &messages, &messages
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
		if t.Failed() {
			t.Logf("%s: %s", p.program, &messages)
		}
	})
	client := &http.Client{Transport: transport, Timeout: patience}
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		answer, err := client.Get(front + "/readyz")
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return client
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is not ready: %v\n%s", p.program, err, &messages)
		}
	}
}

// front is the address of requests over the connections of a proxy. A replica accepts its host.
const front = "http://localhost"

// A session is a client of the handshake protocol.
type session struct {
	t      *testing.T
	client *http.Client
	id     string
}

// do sends a request of the session.
func (s *session) do(ctx context.Context, method, url, body string) *http.Response {
	s.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, url+"/mcp", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if s.id != "" {
		r.Header.Set("Mcp-Session-Id", s.id)
	}
	answer, err := s.client.Do(r)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, body, err)
	}
	return answer
}

// status sends a request, and returns the status of the answer.
func (s *session) status(method, body string) int {
	s.t.Helper()
	answer := s.do(s.t.Context(), method, front, body)
	answer.Body.Close()
	return answer.StatusCode
}

// begin begins a session over one client, and returns it for another one.
func begin(t *testing.T, over *http.Client, url string, client *http.Client) *session {
	t.Helper()
	s := &session{t: t, client: over}
	answer := s.do(t.Context(), "POST", url, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{`+
		`"protocolVersion":"2025-06-18","capabilities":{"elicitation":{},"roots":{"listChanged":true}},`+
		`"clientInfo":{"name":"t","version":"1"}}}`)
	answer.Body.Close()
	s.client = client
	if s.id = answer.Header.Get("Mcp-Session-Id"); answer.StatusCode != http.StatusOK || s.id == "" {
		t.Fatalf("initialize: %s", answer.Status)
	}
	status := s.status("POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if status != http.StatusAccepted {
		t.Fatalf("initialized: %d", status)
	}
	return s
}

// event returns the next message of a stream that contains a text, and its id.
func event(t *testing.T, from *bufio.Reader, text string) (id int) {
	t.Helper()
	for {
		line, err := from.ReadString('\n')
		if err != nil {
			t.Fatalf("before %s: %v", text, err)
		}
		data, ok := strings.CutPrefix(line, "data: ")
		var message struct{ ID int }
		if ok && strings.Contains(data, text) {
			json.Unmarshal([]byte(data), &message)
			return message.ID
		}
	}
}

// use opens the stream of a session, answers a question on it, and calls a tool that asks.
func (s *session) use(number int) {
	s.t.Helper()
	own := s.do(s.t.Context(), "GET", front, "")
	defer own.Body.Close()
	if own.StatusCode != http.StatusOK {
		s.t.Fatalf("the stream of a session: %s", own.Status)
	}
	id := event(s.t, bufio.NewReader(own.Body), "roots/list")
	s.answer(id, `{"roots":[]}`)
	asked := s.do(s.t.Context(), "POST", front, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":`+
		`{"name":"ask","arguments":{"n":%d}}}`, number, number))
	defer asked.Body.Close()
	lines := bufio.NewReader(asked.Body)
	id = event(s.t, lines, "elicitation/create")
	s.answer(id, fmt.Sprintf(`{"action":"accept","content":{"value":"word %d"}}`, number))
	if got := event(s.t, lines, fmt.Sprintf("word %d", number)); got != number {
		s.t.Errorf("the answer to %d, not to %d", got, number)
	}
}

// answer answers a question.
func (s *session) answer(id int, result string) {
	s.t.Helper()
	if status := s.status("POST", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, id, result)); status !=
		http.StatusAccepted {
		s.t.Errorf("an answer: %d", status)
	}
}

const ping = `{"jsonrpc":"2.0","id":9,"method":"ping"}`

// H-33, H-504: sessions and stateless calls work through nginx and HAProxy as DEPLOY configures them: in turn, and over
// kept connections. When a replica is killed, its sessions are 404, and the others go on.
func TestProxies(t *testing.T) {
	t.Parallel()
	for _, p := range proxies {
		t.Run(p.program, func(t *testing.T) {
			t.Parallel()
			testProxy(t, p)
		})
	}
}

func testProxy(t *testing.T, p proxy) {
	c := newCluster(t)
	for n := range size {
		c.start(n)
	}
	client := p.start(t, c)
	var at []*session // by the replica
	for n := range size {
		s := begin(t, client, front, client)
		s.use(n)
		if status := s.status("DELETE", ""); status != http.StatusNoContent {
			t.Errorf("DELETE: %d", status)
		}
		for range size {
			if status := s.status("POST", ping); status != http.StatusNotFound {
				t.Errorf("an ended session: %d", status)
			}
		}
		direct := begin(t, c.client, "http://"+c.addrs[n], client)
		direct.use(100 + n)
		at = append(at, direct)
	}
	c.client = client
	for n := 10; n < 20; n++ {
		arguments := fmt.Sprintf(`"arguments":{"n":%d}`, n)
		a := c.callAt(front+"/mcp", n, "ask", arguments)
		a = c.callAt(front+"/mcp", n, "ask", arguments+`,"requestState":"`+a.state+
			fmt.Sprintf(`","inputResponses":{"input-1":{"action":"accept","content":{"value":"word %d"}}}`, n))
		if !strings.Contains(a.text, fmt.Sprintf("word %d", n)) {
			t.Errorf("a stateless call: %+v", a)
		}
	}
	c.stop(0, syscall.SIGKILL)
	for range 2 * size { // so at each replica
		for n, s := range at {
			want := map[bool]int{true: http.StatusNotFound, false: http.StatusOK}[n == 0]
			if status := s.status("POST", ping); status != want {
				t.Errorf("a session of replica %d: %d, want %d", n, status, want)
			}
		}
	}
	for n := range size {
		begin(t, client, front, client).use(200 + n)
	}
}
