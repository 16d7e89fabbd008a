//go:build unix

package httpd

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/engine"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/protocol"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/test/checkout"
	"mcp-bash/test/servertest"
)

// patience is how long a test waits for an event.
const patience = 30 * time.Second

// A testServer serves a project over HTTP in this process.
type testServer struct {
	*Server
	t      testing.TB
	url    string
	client *http.Client
	stderr *servertest.Buffer
	root   string
	lines  headersOf // of all requests, in addition to their own
}

// serve starts a server for a project of these files.
func serve(t testing.TB, files map[string]string, env project.Env, change ...func(*Config)) *testServer {
	t.Helper()
	withHome := project.Env{"MCPBASH_HOME": checkout.Root()}
	maps.Copy(withHome, env)
	p := servertest.New(t, files, withHome)
	log := protocol.NewLog(p.Console, true)
	e := engine.New(engine.Config{
		Project: p.Project, State: p.State, Runner: p.Runner, Home: p.Home, Log: log.Send, Debug: log.Debugging,
		Notice: func(string) {}, Stderr: p.Stderr,
	})
	l, err := Listen(":0", nil)
	if err != nil {
		t.Fatal(err)
	}
	config := Config{
		Context: p.Context, Listener: l, Project: p.Project, Console: p.Console,
		Server: protocol.NewServer(protocol.Config{
			Context: p.Context, Project: p.Project, State: p.State, Engine: e, Console: p.Console, Log: log,
		}),
	}
	for _, f := range change {
		f(&config)
	}
	s := New(config)
	s.Serve()
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() {
		client.CloseIdleConnections()
		_, ended := s.Kill(calls.ErrStopping, true)
		p.Stop(calls.ErrStopping)
		p.Runner.KillAll()
		<-ended
		s.Close()
		config.Server.End(patience)
		p.State.Remove()
	})
	return &testServer{Server: s, t: t, url: l.URL, client: client, stderr: p.Stderr, root: p.Root}
}

// tools returns the files of tools with these scripts.
func tools(scripts map[string]string) map[string]string {
	files := map[string]string{}
	for name, text := range scripts {
		files["tools/"+name+"/tool.sh"] = text + "\n"
		files["tools/"+name+"/tool.meta.json"] = fmt.Sprintf(
			`{"name":%q,"description":"d","inputSchema":{"type":"object","properties":{}}}`, name)
	}
	return files
}

const sourceSDK = `source "$MCP_SDK/tool-sdk.sh"` + "\n"

// headersOf are header lines of a request, "Name: value".
type headersOf []string

// do sends a request. A header of the defaults is left out if it is given as "Name:".
func (s *testServer) do(ctx context.Context, method, body string, lines ...string) *http.Response {
	s.t.Helper()
	url := s.url
	if i := strings.IndexByte(method, ' '); i >= 0 {
		url, method = strings.TrimSuffix(url, "/mcp")+method[i+1:], method[:i]
	}
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for _, line := range slices.Concat(s.lines, lines) {
		name, value, _ := strings.Cut(line, ":")
		if value = strings.TrimSpace(value); value == "" {
			r.Header.Del(name)
		} else {
			r.Header.Add(name, value)
		}
	}
	if body == "" {
		r.Header.Del("Content-Type")
	}
	answer, err := s.client.Do(r)
	if err != nil {
		if ctx.Err() == nil {
			s.t.Fatal(err)
		}
		return nil
	}
	s.t.Cleanup(func() { answer.Body.Close() })
	return answer
}

// text reads a body.
func text(t testing.TB, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(string(b), "\n")
}

// meta is the _meta of a stateless request, without its braces.
const meta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}`

const stateless = "MCP-Protocol-Version: 2026-07-28"

// modern sends a stateless request with the headers that it needs. members are in params, after
// _meta, whose members more adds.
func (s *testServer) modern(ctx context.Context, id, method, members, more string, lines ...string) *http.Response {
	s.t.Helper()
	var params struct{ Name, URI string }
	if members != "" {
		json.Unmarshal([]byte("{"+members+"}"), &params)
		members = "," + members
	}
	if more != "" {
		more = "," + more
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{"_meta":{%s%s}%s}}`, id, method, meta, more,
		members)
	lines = append([]string{stateless, "Mcp-Method: " + method}, lines...)
	if name := params.Name + params.URI; name != "" {
		lines = append(lines, "Mcp-Name: "+name)
	}
	return s.do(ctx, "POST", body, lines...)
}

// A reader reads the events of a stream.
type reader struct {
	t    testing.TB
	b    *bufio.Reader
	last string // the id of the last event

	// changes makes next return list_changed notifications, which can come at any time.
	changes bool
}

