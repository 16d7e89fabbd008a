// Package stdio connects one client over a pair of streams, usually standard input and output. It
// reads lines, and runs requests on the goroutine that reads. It stops reading while the client
// leaves too much unread. It ends the connection when the client is gone or idle.
package stdio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"mcp-bash/pkg/clock"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/protocol"
	"mcp-bash/pkg/wire/jsonrpc"
	"mcp-bash/pkg/wire/mcp"
)

// A Client has the functions of the protocol that a connection needs. See [protocol.Client] for the methods.
type Client interface {
	Accept(line []byte, out protocol.Sink) protocol.Task
	RefuseLong(out protocol.Sink)
	AwaitRoom()
	Full() bool
	InUse() bool
	Ended() bool
	Warn(message string)
	CloseInput() protocol.Ending
	WaitAnswered()
	Wait()
	Finish()
	Cancel(cause error)
	Leave()
}

// A Config is the input of [New].
type Config struct {
	Context context.Context // of the process
	Streams Streams
	Project *project.Project
	Parent  int // the process that started this one
}

// A Connection is a client on two streams. It implements [protocol.Connection].
type Connection struct {
	*jsonrpc.Writer // of all messages
	Config
	client Client
	reader *jsonrpc.Reader // belongs to the goroutine that reads

	activity atomic.Int64 // when the last line was read, of [clock.Now]
	endings  chan protocol.Ending
	hangup   sync.Once                       // starts the goroutine that waits for the end of the output
	lost     atomic.Pointer[protocol.Ending] // set when the output could not be written
}

// New returns a connection. connect makes its client.
func New(c Config, connect func(protocol.Connection) Client) *Connection {
	conn := &Connection{
		Config: c, reader: jsonrpc.NewReader(c.Streams, c.Project.Limits.Line), endings: make(chan protocol.Ending, 1),
	}
	conn.Writer = jsonrpc.NewWriter(c.Streams, c.Project.Limits.Pending, conn.writeFailed)
	conn.activity.Store(int64(clock.Now()))
	conn.client = connect(conn)
	return conn
}

// Serve begins to read.
func (c *Connection) Serve() {
	go c.read()
	go c.watchIdle()
	go c.watchParent()
}

// End implements [protocol.Connection].
func (c *Connection) End(e protocol.Ending) {
	select {
	case c.endings <- e:
	default:
	}
}

// Last implements [protocol.Sink]. The answers of all requests are in one stream.
func (c *Connection) Last(line []byte, _ *mcp.Error) {
	if line != nil {
		c.Queue(line)
	}
}

// Endings returns the channel of the reasons to end the connection.
func (c *Connection) Endings() <-chan protocol.Ending { return c.endings }

// Signalled returns how a signal ends the process: at once.
func (c *Connection) Signalled(e protocol.Ending) protocol.Ending { return e }

// readOn is how long a request may use the goroutine that read it, before another goroutine continues to read. Most
// requests without a script take less. Then no thread is woken, which costs more than reading a file.
const readOn = time.Millisecond

// read reads messages until the input ends, or until it runs a request that takes long and
// another goroutine continues to read.
func (c *Connection) read() {
	for {
		if !c.reader.Waiting() {
			c.Push()
		}
		c.AwaitRoom()
		line, err := c.reader.Next()
		c.activity.Store(int64(clock.Now()))
		switch {
		case errors.Is(err, jsonrpc.ErrTooLong):
			c.client.RefuseLong(c)
		case err != nil:
			c.Push()
			c.inputEnded(err)
			return
		default:
			if task := c.client.Accept(line, c); task != nil && c.run(task) {
				return
			}
		}
		if c.client.Ended() {
			c.Push()
			return
		}
	}
}

// run runs a request on the goroutine that read it. It reports whether another goroutine continues to read. If the
// last request of the same method took long, that goroutine starts at once.
func (c *Connection) run(task protocol.Task) (handedOff bool) {
	slow := task.Slow()
	if slow.Load() {
		began := time.Now()
		go c.read()
		task.Run()
		if time.Since(began) < readOn {
			slow.Store(false)
		}
		return true
	}
	relief := time.AfterFunc(readOn, func() {
		slow.Store(true)
		c.read()
	})
	task.Run()
	return !relief.Stop()
}

// AwaitRoom implements [protocol.Connection]. It waits while the answers that the client has not read, or its
// unfinished requests, use too much memory.
func (c *Connection) AwaitRoom() {
	if c.Full() || c.client.Full() {
		c.Push()
		c.hangup.Do(func() { // this goroutine does not read, so it cannot notice a hangup
			go func() {
				c.Streams.AwaitHangup()
				c.End(clientGone)
			}()
		})
		c.Reserve(c.Context, 0)
	}
	c.client.AwaitRoom()
}

