package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"strconv"
	"sync"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/revision"
)

// isStateless reports whether a message belongs to the revision without sessions: its _meta names a
// revision, or contains another key of that revision.
func isStateless(m message) bool {
	for _, name := range []string{
		revision.MetaVersion, revision.MetaCapabilities, revision.MetaClientInfo, revision.MetaLogLevel,
	} {
		if m.meta(name) != nil {
			return true
		}
	}
	return m.method == "server/discover"
}

// A stateless is the server process that all clients without a session share. Clients may choose the same ids and
// progress tokens, so the server gets numbers instead, and clients get their own
// back. Use startStateless.
type stateless struct {
	*process
	logging chan struct{} // holds a token while a request that wants log messages is open

	mu         sync.Mutex // never held while a line is written
	sent       int
	open       map[string]*pending    // by the id that the server knows
	parameters map[string][]parameter // by tool, of those listed
}

// A pending is a request with the stream of its answers.
type pending struct {
	*stream
	number    string // the id that the server gets
	id, token json.RawMessage
	method    string
	logs      bool // it wants log messages
	given     bool // its client has gone: what still comes was under way
}

// startStateless starts the server.
func startStateless(cmd *exec.Cmd, transcript *transcript) (*stateless, error) {
	s := &stateless{
		process: newProcess("shared", cmd, transcript), logging: make(chan struct{}, 1), open: map[string]*pending{},
		parameters: map[string][]parameter{},
	}
	return s, s.begin(s.deliver, s.gone)
}

// gone ends all answers, without what will not come.
func (s *stateless) gone() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.open {
		e.close()
	}
}

// check returns an error unless the headers of a request agree with its body.
func (s *stateless) check(h http.Header, m message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return checkHeaders(h, m, s.parameters[rawjson.TextOf(m.params, "name")])
}

// ask sends a request. Its messages arrive on the stream of the result, the answer last.
func (s *stateless) ask(m message, line []byte) (*pending, error) {
	e := &pending{stream: newStream(), id: m.id, token: m.meta("progressToken"), method: m.method,
		logs: m.meta(revision.MetaLogLevel) != nil}
	s.mu.Lock()
	s.sent++
	e.number = strconv.Itoa(s.sent)
	s.open[e.number] = e
	s.mu.Unlock()
	number := json.RawMessage(e.number)
	line = replace(line, number, "id")
	line = replace(line, number, "params", "_meta", "progressToken")
	if err := s.write(line); err != nil {
		return nil, err
	}
	return e, nil
}

// give cancels a request whose client has gone, unless it has been answered.
func (s *stateless) give(e *pending) {
	s.mu.Lock()
	isOpen := s.open[e.number] == e
	e.given = true
	s.mu.Unlock()
	if isOpen {
		s.write([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + e.number + `}}`))
	}
}

// deliver puts a line of the server on the stream of its request, under the names
// that the client gave.
func (s *stateless) deliver(line []byte) {
	m := read(line)
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.isAnswer() {
		e := s.open[string(m.id)]
		if e == nil {
			s.transcript.fault(s.id, fmt.Errorf("an answer to nothing that is open: %.300s", line))
			return
		}
		delete(s.open, e.number)
		for tool := range rawjson.Elements(rawjson.Get(m.result, "tools")) {
			s.parameters[rawjson.TextOf(tool, "name")] = parameters(rawjson.Get(tool, "inputSchema"))
		}
		line = replace(line, e.id, "id")
		e.put(replace(line, e.id, "result", "_meta", revision.MetaSubscriptionID))
		e.close()
		return
	}
	var e *pending
	switch {
	case m.meta(revision.MetaSubscriptionID) != nil:
		if e = s.open[string(m.meta(revision.MetaSubscriptionID))]; e != nil {
			line = replace(line, e.id, "params", "_meta", revision.MetaSubscriptionID)
		}
	case m.method == "notifications/progress":
		if e = s.open[string(rawjson.Get(m.params, "progressToken"))]; e != nil && e.token == nil {
			e = nil // it asked for no reports
		} else if e != nil {
			line = replace(line, e.token, "params", "progressToken")
		}
	default:
		e = s.only()
	}
	switch {
	case e == nil:
		s.transcript.fault(s.id, fmt.Errorf("it belongs to no request that is open: %.300s", line))
	case !e.given:
		e.put(line)
	}
}

// only returns the request of a message that does not name one, such as a log message. This is the request that
// wants log messages, of which only one is open at a time (see logging), or else the
// only open request.
func (s *stateless) only() *pending {
	var one, other, given *pending
	for _, e := range s.open {
		switch {
		case e.given:
			given = e
		case e.logs:
			return e
		case e.method != "subscriptions/listen":
			one, other = e, one
		}
	}
	switch {
	case other != nil:
		return nil
	case one != nil:
		return one
	}
	return given
}
