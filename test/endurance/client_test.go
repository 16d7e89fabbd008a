//go:build linux

package endurance

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// A client is connected to one server and records every request.
type client struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr bytes.Buffer // guarded by mu
	ended  chan struct{}

	write sync.Mutex   // one line at a time
	deaf  atomic.Int64 // until when nothing is read, in nanoseconds

	mu       sync.Mutex
	last     int
	requests map[string]*asked
	faults   []string
	changed  *sync.Cond
}

// An asked is a request that the client sent.
type asked struct {
	what      string
	answers   int
	cancelled bool
}

func (c *client) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Sprintf(format, args...))
}

// start starts a server.
func start(cmd *exec.Cmd) (*client, error) {
	c := &client{cmd: cmd, requests: map[string]*asked{}, ended: make(chan struct{})}
	c.changed = sync.NewCond(&c.mu)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if c.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var streams sync.WaitGroup
	streams.Go(func() { c.read(stdout) })
	streams.Go(func() { c.listen(stderr) })
	go func() {
		streams.Wait()
		cmd.Wait()
		close(c.ended)
		c.changed.Broadcast()
	}()
	return c, nil
}

// stopReading leaves both streams of the server alone for a while.
func (c *client) stopReading(d time.Duration) { c.deaf.Store(time.Now().Add(d).UnixNano()) }

func (c *client) waitToRead() { time.Sleep(time.Until(time.Unix(0, c.deaf.Load()))) }

// read takes the lines of the server.
func (c *client) read(stdout io.Reader) {
	in := bufio.NewReaderSize(stdout, 64<<10)
	for {
		c.waitToRead()
		line, err := in.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			c.take(line, err)
		}
		if err != nil {
			return
		}
	}
}

// take records one line.
func (c *client) take(line []byte, end error) {
	var m struct {
		ID     json.RawMessage
		Method string
		Result json.RawMessage
		Error  json.RawMessage
	}
	if err := json.Unmarshal(line, &m); err != nil {
		if end == nil { // the last line of a server that was killed may be cut
			c.mu.Lock()
			c.fault("no JSON: %.200q", line)
			c.mu.Unlock()
		}
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case m.Method != "" && m.ID != nil:
		go c.line(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"decline","roots":[]}}`, m.ID))
	case m.Method != "" || m.ID == nil:
	default:
		r := c.requests[string(m.ID)]
		if r == nil {
			c.fault("an answer nobody asked for: %.200q", line)
			return
		}
		if r.answers++; r.answers > 1 {
			c.fault("answered twice: %s, %.200q", r.what, line)
		}
		c.changed.Broadcast()
	}
}

// maxLog limits the recorded part of the server's standard error, in bytes.
const maxLog = 1 << 20

func (c *client) listen(stderr io.Reader) {
	buf := make([]byte, 32<<10)
	for {
		c.waitToRead()
		n, err := stderr.Read(buf)
		c.mu.Lock()
		if c.stderr.Len() < maxLog {
			c.stderr.Write(buf[:n])
		}
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// line sends a line as it is.
func (c *client) line(text string) {
	c.write.Lock()
	defer c.write.Unlock()
	io.WriteString(c.stdin, text+"\n")
}

// request enters a request and returns its id and its line.
func (c *client) request(method, params string) (id, line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	id = strconv.Itoa(c.last)
	c.requests[id] = &asked{what: method + " " + params[:min(len(params), 120)]}
	return id, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)
}

// ask sends a request and waits for its answer, or for the end of the server.
func (c *client) ask(method, params string) {
	id, line := c.request(method, params)
	c.line(line)
	c.await(id)
}

func (c *client) await(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for r := c.requests[id]; r.answers == 0 && !r.cancelled && !c.isOver(); {
		c.changed.Wait()
	}
}

// cancel cancels a request. One that is answered all the same was on its way.
func (c *client) cancel(id string) {
	c.mu.Lock()
	c.requests[id].cancelled = true
	c.changed.Broadcast()
	c.mu.Unlock()
	c.line(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
}

func (c *client) isOver() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// patience is how long a server under the race detector and under load may
// take for what must come.
const patience = 90 * time.Second

// quiet waits until nothing is open.
func (c *client) quiet() error {
	late := time.AfterFunc(patience, c.changed.Broadcast)
	defer late.Stop()
	begun := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		open := ""
		for id, r := range c.requests {
			if r.answers == 0 && !r.cancelled {
				open = id + ": " + r.what
			}
		}
		switch {
		case open == "":
			return nil
		case c.isOver():
			return errors.New("the server ended")
		case time.Since(begun) >= patience:
			return errors.New("no answer to " + open)
		}
		c.changed.Wait()
	}
}
