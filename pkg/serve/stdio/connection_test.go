package stdio

import (
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/protocol"
)

// patience is how long a test waits for an event.
const patience = 30 * time.Second

// streams are the streams of a test.
type streams struct {
	io.Reader
	mu     sync.Mutex
	out    strings.Builder
	failed error         // of writes
	gone   chan struct{} // closed when the client closes the output
}

func (s *streams) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return 0, s.failed
	}
	return s.out.Write(p)
}
func (*streams) Ready() bool    { return true }
func (s *streams) AwaitHangup() { <-s.gone }

// client accepts each line that begins with "run" as a task, and answers all others.
type client struct {
	full    atomic.Bool
	busy    atomic.Bool
	ended   atomic.Bool
	warning string
	slow    atomic.Bool
	run     func(line string)
	room    chan struct{} // AwaitRoom sends to it, and then receives, while full is set
}

type task struct {
	client *client
	line   string
}

func (t task) Run()               { t.client.run(t.line) }
func (t task) Slow() *atomic.Bool { return &t.client.slow }
func (t task) Lingers() bool      { return false }

func (c *client) Accept(line []byte, out protocol.Sink) protocol.Task {
	if text := string(line); strings.HasPrefix(text, "run") {
		return task{c, text}
	}
	out.Queue(append(append([]byte("re: "), line...), '\n'))
	return nil
}

func (c *client) AwaitRoom() {
	if c.full.Load() {
		c.room <- struct{}{}
		<-c.room
	}
}
func (*client) RefuseLong(out protocol.Sink) { out.Queue([]byte("too long\n")) }
func (c *client) Full() bool                 { return c.full.Load() }
func (c *client) InUse() bool                { return c.busy.Load() }
func (c *client) Ended() bool                { return c.ended.Load() }
func (c *client) Warn(message string)        { c.warning = message }
func (*client) CloseInput() protocol.Ending  { return protocol.Ending{Reason: "end of input"} }
func (*client) WaitAnswered()                {}
func (*client) Wait()                        {}
func (*client) Finish()                      {}
func (*client) Cancel(error)                 {}
func (*client) Leave()                       {}

// serve serves a client whose input is given.
func serve(t *testing.T, in io.Reader, c *client, p *project.Project) (*Connection, *streams) {
	t.Helper()
	if p.Limits.Line == 0 {
		p.Limits.Line, p.Limits.Pending = 1000, 1000
	}
	s := &streams{Reader: in, gone: make(chan struct{})}
	t.Cleanup(func() { close(s.gone) })
	conn := New(Config{Context: t.Context(), Streams: s, Project: p}, func(protocol.Connection) Client { return c })
	conn.Serve()
	return conn, s
}

func ending(t *testing.T, conn *Connection) protocol.Ending {
	t.Helper()
	select {
	case e := <-conn.Endings():
		return e
	case <-time.After(patience):
		t.Fatal("the connection does not end")
		return protocol.Ending{}
	}
}

// P-404, P-903: lines are answered in order, and the end of input ends the connection.
func TestLines(t *testing.T) {
	conn, s := serve(t, strings.NewReader("a\n"+strings.Repeat("x", 2000)+"\nb\n"), &client{}, &project.Project{})
	if e := ending(t, conn); e.Reason != "end of input" || e.Kill {
		t.Errorf("%+v", e)
	}
	if lost := conn.Drain(); lost != nil || s.out.String() != "re: a\ntoo long\nre: b\n" {
		t.Errorf("%v, %q", lost, s.out.String())
	}
}

// P-1200: a task that takes long does not stop the reading, and the next one is read.
func TestReadingContinues(t *testing.T) {
	first, second := make(chan struct{}), make(chan struct{})
	c := &client{run: func(line string) {
		if line == "run 1" {
			<-second // the second line is read meanwhile
			close(first)
			return
		}
		close(second)
		<-first
	}}
	conn, _ := serve(t, strings.NewReader("run 1\nrun 2\n"), c, &project.Project{})
	ending(t, conn)
	<-first
}

// P-1803: nothing is read while the client uses too much memory.
func TestBackPressure(t *testing.T) {
	c := &client{room: make(chan struct{})}
	c.full.Store(true)
	in := &counter{Reader: strings.NewReader("a\n")}
	conn, s := serve(t, in, c, &project.Project{})
	<-c.room
	if n := in.reads.Load(); n != 0 {
		t.Errorf("%d reads", n)
	}
	c.full.Store(false)
	c.room <- struct{}{}
	ending(t, conn)
	conn.Flush()
	if s.out.String() != "re: a\n" {
		t.Errorf("%q", s.out.String())
	}
}

// A counter counts reads.
type counter struct {
	io.Reader
	reads atomic.Int32
}

func (c *counter) Read(p []byte) (int, error) {
	c.reads.Add(1)
	return c.Reader.Read(p)
}

// P-1103, P-904: a failed write ends the connection, and so does a closed output.
func TestLostOutput(t *testing.T) {
	for _, err := range []error{errors.New("disk full"), ErrHangup} {
		in, w := io.Pipe()
		conn, s := serve(t, in, &client{}, &project.Project{})
		s.mu.Lock()
		s.failed = err
		s.mu.Unlock()
		io.WriteString(w, "a\n")
		e := ending(t, conn)
		if !e.Kill || !e.Silent || e.Code != 1 || strings.Contains(e.Reason, "disk full") != (err != ErrHangup) {
			t.Errorf("%v: %+v", err, e)
		}
		w.Close()
	}
}

// P-1000: a client that sends nothing is idle, unless it waits for the server.
func TestIdle(t *testing.T) {
	in, w := io.Pipe()
	defer w.Close()
	c := &client{}
	c.busy.Store(true)
	p := &project.Project{}
	p.Sessions.Idle = 20 * time.Millisecond
	conn, _ := serve(t, in, c, p)
	select {
	case e := <-conn.Endings():
		t.Errorf("ended while busy: %+v", e)
	case <-time.After(5 * p.Sessions.Idle): // no event shows that nothing happens
	}
	c.busy.Store(false)
	if e := ending(t, conn); !e.Kill || !strings.Contains(e.Reason, "idle timeout") || c.warning == "" {
		t.Errorf("%+v", e)
	}
}
