package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A web is a server that runs and answers over HTTP.
type web struct {
	name    string
	process *os.Process
	addr    string
	alarm   *time.Timer
}

// startWeb starts a server. A server prints the address of its endpoint to standard error.
func startWeb(p program) (*web, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	r, noise, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	process, err := launchWith(p, null, null, noise)
	noise.Close()
	if err != nil {
		r.Close()
		return nil, err
	}
	s := &web{name: p.name, process: process}
	s.alarm = time.AfterFunc(longest, func() { process.Kill() })
	printed, seen := bufio.NewReader(r), ""
	for s.addr == "" {
		line, err := printed.ReadString('\n')
		seen += line
		if _, rest, found := strings.Cut(line, "http://"); found {
			s.addr, _, _ = strings.Cut(rest, "/")
		} else if err != nil {
			s.end()
			return nil, fmt.Errorf("%s does not serve: %s", p.name, seen)
		}
	}
	go io.Copy(io.Discard, printed)
	return s, nil
}

// end ends a server, however it takes that.
func (s *web) end() {
	s.process.Kill()
	s.alarm.Stop()
	wait(s.process, s.name)
}

// A link is one HTTP/1.1 connection that stays open. The generator of the load shares the processors with
// the server that it measures. So requests are prepared once, and of a response only the status,
// the length and a part of the body are looked at.
type link struct {
	conn net.Conn
	buf  []byte
	from int // start of what was not used
	upTo int // end of what was read
	body []byte
}

func (s *web) dial() (*link, error) {
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		return nil, err
	}
	return &link{conn: conn, buf: make([]byte, 4<<10)}, nil
}

// more reads what there is.
func (l *link) more() error {
	if l.from == l.upTo {
		l.from, l.upTo = 0, 0
	}
	if l.upTo == len(l.buf) {
		if l.from > 0 {
			l.upTo = copy(l.buf, l.buf[l.from:l.upTo])
			l.from = 0
		} else {
			l.buf = append(l.buf, make([]byte, len(l.buf))...)
		}
	}
	n, err := l.conn.Read(l.buf[l.upTo:])
	l.upTo += n
	if n > 0 {
		return nil
	}
	return err
}

// until returns what comes before a mark, valid until the next call.
func (l *link) until(mark string) ([]byte, error) {
	for {
		if at := bytes.Index(l.buf[l.from:l.upTo], []byte(mark)); at >= 0 {
			text := l.buf[l.from : l.from+at]
			l.from += at + len(mark)
			return text, nil
		}
		if err := l.more(); err != nil {
			return nil, err
		}
	}
}

// take appends n bytes to the body.
func (l *link) take(n int) error {
	for l.upTo-l.from < n {
		if err := l.more(); err != nil {
			return err
		}
	}
	l.body = append(l.body, l.buf[l.from:l.from+n]...)
	l.from += n
	return nil
}

// head sends a request, and returns the head of the response, valid until the next call.
func (l *link) head(request []byte) ([]byte, error) {
	if _, err := l.conn.Write(request); err != nil {
		return nil, err
	}
	return l.until("\r\n\r\n")
}

// ask sends a request and reads all of the response into the body.
func (l *link) ask(request []byte) (head []byte, err error) {
	if head, err = l.head(request); err != nil {
		return nil, err
	}
	l.body = l.body[:0]
	if length := header(head, "Content-Length"); length != "" {
		n, err := strconv.Atoi(length)
		if err != nil {
			return nil, err
		}
		if n > l.upTo-l.from { // the buffer changes
			head = bytes.Clone(head)
		}
		return head, l.take(n)
	}
	head = bytes.Clone(head) // an event stream, or another body in chunks
	for {
		size, err := l.until("\r\n")
		if err != nil {
			return nil, err
		}
		n, err := strconv.ParseInt(string(size), 16, 32)
		if err != nil {
			return nil, err
		}
		if err := l.take(int(n)); err != nil {
			return nil, err
		}
		if _, err := l.until("\r\n"); err != nil || n == 0 {
			return head, err
		}
	}
}

// header returns a header of a response. Servers write its name as given, or in small letters.
func header(head []byte, name string) string {
	for _, name := range []string{name, strings.ToLower(name)} {
		if _, rest, found := bytes.Cut(head, []byte("\r\n"+name+": ")); found {
			value, _, _ := bytes.Cut(rest, []byte("\r\n"))
			return string(value)
		}
	}
	return ""
}

var ok = []byte("HTTP/1.1 200 ")

// check sends a request and demands an answer that contains want.
func (l *link) check(request []byte, want []byte) error {
	head, err := l.ask(request)
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(head, ok) || !bytes.Contains(l.body, want) {
		return fmt.Errorf("no %q in the answer: %.300s: %.500s", want, head, l.body)
	}
	return nil
}

// A post is what one request of a client is made of.
type post struct{ version, session, method, name, params string }

