//go:build unix

package mcpgo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"mcp-bash/test/checkout"
)

// patience is how long anything may take.
const patience = time.Minute

// bin contains the server, and the tap that runs in front of it.
var bin string

func TestMain(m *testing.M) {
	os.Exit(checkout.Main(m, func(dir string) error {
		bin = dir
		return errors.Join(checkout.Build(dir, "mcp-bash/cmd/mcp-bash"), checkout.Build(dir, "mcp-bash/test/wire/tap"))
	}))
}

// A session is a client and its server. It ends with the test, which fails if a line of the
// server was wrong.
type session struct {
	*client.Client
	connection
	t       *testing.T
	project string
	output  string // the directory of the tap

	stop   func() // ends a server over HTTP
	stderr bytes.Buffer

	notify chan string // methods of notifications

	mu   sync.Mutex
	logs []string // params of log messages
}

// A connection is how a client talks to the server.
type connection struct {
	revision string
	http     bool
}

// open starts a server for an example, and opens the session.
func open(t *testing.T, c connection, example string, options ...client.ClientOption) *session {
	t.Helper()
	s := &session{
		t: t, connection: c, project: filepath.Join(checkout.Directory(t), example), output: checkout.Directory(t),
		notify: make(chan string, 100),
	}
	if err := os.CopyFS(s.project, os.DirFS(filepath.Join(checkout.Root(), "examples", example))); err != nil {
		t.Fatal(err)
	}
	tmp := checkout.Directory(t)
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + tmp, "TMPDIR=" + tmp, "LANG=C",
		"XDG_CACHE_HOME=" + filepath.Join(bin, "cache"), "MCPBASH_PROJECT_ROOT=" + s.project, "MCPBASH_TOOL_ALLOWLIST=*",
		"MCPBASH_RESOURCES_POLL_INTERVAL_SECS=0.02"}
	if c.http {
		s.Client = client.NewClient(s.overHTTP(append(env, "MCPBASH_HTTP_TRUST_CLIENT_ROOTS=true")), options...)
	} else {
		s.Client = client.NewClient(s.overStreams(env), options...)
	}
	t.Cleanup(s.end)
	s.OnNotification(func(n mcp.JSONRPCNotification) {
		if n.Method == "notifications/message" {
			params, _ := json.Marshal(n.Params)
			s.mu.Lock()
			s.logs = append(s.logs, string(params))
			s.mu.Unlock()
		}
		select {
		case s.notify <- n.Method:
		default:
		}
	})
	if err := s.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	s.initialize(c.revision)
	return s
}

// overStreams starts the server on standard streams, behind the tap.
func (s *session) overStreams(env []string) transport.Interface {
	s.t.Helper()
	stdio := transport.NewStdioWithOptions(filepath.Join(bin, "tap"), env,
		[]string{s.output, filepath.Join(bin, "mcp-bash")},
		transport.WithCommandFunc(func(ctx context.Context, name string, env, args []string) (*exec.Cmd, error) {
			cmd := exec.CommandContext(ctx, name, args...)
			cmd.Env = env // without variables of the test
			return cmd, nil
		}))
	if err := stdio.Start(context.Background()); err != nil {
		s.t.Fatal(err)
	}
	return stdio
}

// overHTTP starts the server over HTTP, behind the tap.
func (s *session) overHTTP(env []string) transport.Interface {
	s.t.Helper()
	cmd := exec.Command(filepath.Join(bin, "tap"), s.output, "-http", filepath.Join(bin, "mcp-bash"), "serve", "--http",
		"127.0.0.1:0")
	cmd.Env, cmd.Stderr = env, &s.stderr
	input, err := cmd.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.stop = func() {
		input.Close()
		cmd.Wait()
	}
	address, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		s.stop()
		s.t.Fatalf("the server does not start: %v\n%s", err, &s.stderr)
	}
	options := []transport.StreamableHTTPCOption{transport.WithHTTPLogger(slog.New(slog.DiscardHandler))}
	if s.revision == "2025-11-25" { // a listening client speaks no other protocol
		options = append(options, transport.WithContinuousListening())
	}
	over, err := transport.NewStreamableHTTP(strings.TrimSpace(address), options...)
	if err != nil {
		s.t.Fatal(err)
	}
	return over
}

