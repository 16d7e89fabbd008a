//go:build unix

package clients

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcp-bash/test/checkout"
)

// An opening describes the server to start and its client.
type opening struct {
	binary   string            // default: the one built
	env      map[string]string // added to the usual variables; an empty value stays empty
	client   mcp.ClientOptions
	roots    []string
	revision string // default 2025-11-25; with overHTTP at its end, the client connects over HTTP
	killed   bool   // the server will not end in good order
	// unprivileged runs the server as an ordinary user, also if the tests run as root.
	unprivileged bool
}

// A session is a client and its server. It ends with the test, which fails if
// anything was wrong with it.
type session struct {
	*mcp.ClientSession
	t        *testing.T
	tap      *tap
	client   *mcp.Client
	protocol string // the revision it speaks
	level    string // of log messages, which each stateless request carries
	tmp      string // TMPDIR of the server
	progress chan *mcp.ProgressNotificationParams
	logs     chan *mcp.LoggingMessageParams
}

// open starts a server for a project.
func open(t *testing.T, project string, o opening) *session {
	t.Helper()
	s := &session{
		t: t, tmp: checkout.Directory(t),
		progress: make(chan *mcp.ProgressNotificationParams, 1000), logs: make(chan *mcp.LoggingMessageParams, 1000),
	}
	if o.binary == "" {
		o.binary = filepath.Join(bin, "mcp-bash")
	}
	revision, http := strings.CutSuffix(o.revision, overHTTP)
	cmd := exec.Command(o.binary)
	if o.revision = revision; http {
		cmd.Args = append(cmd.Args, "serve", "--http", "127.0.0.1:0")
		o.env = maps.Clone(o.env)
		if o.env == nil {
			o.env = map[string]string{}
		}
		o.env["MCPBASH_HTTP_TRUST_CLIENT_ROOTS"] = "true"
	}
	if o.unprivileged {
		cmd.SysProcAttr = s.asNobody(o.binary)
		o.env["XDG_CACHE_HOME"] = filepath.Join(s.tmp, "cache")
	}
	cmd.Dir, cmd.Env = s.tmp, environment(project, s.tmp, o.env)
	s.tap = newTap(cmd)
	s.tap.http = http

	o.client.ProgressNotificationHandler = func(_ context.Context,
		r *mcp.ProgressNotificationClientRequest) {
		s.progress <- r.Params
	}
	o.client.LoggingMessageHandler = func(_ context.Context, r *mcp.LoggingMessageRequest) { s.logs <- r.Params }
	s.client = mcp.NewClient(&mcp.Implementation{Name: "clients-test", Version: "1"}, &o.client)
	for _, root := range o.roots {
		s.client.AddRoots(&mcp.Root{URI: "file://" + root, Name: filepath.Base(root)})
	}
	if o.revision == "" {
		o.revision = "2025-11-25"
	}
	s.protocol = o.revision
	cs, err := s.client.Connect(s.deadline(), s.tap, &mcp.ClientSessionOptions{ProtocolVersion: o.revision})
	if err != nil {
		if cmd.Process != nil {
			cmd.Process.Kill()
			<-s.tap.ended
		}
		t.Fatalf("connecting: %v\n%s", err, &s.tap.stderr)
	}
	s.ClientSession = cs
	t.Cleanup(func() { s.end(o.killed) })
	return s
}

// environment returns the environment of a server, without variables of the test.
func environment(project, tmp string, more map[string]string) []string {
	env := map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": tmp, "TMPDIR": tmp, "LANG": "C",
		"XDG_CACHE_HOME":       filepath.Join(bin, "cache"), // shared: the SDK is unpacked once
		"MCPBASH_PROJECT_ROOT": project, "MCPBASH_TOOL_ALLOWLIST": "*",
	}
	if checkout.Race { // else each end of the program takes a second more
		env["GORACE"] = "atexit_sleep_ms=0"
		env["MCPBASH_TOOL_ENV_MODE"], env["MCPBASH_TOOL_ENV_ALLOWLIST"] = "allowlist", "GORACE MCP_DOWNLOAD_CONFIG"
	}
	for name, value := range more {
		env[name] = value
	}
	var list []string
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	return list
}

// end closes the session and checks the server's exit (P-903, P-906), its
// lines (P-405) and its leftover files (P-302).
func (s *session) end(killed bool) {
	if err := s.Close(); err != nil && !killed {
		s.t.Errorf("closing: %v", err)
	}
	if s.tap.http {
		s.tap.cmd.Process.Signal(syscall.SIGTERM)
	}
	<-s.tap.ended
	if s.tap.exit != nil && !killed {
		s.t.Errorf("the server ended with %v", s.tap.exit)
	}
	for _, fault := range s.tap.faults {
		s.t.Errorf("a line of the server: %v", fault)
	}
	if log := s.tap.stderr.String(); strings.Contains(log, "DATA RACE") || strings.Contains(log, "panic:") ||
		strings.Contains(log, "goroutine ") {
		s.t.Errorf("the server printed:\n%s", log)
	}
	if left := leftovers(s.t, s.tmp); len(left) > 0 && !killed {
		s.t.Errorf("the server left behind %q", left)
	}
	if s.t.Failed() {
		s.t.Logf("stderr of the server:\n%s\nlines of the server:\n%s", &s.tap.stderr, strings.Join(s.tap.lines, ""))
	}
}

// leftovers returns the directories that a server should have removed. The SDK stays if the server unpacked it
// there because it had no cache directory (P-102).
func leftovers(t *testing.T, tmp string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(tmp, "mcpbash.*"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(list, func(dir string) bool {
		return strings.HasPrefix(filepath.Base(dir),
			"mcpbash.home.")
	})
}

// deadline is a context for one thing that must happen.
func (s *session) deadline() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	s.t.Cleanup(cancel)
	return ctx
}

