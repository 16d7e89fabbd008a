//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcp-bash/test/checkout"
)

// server is the server, built once for all tests.
var server string

func TestMain(m *testing.M) {
	os.Exit(checkout.Main(m, func(dir string) error {
		server = filepath.Join(dir, "mcp-bash")
		return checkout.Build(dir, "mcp-bash/cmd/mcp-bash")
	}))
}

// serve starts a bridge to the server with the project of the suite.
func serve(t *testing.T) (*bridge, *httptest.Server) {
	t.Helper()
	place, err := newPlace(server, "project", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	transcript := &transcript{out: io.Discard}
	b := newBridge(place.start, transcript)
	web := httptest.NewServer(b)
	t.Cleanup(func() {
		web.Close()
		b.close()
		place.remove()
		for _, fault := range transcript.faults() {
			t.Error(fault)
		}
	})
	return b, web
}

// heard collects the notifications and questions that a client got.
type heard struct {
	mu      sync.Mutex
	lines   []string
	changed chan struct{} // closed at the next line; nil if nobody waits
}

func (h *heard) add(line string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, line)
	if h.changed != nil {
		close(h.changed)
		h.changed = nil
	}
}

// wait returns all lines when there are n. The client delivers notifications independently of
// answers.
func (h *heard) wait(ctx context.Context, n int) string {
	for {
		h.mu.Lock()
		lines := slices.Clone(h.lines)
		if h.changed == nil {
			h.changed = make(chan struct{})
		}
		changed := h.changed
		h.mu.Unlock()
		if len(lines) >= n {
			return strings.Join(lines, "|")
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return strings.Join(lines, "|")
		}
	}
}

func connect(t *testing.T, ctx context.Context, web *httptest.Server, h *heard, revision string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			h.add(fmt.Sprintf("%v:%v", r.Params.ProgressToken, r.Params.Progress))
		},
		LoggingMessageHandler: func(_ context.Context,
			r *mcp.LoggingMessageRequest) {
			h.add(fmt.Sprint(r.Params.Data))
		},
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			h.add(r.Params.Message)
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"username": "ada",
				"email": "ada@example.com"}}, nil
		},
	})
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: web.URL, MaxRetries: -1},
		&mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	return session
}

func text(t *testing.T, result *mcp.CallToolResult, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	content, ok := result.Content[0].(*mcp.TextContent)
	if !ok || result.IsError {
		t.Fatalf("%+v", result)
	}
	return content.Text
}

// The official Go client of Streamable HTTP, in either revision: answers, what a
// call reports, what it asks.
func TestClient(t *testing.T) {
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) { t.Parallel(); uses(t, revision) })
	}
}

func uses(t *testing.T, revision string) {
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	b, web := serve(t)
	var h heard
	client := connect(t, ctx, web, &h, revision)
	logs := mcp.Meta{}
	if revision == revisions[1] {
		logs[mcp.MetaKeyLogLevel] = "info"
	} else if err := client.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: "info"}); err != nil {
		t.Fatal(err)
	}
	progress := &mcp.CallToolParams{Name: "test_tool_with_progress", Meta: mcp.Meta{"progressToken": "p"}}
	for _, tc := range []struct {
		call         *mcp.CallToolParams
		want, beside string
	}{
		{progress, "All of it is done.", "p:0|p:50|p:100"},
		{&mcp.CallToolParams{Name: "test_tool_with_logging", Meta: logs}, "Three messages were logged.",
			"Tool execution started|Tool processing data|Tool execution completed"},
		{&mcp.CallToolParams{Name: "test_elicitation", Arguments: map[string]any{"message": "Who?"}},
			`User response: {"action":"accept","content":{"email":"ada@example.com","username":"ada"}}`, "Who?"},
	} {
		h.lines = nil
		result, err := client.CallTool(ctx, tc.call)
		if got := text(t, result, err); got != tc.want {
			t.Errorf("%s", got)
		}
		if got := h.wait(ctx, strings.Count(tc.beside, "|")+1); got != tc.beside {
			t.Errorf("heard %s", got)
		}
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	if len(b.open) != 0 {
		t.Error("there is a session")
	}
}

// The process of a session ends with it.
func TestSessionEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	b, web := serve(t)
	client := connect(t, ctx, web, new(heard), revisions[0])
	var session *session
	for _, session = range b.open {
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	select {
	case <-session.ended:
	case <-ctx.Done():
		t.Error("the process outlives its session")
	}
}

// Several clients, each with a process, and several calls at once of each.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	_, web := serve(t)
	var clients sync.WaitGroup
	for range 3 {
		clients.Go(func() {
			var h heard
			client := connect(t, ctx, web, &h, revisions[0])
			defer client.Close()
			var calls sync.WaitGroup
			for i := range 4 {
				calls.Go(func() {
					result, err := client.CallTool(ctx, &mcp.CallToolParams{Name: "test_tool_with_progress",
						Meta: mcp.Meta{"progressToken": i}})
					if err != nil || result.IsError {
						t.Errorf("%v %+v", err, result)
					}
				})
			}
			calls.Wait()
			if got := h.wait(ctx, 12); strings.Count(got, "|") != 11 {
				t.Errorf("not 12 reports of progress: %s", got)
			}
		})
	}
	clients.Wait()
}

