//go:build unix

package serve

import (
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/run/capacity"
	"mcp-bash/pkg/serve/httpd"
	"mcp-bash/test/servertest"
)

// An httpProcess is a server over HTTP that runs in this process.
type httpProcess struct {
	t       *testing.T
	tmp     string
	socket  string
	stderr  *servertest.Buffer
	signals chan os.Signal
	code    chan int
	client  *http.Client
}

// startHTTP serves a project at a socket.
func startHTTP(t *testing.T, root string, env project.Env, change ...func(*Options)) *httpProcess {
	t.Helper()
	p := beginHTTP(t, root, env, change...)
	p.await("a server", func() bool { return strings.Contains(p.stderr.String(), "serving unix:"+p.socket+"\n") })
	return p
}

// beginHTTP is startHTTP without waiting.
func beginHTTP(t *testing.T, root string, env project.Env, change ...func(*Options)) *httpProcess {
	t.Helper()
	os.Mkdir(filepath.Join(root, "server.d"), 0o755)
	dir, err := os.MkdirTemp("", "s") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	p := &httpProcess{
		t: t, tmp: t.TempDir(), socket: filepath.Join(dir, "mcp.sock"), stderr: &servertest.Buffer{},
		signals: make(chan os.Signal, 2), code: make(chan int, 1),
	}
	full := project.Env{
		"PATH": os.Getenv("PATH"), "HOME": p.tmp, "TMPDIR": p.tmp, "MCPBASH_PROJECT_ROOT": root,
		"MCPBASH_TOOL_ALLOWLIST": "*",
	}
	for name, value := range env {
		full[name] = value
	}
	home, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	full["MCPBASH_HOME"] = home
	p.client = &http.Client{Transport: &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", p.socket) },
	}}
	o := Options{
		Env: full, Dir: root, Tree: func() project.Tree { return nil }, Stderr: p.stderr, Signals: p.signals,
		HTTP: &httpd.Options{Addr: "unix:" + p.socket},
	}
	for _, f := range change {
		f(&o)
	}
	ended := make(chan struct{})
	go func() {
		p.code <- Serve(o)
		close(ended)
	}()
	t.Cleanup(func() { // before the directories are removed
		for range cap(p.signals) {
			select {
			case p.signals <- syscall.SIGTERM:
			default:
			}
		}
		<-ended
	})
	return p
}

func (p *httpProcess) await(what string, ok func() bool) {
	p.t.Helper()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(patience); !ok(); <-ticker.C {
		if time.Now().After(deadline) {
			p.t.Fatalf("no %s: %s", what, p.stderr)
		}
	}
}

// post sends a message, and returns the response and its body.
func (p *httpProcess) post(body string, headers map[string]string) (*http.Response, string) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), "POST", "http://x/mcp", strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	answer, err := p.client.Do(r)
	if err != nil {
		return &http.Response{}, err.Error()
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		p.t.Error(err)
	}
	return answer, string(text)
}

// call calls a tool in the stateless protocol, and returns the status and the body.
func (p *httpProcess) call(tool string) (int, string) {
	p.t.Helper()
	answer, body := p.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","_meta":{`+
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool})
	return answer.StatusCode, body
}