func sentEvents(t testing.TB, r *http.Response) *reader {
	t.Helper()
	if kind := r.Header.Get("Content-Type"); r.StatusCode != 200 || kind != "text/event-stream" {
		t.Fatalf("%s, %s: %s", r.Status, kind, text(t, r))
	}
	if r.Header.Get("X-Accel-Buffering") != "no" || r.Header.Get("Cache-Control") != "no-store" {
		t.Error(r.Header)
	}
	return &reader{t: t, b: bufio.NewReader(r.Body)}
}

// block returns the lines of the next event or comment, and false at the end.
func (r *reader) block() (lines []string, ok bool) {
	r.t.Helper()
	for {
		line, err := r.b.ReadString('\n')
		switch line = strings.TrimSuffix(line, "\n"); {
		case err == io.EOF && line == "" && lines == nil:
			return nil, false
		case err != nil:
			r.t.Fatalf("after %q: %v", lines, err)
		case line == "":
			return lines, true
		}
		lines = append(lines, line)
	}
}

// next returns the data of the next event, or "" at the end.
func (r *reader) next() string {
	r.t.Helper()
	for {
		lines, ok := r.block()
		if !ok {
			return ""
		}
		data := ""
		for _, line := range lines {
			if id, found := strings.CutPrefix(line, "id: "); found {
				r.last = id
			}
			if text, found := strings.CutPrefix(line, "data: "); found {
				data = text
			}
		}
		if data != "" && (r.changes || !strings.Contains(data, "/list_changed")) {
			return data
		}
	}
}

// find returns the next event that contains a text.
func (r *reader) find(part string) string {
	r.t.Helper()
	var others []string
	for {
		data := r.next()
		if data == "" {
			r.t.Fatalf("the stream ended before %q: %q", part, others)
		}
		others = append(others, data)
		if strings.Contains(data, part) {
			return data
		}
	}
}

// letters are the characters of the name of a replica.
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// A testSession is a client of the handshake protocol.
type testSession struct {
	*testServer
	id, revision string
}

// open begins a session.
func (s *testServer) open(revision, capabilities string) *testSession {
	s.t.Helper()
	r := s.do(s.t.Context(), "POST", fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":`+
		`{"protocolVersion":%q,"capabilities":{%s},"clientInfo":{"name":"t","version":"1"}}}`, revision, capabilities))
	se := &testSession{s, r.Header.Get("Mcp-Session-Id"), revision}
	random, replica, named := strings.Cut(se.id, ".") // H-32
	if got := text(s.t, r); r.StatusCode != 200 || len(random) != 26 || named != (s.Config.Server.Self().URL != "") ||
		strings.Trim(replica, letters) != "" || !strings.Contains(got,
		`"protocolVersion":"`+revision) {
		s.t.Fatal(r.Status, se.id, got)
	}
	if r := se.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`); r.StatusCode != 202 || text(s.t,
		r) != "" {
		s.t.Fatal(r.Status)
	}
	return se
}

func (se *testSession) request(ctx context.Context, method, body string, lines ...string) *http.Response {
	se.t.Helper()
	return se.do(ctx, method, body, append([]string{"Mcp-Session-Id: " + se.id, "MCP-Protocol-Version: " +
		se.revision}, lines...)...)
}

func (se *testSession) send(body string, lines ...string) *http.Response {
	se.t.Helper()
	return se.request(se.t.Context(), "POST", body, lines...)
}

func (se *testSession) call(id, tool, more string) *http.Response {
	se.t.Helper()
	return se.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q%s}}`, id, tool,
		more))
}

func (se *testSession) listen(lines ...string) *reader {
	se.t.Helper()
	return sentEvents(se.t, se.request(se.t.Context(), "GET", "", append(lines, "Accept: text/event-stream",
		"Accept:")[:len(lines)+1]...))
}

// awaitFile waits until a script has made a file.
func awaitFile(t testing.TB, path string) {
	t.Helper()
	await(t, path, func() bool { _, err := os.Stat(path); return err == nil })
}

// waitAt is a line of a script that waits until a test writes the file, which is a FIFO then. A file that is written
// before it waits counts too.
func waitAt(file string) string {
	return `mkfifo "` + file + `" 2>/dev/null || :; : <"` + file + `"` + "\n"
}

// await waits until a condition is true.
func await(t testing.TB, what string, ok func() bool) {
	t.Helper()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(patience); !ok(); <-ticker.C {
		if time.Now().After(deadline) {
			t.Fatalf("no %s", what)
		}
	}
}

// raw sends bytes over a new connection, and returns the connection.
func (s *testServer) raw(text string) (net.Conn, *bufio.Reader) {
	s.t.Helper()
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(patience))
	io.WriteString(c, text)
	return c, bufio.NewReader(c)
}