// initialize opens the session in a revision.
func (s *session) initialize(revision string) {
	s.t.Helper()
	request := mcp.InitializeRequest{}
	request.Params.ProtocolVersion = revision
	request.Params.ClientInfo = mcp.Implementation{Name: "mcpgo-test", Version: "1"}
	result, err := s.Initialize(s.deadline(), request)
	if err != nil {
		s.t.Fatal(err)
	}
	if result.ProtocolVersion != revision || result.ServerInfo.Version == "" {
		s.t.Fatalf("the session is %+v, want revision %s", result, revision)
	}
}

// end closes the session and checks the report of the tap.
func (s *session) end() {
	if err := s.Close(); err != nil {
		s.t.Errorf("closing: %v", err)
	}
	end := "\n. exit status 0\n"
	if s.http {
		s.stop()
		end = "\n. exit status 143\n"
	}
	files, _ := filepath.Glob(filepath.Join(s.output, "*"))
	if len(files) != 1 {
		s.t.Fatalf("the client started %d servers", len(files))
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		s.t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "! ") {
			s.t.Errorf("a line of the server: %s", line)
		}
	}
	if !strings.HasSuffix(string(data), end) {
		s.t.Error("the server did not end in good order")
	}
	if s.t.Failed() {
		s.t.Logf("messages:\n%s", data)
	}
}

func (s *session) deadline() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	s.t.Cleanup(cancel)
	return ctx
}

// call calls a tool and returns its content and structured content as JSON, without the
// names of directories.
func (s *session) call(name string, args map[string]any) string {
	s.t.Helper()
	request := mcp.CallToolRequest{}
	request.Params.Name, request.Params.Arguments = name, args
	result, err := s.CallTool(s.deadline(), request)
	if err != nil {
		s.t.Fatalf("%s: %v", name, err)
	}
	return s.plain(result.Content, result.StructuredContent, result.IsError)
}

func (s *session) plain(values ...any) string {
	s.t.Helper()
	data, err := json.Marshal(values)
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.ReplaceAll(string(data), s.project, "PROJECT")
}

// connections returns two connections for each protocol: over standard streams and over HTTP.
func connections() []connection {
	return []connection{{"2025-11-25", false}, {"2026-07-28", false}, {"2025-11-25", true}, {"2026-07-28", true}}
}

func (c connection) String() string {
	if c.http {
		return c.revision + " over HTTP"
	}
	return c.revision
}

// withAll runs a test with all connections, which must return the same.
func withAll(t *testing.T, test func(t *testing.T, c connection) []string) {
	var first []string
	for _, c := range connections() {
		t.Run(c.String(), func(t *testing.T) {
			got := test(t, c)
			if first == nil {
				first = got
			} else if !slices.Equal(first, got) {
				t.Errorf("\n got %q\nwith a handshake %q", got, first)
			}
		})
	}
}

// token is the random part of the URI of a stored result.
var token = regexp.MustCompile(`mcpbash-result://\w+`)