// openSession returns the headers of a new session in the handshake protocol.
func (p *httpProcess) openSession() map[string]string {
	p.t.Helper()
	answer, body := p.post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",`+
		`"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, nil)
	headers := map[string]string{"Mcp-Session-Id": answer.Header.Get("Mcp-Session-Id")}
	if headers["Mcp-Session-Id"] == "" {
		p.t.Fatal(answer.Status, body)
	}
	p.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, headers)
	return headers
}

// ended waits for the end, checks the exit code, and that no file is left.
func (p *httpProcess) ended(code int) {
	p.t.Helper()
	select {
	case got := <-p.code:
		if got != code {
			p.t.Errorf("exit code %d: %s", got, p.stderr)
		}
	case <-time.After(patience):
		p.t.Fatal("the server goes on")
	}
	if _, err := os.Lstat(p.socket); err == nil {
		p.t.Error("the socket stays")
	}
	left, err := filepath.Glob(filepath.Join(p.tmp, "mcpbash.*"))
	if len(left) > 0 || err != nil {
		p.t.Error(left, err)
	}
}

const helloMeta = `{"name":"hello","description":"d","inputSchema":{"type":"object"}}`

// H-2, H-3, H-60, H-61: the socket is private, a signal lets running requests finish, and nothing is
// left.
func TestHTTPDrains(t *testing.T) {
	dir := t.TempDir()
	p := startHTTP(t, files(t, map[string]string{
		"tools/hello/tool.sh":        "touch " + dir + "/began; " + waitAt(dir+"/go") + "echo hi",
		"tools/hello/tool.meta.json": helloMeta,
	}), nil)
	if info, err := os.Stat(p.socket); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	if _, err := httpd.Listen("unix:"+p.socket, nil); err == nil || !strings.Contains(err.Error(), "another server") {
		t.Error(err)
	}
	answered := make(chan string, 1)
	go func() {
		_, body := p.call("hello")
		answered <- body
	}()
	p.await("call", func() bool { _, err := os.Stat(dir + "/began"); return err == nil })
	p.signals <- syscall.SIGTERM
	p.await("end of accepting", func() bool { c, err := net.Dial("unix", p.socket); closeAll(c); return err != nil })
	openGate(t, dir+"/go")
	if got := <-answered; !strings.Contains(got, `hi\n`) {
		t.Error(got)
	}
	p.ended(143)
}

// P-1309: messages about the project are in the operator's log, whether or not a client gets them.
func TestHTTPOperatorsLog(t *testing.T) {
	root := files(t, map[string]string{"tools/hello/tool.sh": "echo hi", "tools/hello/tool.meta.json": helloMeta})
	p := startHTTP(t, root, project.Env{"MCPBASH_REGISTRY_TTL": "0"})
	headers := p.openSession()
	if err := os.WriteFile(filepath.Join(root, "tools/hello/tool.meta.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, body := p.post(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, headers)
	p.await("warning", func() bool {
		return strings.Contains(p.stderr.String(), "mcp-bash: warning: mcp.tools: tools/hello/tool.meta.json")
	})
	if strings.Contains(body, "error") {
		t.Error(body)
	}
	p.signals <- syscall.SIGTERM
	p.ended(143)
}

// T-137: over HTTP, standard error of scripts goes to the operator by default, and to clients if a setting permits it.
func TestHTTPStderr(t *testing.T) {
	for target, want := range map[string]struct{ client, log bool }{
		"": {log: true}, "auto": {log: true}, "log": {log: true}, "client": {client: true}, "both": {true, true},
	} {
		p := startHTTP(t, files(t, map[string]string{
			"tools/hello/tool.sh": "echo note >&2; echo hi", "tools/hello/tool.meta.json": helloMeta,
		}), project.Env{"MCPBASH_TOOL_STDERR": target})
		_, body := p.call("hello")
		if !strings.Contains(body, `hi\n`) || strings.Contains(body, `"stderr":"note"`) != want.client {
			t.Errorf("%q: %s", target, body)
		}
		p.signals <- syscall.SIGTERM
		p.ended(143)
		if logged := strings.Contains(p.stderr.String(), "mcp-bash: tool 'hello': note\n"); logged != want.log {
			t.Errorf("%q: %s", target, p.stderr)
		}
	}
}

// H-5, T-22: a server whose list allows no tool prints so at the start. Its clients get no advice about their
// configuration, since they did not start it.
func TestHTTPWithoutAllowList(t *testing.T) {
	const notice = "mcp-bash: no tool can be called, since MCPBASH_TOOL_ALLOWLIST names none\n" +
		"set it in the environment of this server to names of tools, or to * for all\n"
	for name, c := range map[string]struct {
		env    project.Env
		policy string
		notice bool
		answer string
	}{
		"none":        {project.Env{"MCPBASH_TOOL_ALLOWLIST": ""}, "", true, "(not in MCPBASH_TOOL_ALLOWLIST)"},
		"no names":    {project.Env{"MCPBASH_TOOL_ALLOWLIST": ","}, "", true, "(not in MCPBASH_TOOL_ALLOWLIST)"},
		"another":     {project.Env{"MCPBASH_TOOL_ALLOWLIST": "x"}, "", false, "(not in MCPBASH_TOOL_ALLOWLIST)"},
		"its policy":  {project.Env{"MCPBASH_TOOL_ALLOWLIST": ""}, "return 0", false, `hi\n`},
		"all allowed": {project.Env{"MCPBASH_TOOL_ALLOWLIST": "", "MCPBASH_TOOL_ALLOW_DEFAULT": "allow"}, "", false, `hi\n`},
	} {
		project := map[string]string{"tools/hello/tool.sh": "echo hi", "tools/hello/tool.meta.json": helloMeta}
		if c.policy != "" {
			project["server.d/policy.sh"] = "mcp_tools_policy_check() { " + c.policy + "; }\n"
		}
		p := startHTTP(t, files(t, project), c.env)
		if _, body := p.call("hello"); !strings.Contains(body, c.answer) || strings.Contains(body, "client config") {
			t.Errorf("%s: %s", name, body)
		}
		p.signals <- syscall.SIGTERM
		p.ended(143)
		if got := strings.Contains(p.stderr.String(), notice); got != c.notice {
			t.Errorf("%s: %s", name, p.stderr)
		}
	}
}

// H-14: the header of a request reaches the tool, in both protocols and in batches.
func TestHTTPTraceContext(t *testing.T) {
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	p := startHTTP(t, files(t, map[string]string{
		"tools/hello/tool.sh": `echo "<$TRACEPARENT $TRACESTATE $BAGGAGE>"`, "tools/hello/tool.meta.json": helloMeta,
	}), project.Env{"MCPBASH_COMPAT_BATCHES": "true"})
	trace := map[string]string{"Traceparent": parent, "Tracestate": "a=1", "Baggage": "k=v"}
	stateless := map[string]string{
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "hello",
	}
	const call = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"hello"}}`
	session := p.openSession()
	const newest = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hello","_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	for body, headers := range map[string]map[string]string{
		newest: stateless, call: session, "[" + call + "]": session,
	} {
		all := maps.Clone(headers)
		if _, got := p.post(body, all); !strings.Contains(got, `<  >`) {
			t.Errorf("without: %s", got)
		}
		maps.Copy(all, trace)
		if _, got := p.post(body, all); !strings.Contains(got, "<"+parent+" a=1 k=v>") {
			t.Errorf("%s: %s", body, got)
		}
	}
	p.signals <- syscall.SIGTERM
	p.ended(143)
}

