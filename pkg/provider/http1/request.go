package http1

import (
	"bufio"
	"io"
	"net"
	"strconv"
)

// A Request is what is asked. Host, User-Agent, Accept and Content-Length are
// added.
type Request struct {
	Method string
	Target string      // path and query
	Header [][2]string // further fields
	Body   []byte
}

// Do makes a request. A response that is not read to its end costs the
// connection. The error is as that of [Client.Open].
func (s *Session) Do(r Request) (*Response, error) {
	if s.conn != nil && !s.conn.idle {
		s.Close()
	}
	again := s.conn != nil
	for {
		if s.conn == nil {
			if err := s.connect(); err != nil {
				return nil, s.orEnded(err)
			}
		}
		answer, err := s.conn.exchange(s.text(r), r.Method)
		if err == nil {
			return answer, nil
		}
		silent := s.conn.silent
		s.Close()
		// The other side may end a connection that waits at any time.
		if !again || !silent || s.ctx.Err() != nil {
			return nil, s.orEnded(err)
		}
		again = false
	}
}

// text writes a request.
func (s *Session) text(r Request) []byte {
	b := make([]byte, 0, 512+len(r.Body))
	field := func(name, value string) { b = append(append(append(append(b, name...), ": "...), value...), "\r\n"...) }
	b = append(append(append(append(b, r.Method...), ' '), escaped(r.Target)...), " HTTP/1.1\r\n"...)
	field("Host", s.hostHeader())
	field("User-Agent", s.client.UserAgent)
	field("Accept", "*/*")
	for _, f := range r.Header {
		field(f[0], f[1])
	}
	if r.Body != nil {
		field("Content-Length", strconv.Itoa(len(r.Body)))
	}
	b = append(b, "\r\n"...)
	return append(b, r.Body...)
}

// escaped encodes what may not stand in a request: blanks, control characters
// and what is not ASCII.
func escaped(target string) string {
	const hex = "0123456789ABCDEF"
	var b []byte
	for i := range len(target) {
		if c := target[i]; c <= ' ' || c >= 0x7f {
			b = append(b, '%', hex[c>>4], hex[c&15])
		} else {
			b = append(b, c)
		}
	}
	return string(b)
}

// A connection carries requests and answers.
type connection struct {
	net.Conn
	r      *bufio.Reader
	silent bool // nothing has come since the request
	idle   bool // the last answer has been read to its end, and another may follow
}

func newConnection(c net.Conn) *connection {
	conn := &connection{Conn: c, idle: true}
	conn.r = bufio.NewReaderSize(conn.Conn, 16<<10)
	return conn
}

func (c *connection) exchange(request []byte, method string) (*Response, error) {
	c.idle, c.silent = false, true
	if _, err := c.Write(request); err != nil {
		return nil, err
	}
	if _, err := c.r.Peek(1); err != nil {
		return nil, unexpected(err)
	}
	c.silent = false
	answer, err := readResponse(c.r, method)
	if err != nil {
		return nil, err
	}
	if answer.keeps {
		answer.Body = &atEnd{answer.Body, func() { c.idle = true }}
	}
	return answer, nil
}

// atEnd does something when a reader has come to its end.
type atEnd struct {
	io.Reader
	then func()
}

func (a *atEnd) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	if err == io.EOF {
		a.then()
	}
	return n, err
}
