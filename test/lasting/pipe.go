//go:build linux

package lasting

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"sync"
)

// A pipe is the connection of a server on standard streams. Several workers share it.
type pipe struct {
	srv  *server
	in   io.WriteCloser
	out  io.ReadCloser
	over chan struct{} // closed after the last answer

	write   sync.Mutex // one line at a time
	mu      sync.Mutex
	waiting map[int]*waiter
	greeted chan struct{}
}

// A waiter waits for the answer of a call.
type waiter struct {
	call   *call
	answer chan *answer
}

func (srv *server) connect() (err error) {
	p := &pipe{srv: srv, waiting: map[int]*waiter{}, over: make(chan struct{}), greeted: make(chan struct{})}
	srv.pipe = p
	if p.in, err = srv.cmd.StdinPipe(); err == nil {
		p.out, err = srv.cmd.StdoutPipe()
	}
	return err
}

func (p *pipe) listen(streams *sync.WaitGroup) {
	streams.Go(func() {
		defer close(p.over)
		lines := bufio.NewReaderSize(p.out, 64<<10)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return // the last line of a server that was killed may be cut
			}
			p.take(line)
		}
	})
}

// take handles one line.
func (p *pipe) take(line []byte) {
	r := p.srv.run
	a, err := parseAnswer(line)
	if err != nil {
		r.violate("server %d: %v: %.300q", p.srv.n, err, line)
		return
	}
	if a.Method != "" {
		return // a notification
	}
	if string(a.ID) == `"greeting"` {
		close(p.greeted)
		return
	}
	n, err := strconv.Atoi(string(a.ID))
	p.mu.Lock()
	w := p.waiting[n]
	p.mu.Unlock()
	if err != nil || w == nil {
		r.violate("server %d: an answer that nobody asked for: %.300q", p.srv.n, line)
		return
	}
	if r.answered(w.call) > 1 {
		r.violate("server %d: answered twice: %.300q", p.srv.n, line)
		return
	}
	w.answer <- a
}

// greet begins a session, or makes another first request. The answer to it closes the channel.
func (p *pipe) greet(stateless bool) (ready chan struct{}, err error) {
	if stateless {
		return p.greeted, p.send(`{"jsonrpc":"2.0","id":"greeting","method":"server/discover","params":{` + meta + `}}`)
	}
	return p.greeted, p.send(`{"jsonrpc":"2.0","id":"greeting","method":"initialize","params":{` +
		`"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"lasting","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func (p *pipe) send(text string) error {
	p.write.Lock()
	defer p.write.Unlock()
	_, err := io.WriteString(p.in, text+"\n")
	return err
}

// expect enters a call whose answer will come.
func (p *pipe) expect(c *call) *waiter {
	w := &waiter{c, make(chan *answer, 2)}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting[c.N] = w
	return w
}

// forget ends the wait for a call that was answered. An answer that comes later is one that nobody asked for.
func (p *pipe) forget(c *call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.waiting, c.N)
}

// An answer is a message of a server.
type answer struct {
	ID     json.RawMessage
	Method string
	Result *struct {
		Content           []struct{ Type, Text, URI string }
		IsError           bool
		StructuredContent json.RawMessage
		Contents          []struct{ URI, Text string }
		Messages          []struct{ Content struct{ Text string } }
		Tools             []struct{ Name, Description string }
		Completion        struct{ Values []string }
		Meta              struct {
			ExitCode *int
		} `json:"_meta"`
	}
	Error *struct {
		Code    int
		Message string
	}
	text []byte
}

func parseAnswer(text []byte) (*answer, error) {
	a := &answer{text: text}
	if err := json.Unmarshal(text, a); err != nil {
		return nil, err
	}
	if a.Method == "" && (a.Result == nil) == (a.Error == nil) {
		return nil, fmt.Errorf("not an answer")
	}
	return a, nil
}
