// Package cluster runs the server as operators do: several replicas behind a balancer, in containers and in
// Kubernetes. The tests of containers and of Kubernetes have the build tag cluster; make cluster runs them.
package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mcp-bash/test/checkout"
)

// bin holds mcp-bash and mcp-bundle, as they are released.
var bin string

func TestMain(m *testing.M) {
	os.Exit(checkout.Main(m, func(dir string) error {
		if bin = os.Getenv("MCPBASH_TEST_BIN"); bin != "" {
			return nil
		}
		bin = dir
		return checkout.Build(dir, checkout.Commands)
	}))
}

// needs skips a test where a program is missing.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("left out: %s is not installed", program)
		}
	}
}

// makeProject makes a project with a tool that returns its argument, and returns the project's
// directory. If CALLS names a file, the tool also appends its argument to that file.
func makeProject(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(checkout.Directory(t), "demo")
	for name, text := range map[string]string{
		"server.d/server.meta.json": `{"name":"demo","version":"1.0.0","author":"Ada",
			"env":{"MCPBASH_TOOL_ENV_MODE":"allowlist","MCPBASH_TOOL_ENV_ALLOWLIST":"CALLS"}}`,
		"tools/record/tool.meta.json": `{"name":"record","description":"Records a call","inputSchema":{"type":"object",
			"properties":{"id":{"type":"string"}}}}`,
		"tools/record/tool.sh": "#!/usr/bin/env bash\nsource \"$MCP_SDK/tool-sdk.sh\"\nid=$(mcp_args_get .id)\n" +
			"[ -z \"${CALLS:-}\" ] || echo \"$id\" >>\"$CALLS\"\nmcp_emit_text \"$id\"\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// freePort returns a port that nothing uses.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// eventually waits until a condition is true.
func eventually(t *testing.T, what string, limit time.Duration, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %s", what, limit)
		}
	}
}

// isReady reports whether a server accepts requests.
func isReady(address string) bool {
	client := http.Client{Timeout: time.Second}
	r, err := client.Get(address + "/readyz")
	if err != nil {
		return false
	}
	r.Body.Close()
	return r.StatusCode == http.StatusOK
}

// A client sends requests to one address. It makes a connection for each.
type client struct {
	address, token string
	http.Client
}

func newClient(address, token string) *client {
	return &client{address, token, http.Client{
		Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true},
	}}
}

// post sends a message with headers, and returns the response with its content.
func (c *client) post(ctx context.Context, body string, headers map[string]string) (*http.Response, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address+"/mcp", strings.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	r, err := c.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer r.Body.Close()
	content, err := io.ReadAll(r.Body)
	return r, content, err
}

// record calls the tool in the stateless protocol.
func (c *client) record(ctx context.Context, id string) error {
	r, content, err := c.post(ctx, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"record",`+
		`"arguments":{"id":"`+id+`"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},`+
		`"io.modelcontextprotocol/clientCapabilities":{}}}}`,
		map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "record"})
	if err != nil {
		return err
	}
	return checkAnswer(r, content, id)
}

// checkAnswer returns an error unless a response is the result of the tool.
func checkAnswer(r *http.Response, content []byte, id string) error {
	if data, isStream := bytes.CutPrefix(content[max(0, bytes.LastIndex(content, []byte("data: "))):],
		[]byte("data: ")); isStream {
		content = data
	}
	var answer struct {
		Result struct{ Content []struct{ Text string } }
	}
	err := json.Unmarshal(content, &answer)
	if err != nil || r.StatusCode != http.StatusOK || len(answer.Result.Content) != 1 ||
		strings.TrimSpace(answer.Result.Content[0].Text) != id {
		return fmt.Errorf("%s: %s %s", id, r.Status, content)
	}
	return nil
}

// A load calls the tool from several goroutines until it is ended.
type load struct {
	stop context.CancelFunc
	wait sync.WaitGroup

	mu       sync.Mutex
	answered map[string]bool
	failed   []error
}

func startLoad(t *testing.T, c *client) *load {
	ctx, stop := context.WithCancel(t.Context())
	l := &load{stop: stop, answered: map[string]bool{}}
	var next atomic.Int64
	for range 4 {
		l.wait.Go(func() {
			for ctx.Err() == nil {
				id := "call-" + strconv.FormatInt(next.Add(1), 10)
				err := c.record(t.Context(), id) // a call that was begun is finished
				l.mu.Lock()
				if err != nil {
					l.failed = append(l.failed, err)
				} else {
					l.answered[id] = true
				}
				l.mu.Unlock()
			}
		})
	}
	return l
}

// count returns the number of answers so far.
func (l *load) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.answered)
}

// more waits until some more calls have been answered.
func (l *load) more(t *testing.T, calls int) {
	t.Helper()
	before := l.count()
	eventually(t, "more answers", time.Minute, func() bool { return l.count() >= before+calls })
}

// end ends the load. It returns the calls that were answered and the errors of others.
func (l *load) end() (map[string]bool, []error) {
	l.stop()
	l.wait.Wait()
	return l.answered, l.failed
}