// The lists of each example, and a call of each tool that needs no input.
func TestExamples(t *testing.T) {
	known := map[string]bool{}
	for _, c := range []struct {
		example, tools, call, args, says string
	}{
		{"00-hello", "hello", "hello", `{"name":"Ada"}`, `"text":"Hello, Ada!"`},
		{"01-arguments", "box convert", "convert", `{"value":100,"from":"celsius","to":"fahrenheit"}`, `"value":212`},
		{"02-progress", "checksums countdown", "checksums", `{}`, `"total":3`},
		{"03-roots", "list-files read-file show-roots", "show-roots", `{}`, `"count":1`},
		{"04-embedded", "attach swatch", "attach", `{"path":"documents/tides.csv"}`, `hour,metres`},
		{"05-elicitation", "link-account order-pizza sign-up", "sign-up", `{}`, `cannot_ask`},
		{"06-wrap-cli", "audit stock", "audit", `{}`, `"pieces":1467`},
		{"07-download", "fetch", "fetch", `{"url":"http://example.com/","name":"x"}`, `invalid_url`},
		{"08-any-language", "letters primes", "letters", `{"text":"Hello"}`, `"l":2`},
		{"09-resources", "", "", "", ""},
		{"10-provider", "", "", "", ""},
		{"11-prompts", "", "", "", ""},
		{"12-completion", "", "", "", ""},
		{"13-registry", "add-note find-note", "find-note", `{"word":"lemons"}`, `notes/shopping.md`},
		{"14-mcp-app", "board move-card roll-dice", "board", `{}`, `Return the books`},
		{"15-asking", "folders release summarize", "release", `{"version":"1.4.2","changes":"Faster.","kind":"patch"}`,
			`"version":"1.4.3"`},
		{"16-wrapped", "cut find grep sort wc", "sort", `{"file":["data/fruit.csv"],"reverse":true}`, `lemon,3`},
		{"17-strangers-tool", "word-count", "word-count", `{"note":"town"}`, `14 words`},
		{"18-library", "find-book reserve-book", "find-book", `{"word":"tables"}`, `library://sailing/coastal-tides`},
		{"19-plugin", "count-files", "count-files", `{}`, ` files`},
		{"20-long-calls", "show-job start-job wait-for-file task_status task_wait task_cancel", "wait-for-file",
			`{"file":"README.txt"}`, `Files for the tool`},
		{"21-large-results", "requests result_search", "requests", `{}`, `lines (634899 bytes) left out`},
	} {
		known[c.example] = true
		t.Run(c.example, func(t *testing.T) {
			withAll(t, func(t *testing.T, with connection) []string {
				s := open(t, with, c.example)
				list, err := s.ListTools(s.deadline(), mcp.ListToolsRequest{})
				if err != nil {
					t.Fatal(err)
				}
				var names []string
				for _, tool := range list.Tools {
					names = append(names, tool.Name)
				}
				if got := strings.Join(names, " "); got != c.tools {
					t.Errorf("it lists %q, want %q", got, c.tools)
				}
				if c.call == "" {
					return []string{s.plain(list.Tools)}
				}
				var args map[string]any
				if err := json.Unmarshal([]byte(c.args), &args); err != nil {
					t.Fatal(err)
				}
				got := s.call(c.call, args)
				if !strings.Contains(got, c.says) {
					t.Errorf("%s: %s, want %s", c.call, got, c.says)
				}
				return []string{s.plain(list.Tools), token.ReplaceAllString(got, "TOKEN")}
			})
		})
	}
	folders, err := os.ReadDir(filepath.Join(checkout.Root(), "examples"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		if f.IsDir() && !known[f.Name()] {
			t.Errorf("examples/%s is not among the cases", f.Name())
		}
	}
}

// answers are the client's handlers of what tools ask.
type answers struct{}

func (answers) Elicit(_ context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	content := map[string]any{"choice": "large", "choices": []string{"basil", "olives"}, "confirmed": true,
		"kind": "major", "audience": "my boss"}
	schema, _ := r.Params.RequestedSchema.(map[string]any)
	properties, _ := schema["properties"].(map[string]any)
	for name := range content {
		if properties[name] == nil {
			delete(content, name)
		}
	}
	return &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{
		Action: mcp.ElicitationResponseActionAccept, Content: content}}, nil
}

func (answers) CreateMessage(_ context.Context, r mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	return &mcp.CreateMessageResult{Model: "m", SamplingMessage: mcp.SamplingMessage{Role: mcp.RoleAssistant,
		Content: mcp.NewTextContent(fmt.Sprint("Asked for ", len(r.Messages), "."))}}, nil
}

func (answers) ListRoots(context.Context, mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	return &mcp.ListRootsResult{Roots: []mcp.Root{{URI: "file:///one"}}}, nil
}

