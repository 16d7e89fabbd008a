//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
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

// serve starts a server for the project of the suite.
func serve(t *testing.T) *target {
	t.Helper()
	target, err := start(server, "project", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		target.end()
		target.remove()
		for _, fault := range target.faults() {
			t.Error(fault)
		}
	})
	return target
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

func connect(t *testing.T, ctx context.Context, web *target, h *heard, revision string) *mcp.ClientSession {
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
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: web.address, MaxRetries: -1},
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
	web := serve(t)
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
}

// Several clients, and several calls at once of each.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	web := serve(t)
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
