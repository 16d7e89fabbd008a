package main

import (
	"bufio"
	"io"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/tree"
	"mcp-bash/pkg/serve"
)

// A connection is a client's connection to a server in this process.
type connection struct {
	to   *io.PipeWriter
	in   *bufio.Reader
	gone chan struct{} // closed when nobody reads the server's output any more
	code chan int
}

func connect(env project.Env, dir string, stderr io.Writer) *connection {
	fromUs, toServer := io.Pipe()
	toUs, fromServer := io.Pipe()
	c := &connection{to: toServer, in: bufio.NewReader(toUs), gone: make(chan struct{}), code: make(chan int, 1)}
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

// send sends a line. The server reads it, even if nobody reads the server's output. The line is lost if the server has
// ended; receive reports that.
func (c *connection) send(line []byte) { c.to.Write(line) }

// receive returns the next line, io.EOF when the server has ended.
func (c *connection) receive() ([]byte, error) { return c.in.ReadBytes('\n') }

// hangUp ends the server's input.
func (c *connection) hangUp() { c.to.Close() }

// abandon sends a cancellation and hangs up: a cancelled request gets no answer, and the server waits for its script.
func (c *connection) abandon(cancelled []byte) {
	c.send(cancelled)
	c.hangUp()
}

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
