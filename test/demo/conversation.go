package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os/exec"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcp-bash/test/wire"
)

// A conversation is a transport to a server that it starts. It prints all messages, and checks
// every line of the server against the published schema.
type conversation struct {
	cmd     *exec.Cmd
	printer *printer
	checker *wire.Checker
	stdin   io.WriteCloser
	ended   chan struct{} // closed when the server has ended and all output was read
	exit    error         // of the server, after ended

	mu    sync.Mutex
	said  map[string]int // how often the server has sent a method
	fault error          // the first line that was not as it should be
}

func newConversation(cmd *exec.Cmd, printer *printer) *conversation {
	return &conversation{cmd: cmd, printer: printer, checker: wire.NewChecker(), ended: make(chan struct{}),
		said: map[string]int{}}
}

// Connect starts the server.
func (c *conversation) Connect(ctx context.Context) (mcp.Connection, error) {
	stdout, err := c.cmd.StdoutPipe()
	if err == nil {
		c.stdin, err = c.cmd.StdinPipe()
	}
	if err == nil {
		err = c.cmd.Start()
	}
	if err != nil {
		close(c.ended)
		return nil, err
	}
	toClient, fromServer := io.Pipe()
	go c.listen(stdout, fromServer)
	return (&mcp.IOTransport{Reader: toClient, Writer: (*clientEnd)(c)}).Connect(ctx)
}

func (c *conversation) listen(server io.Reader, client *io.PipeWriter) {
	defer func() {
		client.Close()
		c.exit = c.cmd.Wait()
		close(c.ended)
	}()
	in := bufio.NewReader(server)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			fault := c.checker.Received(line)
			method := c.printer.message(fromServer, line)
			c.mu.Lock()
			c.said[method]++
			c.fault = errors.Join(c.fault, fault)
			c.mu.Unlock()
			client.Write(line)
		}
		if err != nil {
			return
		}
	}
}

// count is how often the server has sent a method.
func (c *conversation) count(method string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.said[method]
}

// close ends the server's input and waits for the server to end. It reports what
// was wrong with the conversation. It may be called again.
func (c *conversation) close() error {
	if c.stdin != nil {
		c.stdin.Close()
	}
	select {
	case <-c.ended:
	case <-time.After(10 * time.Second):
		c.cmd.Process.Kill()
		<-c.ended
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Join(c.fault, c.exit)
}

// A clientEnd is where the client writes.
type clientEnd conversation

func (e *clientEnd) Write(line []byte) (int, error) {
	e.checker.Sent(line)
	e.printer.message(fromClient, line)
	return e.stdin.Write(line)
}

func (e *clientEnd) Close() error { return (*conversation)(e).close() }
