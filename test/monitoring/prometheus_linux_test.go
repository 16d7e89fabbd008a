package monitoring

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/auth/tokenfile"
	"mcp-bash/test/checkout"
)

// A server has low limits. Ada and bob may use it.
type server struct {
	*testing.T
	process *os.Process
	url     string
	metrics string // their address
	tokens  map[string]string
}

func startServer(t *testing.T) *server {
	t.Helper()
	dir, bin := checkout.Directory(t), checkout.Directory(t)
	if err := checkout.Build(bin, "mcp-bash/cmd/mcp-bash"); err != nil {
		t.Fatal(err)
	}
	meta := `{"name":"NAME","description":"d","inputSchema":{"type":"object"}}`
	files := map[string]string{
		"server.d/server.meta.json": `{"name":"shop"}`, "audit/.keep": "",
		"tools/confined/tool.meta.json": `{"name":"confined","description":"d","inputSchema":{"type":"object"},` +
			`"capabilities":["Search"]}`,
	}
	for name, script := range map[string]string{
		"hello": "echo hello", "confined": "echo safe", "broken": "exit 3",
		"wait": "read -r line <" + dir + "/gate",
	} {
		if files["tools/"+name+"/tool.meta.json"] == "" {
			files["tools/"+name+"/tool.meta.json"] = strings.Replace(meta, "NAME", name, 1)
		}
		files["tools/"+name+"/tool.sh"] = "#!/usr/bin/env bash\n" + script + "\n"
	}
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := checkout.WriteProgram(file, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo(filepath.Join(dir, "gate"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &server{T: t, tokens: map[string]string{"mallory": "guess"}}
	for _, name := range []string{"ada", "bob"} {
		token, err := tokenfile.Create(t.Context(), filepath.Join(dir, "tokens.json"), tokenfile.Token{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		s.tokens[name] = token
	}
	cmd := exec.Command(filepath.Join(bin, "mcp-bash"), "serve", "--http", "127.0.0.1:0", "--metrics", "127.0.0.1:0",
		"--token-file", "tokens.json")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "MCPBASH_PROJECT_ROOT="+dir, "MCPBASH_TOOL_ALLOWLIST=*",
		"MCPBASH_AUDIT=audit", "MCPBASH_AUDIT_MODE=required", "MCPBASH_HTTP_AUTH_FAILURES=0", "MCPBASH_HTTP_RATE=0",
		"MCPBASH_MAX_CONCURRENT_REQUESTS=2", "MCPBASH_HTTP_MAX_SESSIONS=10")
	found := start(t, cmd, `(?s)metrics at http://(\S+)/metrics.*serving (http://\S+)`)
	s.metrics, s.url, s.process = found[1], found[2], cmd.Process
	return s
}

// send sends a request of a caller, and returns the response without its content. The session may be empty.
func (s *server) send(ctx context.Context, method, caller, session, body string) (status int, header http.Header) {
	request, err := http.NewRequestWithContext(ctx, method, s.url, strings.NewReader(body))
	if err != nil {
		s.Error(err)
		return 0, nil
	}
	request.Header.Set("Authorization", "Bearer "+s.tokens[caller])
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	request.Header.Set("MCP-Protocol-Version", "2025-11-25")
	if session != "" {
		request.Header.Set("Mcp-Session-Id", session)
	}
	if session == "" && method == "POST" && strings.Contains(body, "tools/call") {
		request.Header.Set("MCP-Protocol-Version", "2026-07-28")
		request.Header.Set("Mcp-Method", "tools/call")
		request.Header.Set("Mcp-Name", nameOf.FindStringSubmatch(body)[1])
	}
	r, err := http.DefaultClient.Do(request)
	if err != nil {
		if ctx.Err() == nil {
			s.Error(err)
		}
		return 0, nil
	}
	defer r.Body.Close()
	io.Copy(io.Discard, r.Body)
	return r.StatusCode, r.Header
}

var nameOf = regexp.MustCompile(`"name":"([^"]*)"`)

// call calls a tool without a session.
func (s *server) call(ctx context.Context, caller, tool string) (status int) {
	status, _ = s.send(ctx, "POST", caller, "", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+
		`","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`)
	return status
}

// session begins a session.
func (s *server) session(caller string) (id string) {
	_, header := s.send(s.Context(), "POST", caller, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{`+
		`"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	return header.Get("Mcp-Session-Id")
}

// firing returns the alerts that fire. A rule that cannot be evaluated fails the test.
func (d *Database) firing() (names []string, evaluated bool) {
	d.Helper()
	var answer struct {
		Data struct {
			Groups []struct {
				Rules []struct{ Name, State, Health, LastError string }
			}
		}
	}
	d.get("rules?type=alert", &answer)
	for _, g := range answer.Data.Groups {
		for _, r := range g.Rules {
			if r.LastError != "" {
				d.Errorf("%s: %s", r.Name, r.LastError)
			}
			if r.State == "firing" {
				names = append(names, r.Name)
			}
			evaluated = r.Health == "ok"
		}
	}
	return names, evaluated
}

// A Prometheus that scrapes a server has a value for each query of the dashboard, and each alert fires for its reason
// only.
func TestPrometheus(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes half a minute")
	}
	Program(t, "prometheus")
	s := startServer(t)
	d := StartPrometheus(t, "scrape_configs: [{job_name: mcp-bash, static_configs: [{targets: ['"+s.metrics+"']}]}]\n")
	calls := 0
	work := func() {
		for _, tool := range []string{"hello", "confined"} {
			if status := s.call(t.Context(), "ada", tool); status != http.StatusOK {
				t.Fatalf("%s: %d", tool, status)
			}
		}
		s.send(t.Context(), "DELETE", "ada", s.session("ada"), "")
		calls++
	}
	d.AnswersDashboard(work)
	Eventually(t, "the number of calls", func() bool {
		return slices.Equal(d.Values(`mcp_server_operation_duration_seconds_count{gen_ai_tool_name="hello"}`),
			[]float64{float64(calls)})
	})
	if got := d.Values("max_over_time(mcpbash_confinement_threads[5m])"); len(got) != 1 || got[0] < 1 {
		t.Errorf("confined threads: %v", got)
	}
	Eventually(t, "the rules are evaluated", func() bool {
		names, evaluated := d.firing()
		if len(names) > 0 {
			t.Fatalf("without a reason: %s", names)
		}
		return evaluated
	})
	seen := map[string]bool{}
	raises := func(name string, trouble func()) {
		t.Helper()
		Eventually(t, name, func() bool {
			trouble()
			names, _ := d.firing()
			for _, n := range names {
				seen[n] = true
			}
			return slices.Contains(names, name)
		})
	}
	raiseAll(s, raises)
	rules, err := os.ReadFile(filepath.Join(Folder(), "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if all := bytes.Count(rules, []byte("- alert:")); all != len(seen) {
		t.Errorf("%d of %d alerts fired", len(seen), all)
	}
}

// raiseAll makes the trouble for each alert.
func raiseAll(s *server, raises func(name string, trouble func())) {
	raises("McpBashCredentials", func() {
		for range 50 {
			s.call(s.Context(), "mallory", "hello")
		}
	})
	raises("McpBashFailures", func() { s.call(s.Context(), "bob", "broken") })
	raises("McpBashNearLimit", func() {
		for i := range 10 {
			s.session([]string{"ada", "bob"}[i%2])
		}
	})
	waiting, end := context.WithCancel(s.Context())
	for range 14 {
		go s.call(waiting, "bob", "wait")
	}
	raises("McpBashQueue", func() {})
	end()
	// A limit on the size of files is like a full disk.
	var was, none unix.Rlimit
	if err := unix.Prlimit(s.process.Pid, unix.RLIMIT_FSIZE, nil, &was); err != nil {
		s.Fatal(err)
	}
	none.Max = was.Max
	if err := unix.Prlimit(s.process.Pid, unix.RLIMIT_FSIZE, &none, nil); err != nil {
		s.Fatal(err)
	}
	refused := func() { s.call(s.Context(), "ada", "hello") }
	raises("McpBashRecordMissed", refused)
	raises("McpBashServerErrors", refused)
	if err := s.process.Kill(); err != nil {
		s.Fatal(err)
	}
	raises("McpBashDown", func() {})
}