// arguments of a tool.
type arguments map[string]any

// call calls a tool that must answer with a result, asking for progress.
func (s *session) call(name string, args arguments) *mcp.CallToolResult {
	s.t.Helper()
	result, err := s.request(s.deadline(), name, args)
	if err != nil {
		s.t.Fatalf("%s: %v", name, err)
	}
	return result
}

func (s *session) request(ctx context.Context, name string, args arguments) (*mcp.CallToolResult, error) {
	if args == nil {
		args = arguments{}
	}
	params := &mcp.CallToolParams{Name: name, Arguments: args}
	params.SetProgressToken("token of " + name)
	if s.level != "" {
		params.Meta["io.modelcontextprotocol/logLevel"] = s.level
	}
	return s.CallTool(ctx, params)
}

// succeed calls a tool that must succeed.
func (s *session) succeed(name string, args arguments) *mcp.CallToolResult {
	s.t.Helper()
	result := s.call(name, args)
	if result.IsError {
		s.t.Fatalf("%s: %s", name, text(s.t, result))
	}
	return result
}

// refuse calls a tool that must answer with an error the model can see, of this
// type (T-196, SDK-75), and returns its text.
func (s *session) refuse(name string, args arguments, kind string) string {
	s.t.Helper()
	result := s.call(name, args)
	got := structured[struct {
		Success bool
		Error   struct{ Type, Message string }
	}](s.t, result)
	if !result.IsError || got.Success || got.Error.Type != kind {
		s.t.Errorf("%s: %s, want an error of type %s", name, compact(s.t, result), kind)
	}
	return text(s.t, result)
}

// fail calls a tool that must answer with a JSON-RPC error (T-90).
func (s *session) fail(name string, args arguments, code int64, says string) {
	s.t.Helper()
	result, err := s.request(s.deadline(), name, args)
	var rpc *jsonrpc.Error
	switch {
	case !errors.As(err, &rpc):
		s.t.Errorf("%s: %v, %v, want a JSON-RPC error", name, compact(s.t, result), err)
	case rpc.Code != code || rpc.Message != says:
		s.t.Errorf("%s: error %d %q, want %d %q", name, rpc.Code, rpc.Message, code, says)
	}
}

// nextLog waits for a log message of a logger.
func (s *session) nextLog(logger string) *mcp.LoggingMessageParams {
	s.t.Helper()
	ctx := s.deadline()
	for {
		select {
		case m := <-s.logs:
			if m.Logger == logger {
				return m
			}
		case <-ctx.Done():
			s.t.Fatalf("no log message of %s came", logger)
		}
	}
}

// setLevel has the server send log messages from this level on.
func (s *session) setLevel(level mcp.LoggingLevel) {
	s.t.Helper()
	if s.protocol == stateless {
		s.level = string(level)
	} else if err := s.SetLoggingLevel(s.deadline(), &mcp.SetLoggingLevelParams{Level: level}); err != nil {
		s.t.Fatal(err)
	}
}

// inBothProtocols runs a test with a client of the handshake protocol and with a client of the
// stateless protocol. A script does not notice the difference (modern section 7).
func inBothProtocols(t *testing.T, test func(t *testing.T, protocol string)) {
	for _, protocol := range []string{"2025-11-25", stateless} {
		t.Run(protocol, func(t *testing.T) { test(t, protocol) })
	}
}

const stateless = "2026-07-28"

// withAll runs a test with clients of both protocols, over standard streams and over HTTP.
func withAll(t *testing.T, test func(t *testing.T, protocol string)) {
	inBothProtocols(t, func(t *testing.T, protocol string) {
		t.Run("stdio", func(t *testing.T) { test(t, protocol) })
		t.Run("HTTP", func(t *testing.T) { test(t, protocol+overHTTP) })
	})
}

const overHTTP = " over HTTP"

// questions is how often the user was asked so far, by requests of the server or in its
// answers.
func (s *session) questions() int {
	s.tap.mu.Lock()
	defer s.tap.mu.Unlock()
	return strings.Count(strings.Join(s.tap.lines, ""), `"method":"elicitation/create"`)
}

// reports are the progress values that came so far.
func (s *session) reports() []string {
	var list []string
	for _, m := range s.tap.messages("notifications/progress") {
		list = append(list, m.Params.Progress.String())
	}
	return list
}

// logged are the log messages that came so far, as "level logger: data".
func (s *session) logged(logger string) []string {
	var list []string
	for _, m := range s.tap.messages("notifications/message") {
		if data, _ := m.Params.Data.(string); m.Params.Logger == logger {
			list = append(list, m.Params.Level+": "+data)
		}
	}
	return list
}

// text is the first content item, which is a text with every result here.
func text(t *testing.T, result *mcp.CallToolResult) string {
	t.Helper()
	if len(result.Content) > 0 {
		if item, ok := result.Content[0].(*mcp.TextContent); ok {
			return item.Text
		}
	}
	t.Fatalf("the result does not begin with a text: %s", compact(t, result))
	return ""
}

// structured is the structured content of a result.
func structured[T any](t *testing.T, result *mcp.CallToolResult) (v T) {
	t.Helper()
	data, err := json.Marshal(result.StructuredContent)
	if err == nil {
		err = json.Unmarshal(data, &v)
	}
	if err != nil {
		t.Errorf("structured content %s: %v", data, err)
	}
	return v
}

func compact(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