func closeAll(c net.Conn) {
	if c != nil {
		c.Close()
	}
}

// H-61: a request that takes longer than the limit is ended with 503, and so is any request at the
// second signal.
func TestHTTPDrainLimit(t *testing.T) {
	for _, c := range []struct {
		limit  string
		second bool
	}{{"1", false}, {"60", true}, {"0", false}} {
		dir := t.TempDir()
		p := startHTTP(t, files(t, map[string]string{
			"tools/hello/tool.sh":        "touch " + dir + "/began; sleep 60",
			"tools/hello/tool.meta.json": helloMeta,
		}), project.Env{"MCPBASH_HTTP_DRAIN": c.limit})
		type result struct {
			status int
			body   string
		}
		answered := make(chan result, 1)
		go func() {
			status, body := p.call("hello")
			answered <- result{status, body}
		}()
		p.await("call", func() bool { _, err := os.Stat(dir + "/began"); return err == nil })
		p.signals <- syscall.SIGTERM
		if c.second {
			p.await("end of accepting", func() bool { c, err := net.Dial("unix", p.socket); closeAll(c); return err != nil })
			p.signals <- syscall.SIGTERM
		}
		if got := <-answered; got.status == 200 || got.status != 503 && c.limit == "1" {
			t.Errorf("limit %s: %d %s", c.limit, got.status, got.body)
		}
		p.ended(143)
	}
}