// The bridge rejects invalid HTTP requests itself.
func TestRefusals(t *testing.T) {
	t.Parallel()
	b, web := serve(t)
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	var h heard
	client := connect(t, ctx, web, &h, revisions[0])
	defer client.Close()
	id := client.ID()
	const ping = `{"jsonrpc":"2.0","id":"mine","method":"ping"}`
	for name, tc := range map[string]struct {
		method, body string
		header       map[string]string
		want         int
	}{
		"fine": {"POST", ping, nil, 200},
		"fine, spread": {"POST", "\n{\"jsonrpc\" : \"2.0\",\n\"id\":\"mine\", \"method\": \"ping\"}\n", nil,
			200},
		"own origin": {"POST", ping, map[string]string{"Origin": "http://localhost:1", "Host": "localhost:2"},
			200},
		"own origin, IPv6":    {"POST", ping, map[string]string{"Origin": "http://[::1]", "Host": "[::1]:9"}, 200},
		"notification":        {"POST", `{"jsonrpc":"2.0","method":"notifications/none"}`, nil, 202},
		"foreign host":        {"POST", ping, map[string]string{"Host": "evil.example.com"}, 403},
		"like a local host":   {"POST", ping, map[string]string{"Host": "localhost.example.com:80"}, 403},
		"foreign origin":      {"POST", ping, map[string]string{"Origin": "http://evil.example.com"}, 403},
		"no origin":           {"POST", ping, map[string]string{"Origin": "null"}, 403},
		"foreign listener":    {"GET", "", map[string]string{"Origin": "http://evil.example.com"}, 403},
		"no session":          {"POST", ping, map[string]string{"Mcp-Session-Id": ""}, 400},
		"unknown session":     {"POST", ping, map[string]string{"Mcp-Session-Id": "none"}, 404},
		"other revision":      {"POST", ping, map[string]string{"Mcp-Protocol-Version": "1999-01-01"}, 400},
		"accepts JSON only":   {"POST", ping, map[string]string{"Accept": "application/json"}, 406},
		"accepts events only": {"POST", ping, map[string]string{"Accept": "text/event-stream"}, 406},
		"plain text":          {"POST", ping, map[string]string{"Content-Type": "text/plain"}, 415},
		"not JSON":            {"POST", `{"jsonrpc":`, nil, 400},
		"a batch":             {"POST", "[" + ping + "]", nil, 400},
		"no message":          {"POST", `{"jsonrpc":"2.0","id":1}`, nil, 400},
		"too large":           {"POST", strings.Repeat(" ", maxBody+1), nil, 413},
		"listens to HTML":     {"GET", "", map[string]string{"Accept": "text/html"}, 406},
		"second listener":     {"GET", "", nil, 409},
		"other method":        {"PUT", ping, nil, 405},
	} {
		r, err := http.NewRequestWithContext(ctx, tc.method, web.URL, strings.NewReader(tc.body))
		if err != nil {
			t.Fatal(err)
		}
		header := map[string]string{"Accept": "application/json, text/event-stream", "Content-Type": "application/json",
			"Mcp-Session-Id": id}
		for key, value := range tc.header {
			header[key] = value
		}
		for key, value := range header {
			if r.Header.Set(key, value); key == "Host" {
				r.Host = value
			}
		}
		if tc.want == 409 { // whether or not the listener of the client is there by now
			b.open[id].listen()
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		output, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != tc.want || err != nil || len(output) == 0 && tc.want != 202 {
			t.Errorf("%s: %d %q %v, want %d", name, answer.StatusCode, output, err, tc.want)
		}
	}
}

// A server that ends by itself: the request it left open ends without an answer,
// and its session is gone.
func TestServerEnds(t *testing.T) {
	t.Parallel()
	transcript := &transcript{out: io.Discard}
	b := newBridge(func() *exec.Cmd { return exec.Command("sh", "-c", "read -r line; exit 3") }, transcript)
	web := httptest.NewServer(b)
	defer web.Close()
	post := func(id string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), "POST", web.URL,
			strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Accept": {"*/*"}, "Content-Type": {"application/json"}}
		if id != "" {
			r.Header.Set("Mcp-Session-Id", id)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { answer.Body.Close() })
		return answer
	}
	first := post("")
	if output, err := io.ReadAll(first.Body); len(output) > 0 || err != nil {
		t.Errorf("%q %v", output, err)
	}
	if again := post(first.Header.Get("Mcp-Session-Id")); again.StatusCode != 404 {
		t.Errorf("%d", again.StatusCode)
	}
	if got := strings.Join(transcript.faults(), "\n"); !strings.Contains(got, "the server ended badly: exit status 3") {
		t.Errorf("%q", got)
	}
}