// over returns a request as HTTP.
func (p post) over(addr string) []byte {
	var b bytes.Buffer
	b.WriteString("POST /mcp HTTP/1.1\r\nHost: " + addr + "\r\nContent-Type: application/json\r\n" +
		"Accept: application/json, text/event-stream\r\n")
	for name, value := range map[string]string{"Mcp-Protocol-Version": p.version, "Mcp-Session-Id": p.session} {
		if value != "" {
			b.WriteString(name + ": " + value + "\r\n")
		}
	}
	if p.version == statelessVersion {
		b.WriteString("Mcp-Method: " + p.method + "\r\n")
		if p.name != "" {
			b.WriteString("Mcp-Name: " + p.name + "\r\n")
		}
	}
	id := `"id":1,`
	if strings.HasPrefix(p.method, "notifications/") {
		id = ""
	}
	body := `{"jsonrpc":"2.0",` + id + `"method":"` + p.method + `"`
	if p.params != "" {
		body += `,"params":` + p.params
	}
	body += "}"
	fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(body), body)
	return b.Bytes()
}

const (
	handshakeVersion = "2025-06-18"
	statelessVersion = "2026-07-28"
)

// session opens a connection and begins a session on it.
func (s *web) session() (l *link, id string, err error) {
	if l, err = s.dial(); err != nil {
		return nil, "", err
	}
	head, err := l.ask(post{method: "initialize", params: initialize}.over(s.addr))
	if err == nil {
		if id = header(head, "Mcp-Session-Id"); !bytes.HasPrefix(head, ok) || id == "" {
			err = fmt.Errorf("%s: no session: %.300s: %.500s", s.name, head, l.body)
		}
	}
	if err == nil {
		head, err = l.ask(post{version: handshakeVersion, session: id, method: "notifications/initialized"}.over(s.addr))
	}
	if err == nil && !bytes.HasPrefix(head, []byte("HTTP/1.1 202 ")) {
		err = fmt.Errorf("%s: not initialized: %.300s", s.name, head)
	}
	if err != nil {
		l.conn.Close()
		return nil, "", err
	}
	return l, id, nil
}

// stream opens the stream of a session: GET.
func (l *link) stream(addr, session string) error {
	head, err := l.head([]byte("GET /mcp HTTP/1.1\r\nHost: " + addr + "\r\nAccept: text/event-stream\r\n" +
		"Mcp-Protocol-Version: " + handshakeVersion + "\r\nMcp-Session-Id: " + session + "\r\n\r\n"))
	if err == nil && !bytes.HasPrefix(head, ok) {
		err = fmt.Errorf("no stream: %.300s", head)
	}
	return err
}

// A load is several connections that send the same request, each its own.
type load struct {
	links    []*link
	requests [][]byte
	want     []byte
}

// prepare opens n connections and asks on each for the first time. With a handshake each has its own session.
func (s *web) prepare(n int, version, method, name, params, want string) (*load, error) {
	all := &load{want: []byte(want)}
	for range n {
		p := post{version: version, method: method, name: name, params: params}
		var l *link
		var err error
		if version == statelessVersion {
			p.params = stateless(params, `{"elicitation":{}}`)
			l, err = s.dial()
		} else {
			l, p.session, err = s.session()
		}
		if err == nil {
			all.links, all.requests = append(all.links, l), append(all.requests, p.over(s.addr))
			err = l.check(all.requests[len(all.requests)-1], all.want)
		}
		if err != nil {
			all.close()
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return all, nil
}

func (l *load) close() {
	for _, link := range l.links {
		link.conn.Close()
	}
}

// run returns a task that sends n requests in all. Its results are the number of requests a second, and the median
// and 99th percentile of the time to the answer in ms. The first request of each connection counts for the rate
// alone, because all are sent at the same moment.
func (l *load) run(n int) task {
	times := make([]sample, len(l.links))
	return func() ([]float64, error) {
		var left atomic.Int64
		left.Store(int64(n))
		failed := make([]error, len(l.links))
		var group sync.WaitGroup
		began := time.Now()
		for i, link := range l.links {
			times[i] = times[i][:0]
			group.Go(func() {
				for first := true; left.Add(-1) >= 0; first = false {
					sent := time.Now()
					if failed[i] = link.check(l.requests[i], l.want); failed[i] != nil {
						left.Store(0)
						return
					}
					if !first || n <= len(l.links) {
						times[i] = append(times[i], milliseconds(time.Since(sent)))
					}
				}
			})
		}
		group.Wait()
		rate := float64(n) / time.Since(began).Seconds()
		if err := errors.Join(failed...); err != nil {
			return nil, err
		}
		var all sample
		for _, s := range times {
			all = append(all, s...)
		}
		return []float64{rate, all.quantile(0.5), all.quantile(0.99)}, nil
	}
}
