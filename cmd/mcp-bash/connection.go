package main

import (
	"bufio"
	"io"
	"sync"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/tree"
	"mcp-bash/pkg/serve"
)

// A connection is a client's connection to a server in this process.
type connection struct {
	lines chan []byte   // to send
	over  chan struct{} // closed after the last line
	in    *bufio.Reader
	gone  chan struct{} // closed when nobody reads the server's output any more
	code  chan int

	hang sync.Once
}

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

// send queues a line. It does not wait for the server, which may be waiting for its output to be read. The line is
// lost if the server has ended; receive reports that.
func (c *connection) send(line []byte) {
	select {
	case c.lines <- line:
	case <-c.over:
	}
}

// deliver sends the queued lines, and closes the input of the server after the last one.
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

func (c *connection) hangUp() { c.hang.Do(func() { close(c.over) }) }

func (c *connection) end() int {
	c.hangUp()
	io.Copy(io.Discard, c.in)
	close(c.gone)
	return <-c.code
}

// A serverEnd is the server's end of a connection, a [stdio.Streams].
type serverEnd struct {
	*io.PipeReader
	out  *io.PipeWriter
	gone chan struct{}
}

func (e *serverEnd) Write(p []byte) (int, error) { return e.out.Write(p) }

// Ready returns false, because a pipe in memory accepts nothing before it is read.
func (e *serverEnd) Ready() bool { return false }

// AwaitHangup is [stdio.Streams.AwaitHangup].
func (e *serverEnd) AwaitHangup() { <-e.gone }
