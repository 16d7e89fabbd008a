//go:build unix

package clients

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcp-bash/test/wire"
)

// A tap is a transport that starts a server and holds every line it writes
// against the published schema before the client sees it.
type tap struct {
	cmd     *exec.Cmd
	http    bool   // over HTTP, not standard streams
	address string // of the server over HTTP
	checker *wire.Checker
	stdin   io.WriteCloser
	stderr  bytes.Buffer  // to be read after ended
	ended   chan struct{} // closed when the server has exited and all it wrote is read
	exit    error         // of the process, after ended

	mu     sync.Mutex
	lines  []string // of the server
	faults []error
}

func newTap(cmd *exec.Cmd) *tap {
	return &tap{cmd: cmd, checker: wire.NewChecker(), ended: make(chan struct{})}
}

func (t *tap) Connect(ctx context.Context) (mcp.Connection, error) {
	if t.http {
		return t.connectHTTP(ctx)
	}
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	t.cmd.Stdout, t.cmd.Stderr = theirs, &t.stderr
	if t.stdin, err = t.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := t.cmd.Start(); err != nil {
		return nil, err
	}
	toClient, fromServer := io.Pipe()
	go t.pump(ours, fromServer)
	return (&mcp.IOTransport{Reader: toClient, Writer: (*clientEnd)(t)}).Connect(ctx)
}

// connectHTTP starts the server over HTTP, with a recorder between it and the client.
func (t *tap) connectHTTP(ctx context.Context) (mcp.Connection, error) {
	printed, err := t.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := t.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(printed)
	address := ""
	for address == "" {
		line, err := lines.ReadString('\n')
		t.stderr.WriteString(line)
		if _, rest, found := strings.Cut(line, "serving "); found {
			address = strings.TrimRight(strings.TrimSpace(rest), `"}`) // the line may be JSON
		} else if err != nil {
			return nil, errors.Join(err, t.cmd.Wait())
		}
	}
	t.address = address
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	recorder := httptest.NewServer(wire.NewRecorder(u, func(_ string, mark byte, text string) {
		t.mu.Lock()
		defer t.mu.Unlock()
		switch mark {
		case '<':
			t.lines = append(t.lines, text+"\n")
		case '!':
			t.faults = append(t.faults, errors.New(text))
		}
	}))
	go func() {
		io.Copy(&t.stderr, lines)
		t.exit = t.cmd.Wait()
		recorder.CloseClientConnections()
		recorder.Close()
		if t.cmd.ProcessState.ExitCode() == 128+int(syscall.SIGTERM) {
			t.exit = nil
		}
		close(t.ended)
	}()
	return (&mcp.StreamableClientTransport{Endpoint: recorder.URL + u.Path, MaxRetries: -1}).Connect(ctx)
}

// pump reads the server to its end, also when the client has stopped listening.
func (t *tap) pump(server io.ReadCloser, client *io.PipeWriter) {
	in := bufio.NewReader(server)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			fault := t.checker.Received(line)
			t.mu.Lock()
			t.lines = append(t.lines, string(line))
			if fault != nil {
				t.faults = append(t.faults, fault)
			}
			t.mu.Unlock()
			client.Write(line)
		}
		if err != nil {
			break
		}
	}
	server.Close()
	client.Close()
	t.exit = t.cmd.Wait()
	close(t.ended)
}

// A clientEnd is where the client writes. Closing it ends the server's input,
// and waits for the server to end.
type clientEnd tap

func (e *clientEnd) Write(line []byte) (int, error) {
	e.checker.Sent(line)
	return e.stdin.Write(line)
}

func (e *clientEnd) Close() error {
	e.stdin.Close()
	select {
	case <-e.ended:
		return nil
	case <-time.After(patience):
		e.cmd.Process.Kill()
		return errors.New("the server did not end with its input")
	}
}

// A message is one line of the server.
type message struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Progress      json.Number
		ProgressToken any
		Message       string
		Level         string
		Logger        string
		Data          any
	}
	Result json.RawMessage
	Error  json.RawMessage
}

// messages are the lines the server has written so far, those of one method, or
// all for "".
func (t *tap) messages(method string) []message {
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []message
	for _, line := range t.lines {
		var m message
		if json.Unmarshal([]byte(line), &m) == nil && (method == "" || m.Method == method) {
			list = append(list, m)
		}
	}
	return list
}