// H-2: an unusable setting ends the start.
func TestHTTPSettings(t *testing.T) {
	for name, value := range map[string]string{
		"MCPBASH_HTTP_DRAIN": "1s", "MCPBASH_HTTP_KEEPALIVE": "-1", "MCPBASH_HTTP_MAX_BODY": "0",
		"MCPBASH_HTTP_TRUST_CLIENT_ROOTS": "yes",
	} {
		stderr := &servertest.Buffer{}
		code := Serve(Options{
			Env: project.Env{"MCPBASH_PROJECT_ROOT": files(t, map[string]string{"server.d/x": ""}), name: value},
			Dir: t.TempDir(), Tree: func() project.Tree { return nil }, Stderr: stderr, Signals: make(chan os.Signal),
			HTTP: &httpd.Options{Addr: ":0"},
		})
		if code != 1 || !strings.HasPrefix(stderr.String(), "mcp-bash: serve --http: "+name) {
			t.Error(name, code, stderr)
		}
	}
}

// H-2, H-3: an address that cannot be opened ends the start.
func TestHTTPAddress(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	os.WriteFile(file, nil, 0o644)
	for _, addr := range []string{"unix:" + file, "127.0.0.1:x", "unix:/nowhere/s", "a:b:c"} {
		stderr := &servertest.Buffer{}
		code := Serve(Options{
			Env: project.Env{"MCPBASH_PROJECT_ROOT": files(t, map[string]string{"server.d/x": ""})}, Dir: t.TempDir(),
			Tree: func() project.Tree { return nil }, Stderr: stderr, Signals: make(chan os.Signal),
			HTTP: &httpd.Options{Addr: addr},
		})
		if code != 1 || !strings.HasPrefix(stderr.String(), "mcp-bash: serve --http: ") {
			t.Error(addr, code, stderr)
		}
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

// P-1807, H-223: the limits follow from what the system allows, and the start reports them. More idle connections than
// the derived limit keep no client out.
func TestLimitsOfTheSystem(t *testing.T) {
	p := startHTTP(t, files(t, map[string]string{
		"tools/hello/tool.sh":        "#!/bin/sh\nhead -c 300000 /dev/zero | tr '\\0' x\n",
		"tools/hello/tool.meta.json": `{"name":"hello","description":"d","inputSchema":{"type":"object"}}`,
	}), project.Env{"MCPBASH_HTTP_MAX_STREAMS": "4000", "MCPBASH_LARGE_RESULT_BYTES": "1000"}, func(o *Options) {
		o.Capacity = func(dir string) capacity.Capacity {
			if dir != o.Env["TMPDIR"] {
				t.Errorf("the space of %s", dir)
			}
			return capacity.Capacity{Files: 100, Temp: capacity.Space{Dir: dir, Free: 1 << 20}}
		}
	})
	for _, want := range []string{
		"mcp-bash: MCPBASH_HTTP_MAX_STREAMS is 4000, but this system allows 25 (100 open files, ulimit -n); 25 applies\n",
		"mcp-bash: limits of this system: MCPBASH_MAX_CONCURRENT_REQUESTS=1, MCPBASH_HTTP_MAX_CONNECTIONS=8 " +
			"(100 open files, ulimit -n); MCPBASH_LARGE_RESULT_SERVER_BYTES=524288 (1.0M free in " + p.tmp + ")\n",
	} {
		if !strings.Contains(p.stderr.String(), want) {
			t.Errorf("%s\nwant %s", p.stderr, want)
		}
	}
	var idle []net.Conn
	for range 30 {
		c, err := net.Dial("unix", p.socket)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		idle = append(idle, c)
	}
	// A stored result may have a quarter of the stored bytes, so this one is too large.
	if status, body := p.call("hello"); status != 200 || !strings.Contains(body, "output_too_large") {
		t.Errorf("%d %.2000s", status, body)
	}
	idle[0].SetReadDeadline(time.Now().Add(patience))
	if n, err := idle[0].Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the oldest connection stays: %d %v", n, err)
	}
	p.signals <- syscall.SIGTERM
	p.ended(128 + int(syscall.SIGTERM))
}
