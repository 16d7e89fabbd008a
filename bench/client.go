package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
)

// A client talks to a server over two pipes. It does as little as possible, so that the server dominates the
// figures. It blocks in the system call, not in Go's poller, and parses only enough of a line to
// recognize an answer.
type client struct {
	in   *os.File // the server's standard input
	out  *os.File
	buf  []byte
	from int // start of what was not handed out
	upTo int // end of what was read
	id   int
	req  []byte
}

// Ids have one length, so that the lengths of answers can be compared.
const firstID = 1_000_000

func newClient(in, out *os.File) *client {
	return &client{in: in, out: out, buf: make([]byte, 64<<10), id: firstID}
}

// request appends a request line.
func (c *client) request(dst []byte, method, params string) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = strconv.AppendInt(dst, int64(c.id), 10)
	c.id++
	dst = append(dst, `,"method":"`...)
	dst = append(dst, method...)
	dst = append(dst, '"')
	if params != "" {
		dst = append(dst, `,"params":`...)
		dst = append(dst, params...)
	}
	return append(dst, "}\n"...)
}

func (c *client) send(method, params string) error {
	c.req = c.request(c.req[:0], method, params)
	_, err := c.in.Write(c.req)
	return err
}

func (c *client) notify(method string) error {
	_, err := fmt.Fprintf(c.in, `{"jsonrpc":"2.0","method":%q}`+"\n", method)
	return err
}

// line returns the next line, valid until the next call.
func (c *client) line() ([]byte, error) {
	seen := c.from
	for {
		if at := bytes.IndexByte(c.buf[seen:c.upTo], '\n'); at >= 0 {
			line := c.buf[c.from : seen+at]
			c.from = seen + at + 1
			return line, nil
		}
		seen = c.upTo
		if c.from > 0 {
			seen = copy(c.buf, c.buf[c.from:c.upTo])
			c.from, c.upTo = 0, seen
		}
		if c.upTo == len(c.buf) {
			c.buf = append(c.buf, make([]byte, 3*len(c.buf))...)
		}
		n, err := c.out.Read(c.buf[c.upTo:])
		c.upTo += n
		if n == 0 {
			return nil, fmt.Errorf("the server ended its output: %w", err)
		}
	}
}

// waiting reports whether a whole line has been read already.
func (c *client) waiting() bool { return bytes.IndexByte(c.buf[c.from:c.upTo], '\n') >= 0 }

// answer returns the next line that is an answer.
func (c *client) answer() ([]byte, error) {
	for {
		line, err := c.line()
		if err != nil {
			return nil, err
		}
		if bytes.HasPrefix(line, []byte(`{"jsonrpc":"2.0","method":`)) || bytes.HasPrefix(line, []byte(`{"method":`)) {
			continue
		}
		return line, nil
	}
}

// ask asks anything and looks at the answer well.
func (c *client) ask(method, params string) (json.RawMessage, error) {
	if err := c.send(method, params); err != nil {
		return nil, err
	}
	line, err := c.answer()
	if err != nil {
		return nil, err
	}
	return resultOf(line)
}

func resultOf(line []byte) (json.RawMessage, error) {
	var m struct{ Result, Error json.RawMessage }
	if err := json.Unmarshal(line, &m); err != nil {
		return nil, fmt.Errorf("%w in %.200s", err, line)
	}
	var failed struct{ IsError bool }
	if m.Result == nil || json.Unmarshal(m.Result, &failed) != nil || failed.IsError {
		return nil, fmt.Errorf("refused: %.500s", line)
	}
	return m.Result, nil
}

const initialize = `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1.0.0"}}`

// open is the handshake.
func (c *client) open() error {
	if _, err := c.ask("initialize", initialize); err != nil {
		return err
	}
	return c.notify("notifications/initialized")
}

// A question is a request that is asked many times. Its first answer was looked
// at well; of the later ones only the length is.
type question struct {
	*client
	method, params string
	length         int
}

var errChanged = errors.New("the answer is not what it was")

// prepare asks a question for the first time; the answer must hold want.
func (c *client) prepare(method, params, want string) (*question, error) {
	if err := c.send(method, params); err != nil {
		return nil, err
	}
	line, err := c.answer()
	if err != nil {
		return nil, err
	}
	if _, err := resultOf(line); err != nil {
		return nil, err
	}
	if !bytes.Contains(line, []byte(want)) {
		return nil, fmt.Errorf("no %q in %.500s", want, line)
	}
	return &question{c, method, params, len(line)}, nil
}

func (q *question) again() error {
	if err := q.send(q.method, q.params); err != nil {
		return err
	}
	return q.hear()
}

func (q *question) hear() error {
	line, err := q.answer()
	if err == nil && len(line) != q.length {
		err = fmt.Errorf("%w: %.500s", errChanged, line)
	}
	return err
}

// keep asks n times and has as many as window questions open all the while.
func (q *question) keep(n, window int) error {
	q.req = q.req[:0]
	for range min(n, window) {
		q.req = q.request(q.req, q.method, q.params)
	}
	for sent, heard := min(n, window), 0; heard < n; heard++ {
		if len(q.req) > 0 && !q.waiting() {
			if _, err := q.in.Write(q.req); err != nil {
				return err
			}
			q.req = q.req[:0]
		}
		if err := q.hear(); err != nil {
			return err
		}
		if sent < n {
			q.req = q.request(q.req, q.method, q.params)
			sent++
		}
	}
	return nil
}

// pour asks n times without waiting for any answer.
func (q *question) pour(n int) error {
	var all []byte
	for range n {
		all = q.request(all, q.method, q.params)
	}
	written := make(chan error, 1)
	go func() {
		_, err := q.in.Write(all)
		written <- err
	}()
	for range n {
		if err := q.hear(); err != nil {
			return err
		}
	}
	return <-written
}