// inputEnded ends the connection when nothing more can be read.
func (c *Connection) inputEnded(err error) {
	if !errors.Is(err, ErrHangup) {
		c.End(c.client.CloseInput())
		c.Streams.AwaitHangup()
	}
	c.writeFailed(ErrHangup, 0)
}

// clientGone is the ending when the client has closed the output.
var clientGone = protocol.Ending{Code: 1, Kill: true, Silent: true, Reason: "mcp-bash: stdout closed; exiting"}

// writeFailed ends the connection after a failed write: a message is missing or incomplete, and the client cannot
// notice.
func (c *Connection) writeFailed(err error, _ int) {
	if errors.Is(err, ErrHangup) {
		c.End(clientGone)
		return
	}
	lost := clientGone
	lost.Reason = "mcp-bash: write standard output: " + err.Error() + "; exiting"
	c.lost.Store(&lost)
	c.End(lost)
}

// Drain waits until the client has all answers. It returns the reason if the output was lost.
func (c *Connection) Drain() (lost *protocol.Ending) {
	c.client.Wait()
	c.Flush()
	c.client.Finish()
	c.Flush()
	c.client.Leave()
	return c.lost.Load()
}

// lastGrace is how long a client may take to read the last messages.
const lastGrace = time.Second

// Kill ends all requests. With silent, nothing more is sent. answered is closed when all requests
// are answered, whether or not the client reads.
func (c *Connection) Kill(cause error, silent bool) (answered, ended <-chan struct{}) {
	if silent {
		c.Close()
	}
	c.client.Cancel(cause)
	first, second := make(chan struct{}), make(chan struct{})
	go func() {
		c.client.WaitAnswered()
		close(first)
		c.client.Wait()
		close(second)
	}()
	return first, second
}

// Finish sends the last messages of a killed connection once its requests have ended, and closes
// the connection after a second at most.
func (c *Connection) Finish(ended <-chan struct{}) {
	written := make(chan struct{})
	go func() {
		<-ended
		c.client.Finish()
		c.Flush()
		close(written)
	}()
	select {
	case <-written:
	case <-time.After(lastGrace):
	}
	c.Close()
}

// Streams are the input from a client and the output to it.
type Streams interface {
	io.Reader // its error is [ErrHangup] when the client no longer reads the output
	jsonrpc.Output
	// AwaitHangup returns when the client no longer reads the output.
	AwaitHangup()
}

// ErrHangup is the error of both directions once the client has closed the output.
var ErrHangup = errors.New("output closed by the client")

// errNoOutput is the error for a process without a usable standard output.
var errNoOutput = errors.New("mcp-bash requires stdout to be connected to an active pipe or terminal (stdout " +
	"must be connected)")

// watchIdle ends the connection after a long time without messages (protocol P-1000). A client
// that waits for the server is not idle.
func (c *Connection) watchIdle() {
	limit := c.Project.Sessions.Idle
	if limit <= 0 {
		return
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		select {
		case <-c.Context.Done():
			return
		case <-timer.C:
		}
		if c.client.InUse() {
			c.activity.Store(int64(clock.Now())) // the time begins when the last request ends
		}
		quiet := clock.Now() - time.Duration(c.activity.Load())
		if quiet >= limit {
			secs := strconv.Itoa(int(limit / time.Second))
			c.client.Warn("Server idle timeout (" + secs + "s) - no client activity")
			c.End(protocol.Ending{Kill: true,
				Reason: "mcp-bash: idle timeout after " + secs + "s with no client activity; exiting"})
			return
		}
		timer.Reset(min(limit-quiet, max(limit/4, 100*time.Millisecond))) // requests may end meanwhile
	}
}

// watchParent ends the connection when the process that started this one has ended. On Windows, a process keeps the
// number of an ended parent.
func (c *Connection) watchParent() {
	pace := c.Project.Sessions.OrphanCheck
	if pace <= 0 || c.Parent == 1 || runtime.GOOS == "windows" {
		return
	}
	ticker := time.NewTicker(pace)
	defer ticker.Stop()
	for os.Getppid() == c.Parent {
		select {
		case <-c.Context.Done():
			return
		case <-ticker.C:
		}
	}
	c.client.Warn(fmt.Sprintf("Process orphaned - original parent PID %d no longer exists", c.Parent))
	e := protocol.Ending{Kill: true}
	if c.Project.Logging.Level == mcp.Debug {
		e.Reason = fmt.Sprintf("mcp-bash: process orphaned (original parent PID %d no longer exists); exiting", c.Parent)
	}
	c.End(e)
}
