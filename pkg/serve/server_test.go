//go:build unix

package serve

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mcp-bash/pkg/json/jsontest"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/serve/stdio"
	"mcp-bash/test/servertest"
	"mcp-bash/test/wire"
)

// patience is how long a test waits for what must come.
const patience = 60 * time.Second

// files makes a project of these files; a name that ends in .sh is made
// executable and gets a first line.
func files(t *testing.T, list map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	os.Chmod(root, 0o755)
	addFiles(t, root, list)
	return root
}

// addFiles writes files like files.
func addFiles(t *testing.T, root string, list map[string]string) {
	t.Helper()
	for name, content := range list {
		file := filepath.Join(root, filepath.FromSlash(name))
		os.MkdirAll(filepath.Dir(file), 0o755)
		mode := os.FileMode(0o644)
		if strings.HasSuffix(name, ".sh") && !strings.HasPrefix(name, "server.d/") {
			mode, content = 0o755, "#!/bin/bash\n"+content+"\n"
		}
		if err := os.WriteFile(file, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		os.Chmod(file, mode)
	}
}

// A testClient is the other end of a server that runs in this process.
type testClient struct {
	t       *testing.T
	root    string
	tmp     string
	in      *io.PipeWriter
	lines   chan string
	changed chan string // the list_changed notifications
	stderr  *servertest.Buffer
	signals chan os.Signal
	code    chan int
	hangup  func()
	checker *wire.Checker
	pending []string // lines that were read but not asked for yet
	nextID  int
}

// pipes is the streams of a test.
type pipes struct {
	in     io.Reader
	out    io.Writer
	closed chan struct{}
	once   sync.Once
	broken func() error // when set, the error of the next write
}

func (p *pipes) Read(b []byte) (int, error) {
	n, err := p.in.Read(b)
	select {
	case <-p.closed:
		return 0, stdio.ErrHangup
	default:
		return n, err
	}
}

// Ready reports whether a write returns at once, which broken can prevent.
func (p *pipes) Ready() bool { return p.broken == nil }

func (p *pipes) Write(b []byte) (int, error) {
	select {
	case <-p.closed:
		return 0, stdio.ErrHangup
	default:
	}
	if p.broken != nil {
		if err := p.broken(); err != nil {
			return 0, err
		}
	}
	return p.out.Write(b)
}

func (p *pipes) AwaitHangup() { <-p.closed }

// start serves a project. env is laid over one in which every tool may run.
func start(t *testing.T, root string, env project.Env) *testClient {
	t.Helper()
	return startWith(t, root, env, nil, nil)
}

func startWith(t *testing.T, root string, env project.Env, change func(*Options), broken func() error) *testClient {
	t.Helper()
	if root != "" {
		os.Mkdir(filepath.Join(root, "server.d"), 0o755) // makes a directory a project (P-106); fails for a missing root
	}
	tmp := t.TempDir()
	full := project.Env{
		"PATH": os.Getenv("PATH"), "HOME": tmp, "TMPDIR": tmp, "MCPBASH_PROJECT_ROOT": root,
		"MCPBASH_TOOL_ALLOWLIST":       "*",
		"MCPBASH_ORPHAN_CHECK_ENABLED": "false",
	}
	for name, value := range env {
		full[name] = value
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &testClient{
		t: t, root: root, tmp: tmp, in: inW, lines: make(chan string, 10000), changed: make(chan string, 100),
		stderr:  &servertest.Buffer{},
		signals: make(chan os.Signal, 2), code: make(chan int, 1), checker: wire.NewChecker(),
	}
	streams := &pipes{in: inR, out: outW, closed: make(chan struct{}), broken: broken}
	c.hangup = func() {
		streams.once.Do(func() { close(streams.closed) })
		inW.Close()
	}
	go func() {
		defer close(c.lines)
		for in := bufio.NewReader(outR); ; {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			if err := c.checker.Received([]byte(line)); err != nil {
				t.Errorf("the server wrote: %v", err)
			}
			line = strings.TrimSuffix(line, "\n")
			if strings.Contains(line, `/list_changed"`) {
				c.changed <- line // they come whenever they like (P-1904)
				continue
			}
			c.lines <- line
		}
	}()
	o := Options{Env: full, Dir: root, Tree: func() project.Tree { return project.Tree{sdkMark: nil} },
		Stderr: c.stderr, Streams: streams, Signals: c.signals}
	if change != nil {
		change(&o)
	}
	go func() {
		c.code <- Serve(o)
		outW.Close()
	}()
	t.Cleanup(func() {
		inW.Close()
		select {
		case <-c.code:
		case <-time.After(patience):
			t.Errorf("the server does not end; stderr: %s", c.stderr)
		}
	})
	return c
}

const sdkMark = "sdk/tool-sdk.sh"

// send writes a line.
func (c *testClient) send(line string) {
	c.t.Helper()
	c.checker.Sent([]byte(line))
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatalf("send: %v; stderr: %s", err, c.stderr)
	}
}

// next returns the next line of the server.
func (c *testClient) next() string {
	c.t.Helper()
	if len(c.pending) > 0 {
		line := c.pending[0]
		c.pending = c.pending[1:]
		return line
	}
	return c.read()
}

func (c *testClient) read() string {
	c.t.Helper()
	select {
	case line, ok := <-c.lines:
		if !ok {
			c.t.Fatalf("the server has ended; stderr: %s", c.stderr)
		}
		return line
	case <-time.After(patience):
		c.t.Fatalf("no line came; stderr: %s", c.stderr)
	}
	return ""
}

// expect demands that the next line is this one.
func (c *testClient) expect(want string) {
	c.t.Helper()
	if got := c.next(); !jsontest.Same(got, want) {
		c.t.Fatalf("\n got %s\nwant %s", got, want)
	}
}

// await returns the first line for which ok holds; the others stay for later.
func (c *testClient) await(what string, ok func(line string) bool) string {
	c.t.Helper()
	for i, line := range c.pending {
		if ok(line) {
			c.pending = append(c.pending[:i:i], c.pending[i+1:]...)
			return line
		}
	}
	for {
		line := c.read()
		if ok(line) {
			return line
		}
		c.pending = append(c.pending, line)
		if len(c.pending) > 5000 {
			c.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// request sends a request and returns the response, id apart.
func (c *testClient) request(method, params string) string {
	c.t.Helper()
	c.nextID++
	id := "\"r" + strconv.Itoa(c.nextID) + "\""
	c.send(message(id, method, params))
	return c.response(id)
}

func message(id, method, params string) string {
	line := `{"jsonrpc":"2.0"`
	if id != "" {
		line += `,"id":` + id
	}
	line += `,"method":"` + method + `"`
	if params != "" {
		line += `,"params":` + params
	}
	return line + "}"
}

// response returns the response with that id, without envelope.
func (c *testClient) response(id string) string {
	c.t.Helper()
	prefix := `{"jsonrpc":"2.0","id":` + id + `,`
	line := c.await("the response to "+id, func(line string) bool { return strings.HasPrefix(line, prefix) })
	return strings.TrimSuffix(strings.TrimPrefix(line, prefix), "}")
}

// handshake opens the session.
func (c *testClient) handshake(revision, capabilities string) string {
	c.t.Helper()
	got := c.request("initialize",
		`{"protocolVersion":"`+revision+`","capabilities":`+capabilities+`,"clientInfo":{"name":"test","version":"1"}}`)
	c.send(message("", "notifications/initialized", ""))
	return got
}

// ready starts a session of the newest revision.
func ready(t *testing.T, list map[string]string, env project.Env) *testClient {
	t.Helper()
	c := start(t, files(t, list), env)
	c.handshake("2025-11-25", "{}")
	return c
}

// call calls a tool.
func (c *testClient) call(name, arguments string) string {
	c.t.Helper()
	return c.request("tools/call", `{"name":"`+name+`","arguments":`+arguments+`}`)
}

// end closes the input and returns the exit code.
func (c *testClient) end() int {
	c.t.Helper()
	c.in.Close()
	return c.exit()
}

// exit waits for the end of the server.
func (c *testClient) exit() int {
	c.t.Helper()
	select {
	case code := <-c.code:
		c.code <- code
		return code
	case <-time.After(patience):
		c.t.Fatalf("the server does not end; stderr: %s", c.stderr)
	}
	return -1
}

// quiet demands that nothing more came before the end.
func (c *testClient) quiet() {
	c.t.Helper()
	for line := range c.lines {
		c.pending = append(c.pending, line)
	}
	if len(c.pending) > 0 {
		c.t.Errorf("unexpected lines: %q", c.pending)
	}
}

// text returns the text of a tool's result.
func text(t *testing.T, response string) string {
	t.Helper()
	v := json.RawMessage("{" + response + "}")
	for e := range rawjson.Elements(rawjson.Path(v, "result", "content")) {
		return rawjson.TextOf(e, "text")
	}
	t.Fatalf("no content in %s", response)
	return ""
}

// mark returns a path whose file scripts make, and a function that waits for
// it.
func mark(t *testing.T, dir, name string) (path string, await func()) {
	path = filepath.Join(dir, name)
	return path, func() {
		t.Helper()
		eventually(t, name+" to appear", func() bool {
			_, err := os.Stat(path)
			return err == nil
		})
	}
}

// waitAt is a line of a script that waits at a gate, a FIFO that nobody writes to.
func waitAt(gate string) string {
	return `mkfifo -m 600 "` + gate + `" 2>/dev/null || :; : <"` + gate + `"` + "\n"
}

// openGate lets all scripts continue that wait at a gate, now or later.
func openGate(t *testing.T, path string) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil && !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	gate, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { gate.Close() })
}

// awaitStderr waits until standard error contains a text a number of times. The server writes it in
// parallel with the answers.
func (c *testClient) awaitStderr(text string, times int) {
	c.t.Helper()
	eventually(c.t, text, func() bool { return strings.Count(c.stderr.String(), text) >= times })
}

// eventually waits until a condition holds that nothing announces.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	late := time.After(patience)
	for !holds() {
		select {
		case <-look.C:
		case <-late:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

var sprintf = fmt.Sprintf

// finish ends the server, and expects no more messages.
func (c *testClient) finish() {
	c.t.Helper()
	c.end()
	c.quiet()
}
