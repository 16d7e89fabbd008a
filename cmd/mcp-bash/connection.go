package main

import (
	"bufio"
	"io"
	"sync"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/tree"
	"mcp-bash/pkg/serve"
)

// A connection leads to a server that runs in this process.
type connection struct {
	lines chan []byte   // what is to be sent
	over  chan struct{} // closed when nothing more is
	in    *bufio.Reader
	gone  chan struct{} // closed when nobody reads what the server sends any more
	code  chan int

	hang sync.Once
}

// connect starts a server with an environment.
func connect(env project.Env, dir string, stderr io.Writer) *connection {
	fromUs, toServer := io.Pipe()
	toUs, fromServer := io.Pipe()
	c := &connection{
		lines: make(chan []byte, 8), over: make(chan struct{}),
		in: bufio.NewReader(toUs), gone: make(chan struct{}), code: make(chan int, 1),
	}
	go c.deliver(toServer)
	go func() {
		code := serve.Serve(serve.Options{
			Env: env, Dir: dir, Tree: tree.Embedded, Stderr: stderr, Streams: &serverEnd{fromUs, fromServer, c.gone},
		})
		fromUs.Close()
		fromServer.Close()
		c.code <- code
	}()
	return c
}

// send has a line sent, and does not wait for the server to take it, which may be
// waiting for us to read. What a server that has ended does not take is lost: reading
// tells.
func (c *connection) send(line []byte) {
	select {
	case c.lines <- line:
	case <-c.over:
	}
}

// deliver sends the lines, and hangs up after the last.
func (c *connection) deliver(to *io.PipeWriter) {
	defer to.Close()
	for {
		select {
		case line := <-c.lines:
			to.Write(line)
			continue
		default:
		}
		select {
		case line := <-c.lines:
			to.Write(line)
		case <-c.over:
			if len(c.lines) == 0 {
				return
			}
		}
	}
}

// receive returns the next line, io.EOF when the server has ended.
func (c *connection) receive() ([]byte, error) { return c.in.ReadBytes('\n') }

// hangUp tells the server that nothing more will come.
func (c *connection) hangUp() { c.hang.Do(func() { close(c.over) }) }

// end lets the server end, and returns its exit code.
func (c *connection) end() int {
	c.hangUp()
	io.Copy(io.Discard, c.in)
	close(c.gone)
	return <-c.code
}

// A serverEnd is the other end, a [stdio.Streams].
type serverEnd struct {
	*io.PipeReader
	out  *io.PipeWriter
	gone chan struct{}
}

func (e *serverEnd) Write(p []byte) (int, error) { return e.out.Write(p) }

// Ready: a pipe in memory takes nothing before it is read.
func (e *serverEnd) Ready() bool { return false }

// AwaitHangup is [stdio.Streams.AwaitHangup].
func (e *serverEnd) AwaitHangup() { <-e.gone }