// The user, the model and the roots, the first two in one round; and a prompt that asks
// (M-50 to M-58, M-80).
func TestAsking(t *testing.T) {
	withAll(t, func(t *testing.T, with connection) []string {
		var got []string
		expect := func(answer, says string) {
			t.Helper()
			if !strings.Contains(answer, says) {
				t.Errorf("%s, want %s", answer, says)
			}
			got = append(got, answer)
		}
		asks := []client.ClientOption{client.WithElicitationHandler(answers{}), client.WithSamplingHandler(answers{}),
			client.WithRootsHandler(answers{})}
		s := open(t, with, "05-elicitation", asks...)
		expect(s.call("order-pizza", nil), `"result":{"size":"large","toppings":["basil","olives"]}`)

		s = open(t, with, "15-asking", asks...)
		expect(s.call("release", map[string]any{"version": "1.4.2", "changes": "Faster."}),
			`{"notes":"Asked for 1.","version":"2.0.0"}`)
		expect(s.call("summarize", map[string]any{"text": "long"}), `Asked for 1.`)
		expect(s.call("folders", nil), `{"asked":true,"roots":["file:///one"]}`)

		s = open(t, with, "11-prompts", asks...)
		request := mcp.GetPromptRequest{}
		request.Params.Name, request.Params.Arguments = "explain", map[string]string{"text": "Tides"}
		prompt, err := s.GetPrompt(s.deadline(), request)
		if err != nil {
			t.Fatal(err)
		}
		expect(s.plain(prompt.Messages), `Explain this to my boss,`)
		return got
	})
}

// Log messages of the requested level, and a cancelled call (M-71, M-72).
func TestLogsAndCancellation(t *testing.T) {
	withAll(t, func(t *testing.T, with connection) []string {
		s := open(t, with, "02-progress")
		level := mcp.SetLevelRequest{}
		level.Params.Level = mcp.LoggingLevelWarning
		if err := s.SetLevel(s.deadline(), level); err != nil {
			t.Fatal(err)
		}
		got := []string{s.call("checksums", nil)}
		s.mu.Lock()
		if len(s.logs) != 1 || !strings.Contains(s.logs[0], `"level":"warning"`) {
			t.Errorf("the client heard %q, want one warning", s.logs)
		}
		s.mu.Unlock()

		ctx, cancel := context.WithCancel(s.deadline())
		slow := mcp.CallToolRequest{}
		slow.Params.Name, slow.Params.Arguments = "countdown", map[string]any{"from": 100, "pause": 10}
		slow.Params.Meta = &mcp.Meta{ProgressToken: "token"}
		go func() {
			for method := range s.notify {
				if method == "notifications/progress" {
					cancel()
					return
				}
			}
		}()
		if result, err := s.CallTool(ctx, slow); err == nil {
			t.Errorf("the cancelled call answered %+v", result)
		}
		return append(got, s.call("countdown", map[string]any{"from": 1, "pause": 0}))
	})
}

// A stream reports a file that changed (M-60, M-61).
func TestListen(t *testing.T) {
	for _, c := range connections() {
		if c.revision == "2026-07-28" {
			t.Run(c.String(), func(t *testing.T) { testListen(t, c) })
		}
	}
}

func testListen(t *testing.T, with connection) {
	s := open(t, with, "09-resources")
	list, err := s.ListResources(s.deadline(), mcp.ListResourcesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(list.Resources, func(r mcp.Resource) bool { return r.Name == "weather" })
	if at < 0 {
		t.Fatalf("no weather among %+v", list.Resources)
	}
	wait := func(method string) {
		t.Helper()
		for ctx := s.deadline(); ; {
			select {
			case got := <-s.notify:
				if got == method {
					return
				}
			case <-ctx.Done():
				t.Fatalf("no %s came", method)
			}
		}
	}
	filter := mcp.SubscriptionFilter{ResourceSubscriptions: []string{list.Resources[at].URI}}
	stop, err := s.ListenAsync(s.deadline(), filter, func(err error) { t.Errorf("listening: %v", err) })
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	wait("notifications/subscriptions/acknowledged")
	if err := os.WriteFile(filepath.Join(s.project, "resources", "weather.txt"), []byte("storm\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	wait("notifications/resources/updated")
}
