package main

import (
	"fmt"
	"os/exec"
	"sync"

	"mcp-bash/pkg/json/rawjson"
)

// A session is one server process and the HTTP answers that wait for it: that of
// one client, which began with initialize. Use startSession.
type session struct {
	*process

	mu       sync.Mutex         // never held while a line is written
	revision string             // the result of initialize; empty before
	waiting  map[string]*stream // by id: what waits for an answer of the server
	tokens   map[string]*stream // by progress token, of what waits
	asked    map[string]*stream // by id: where requests of the server went
	general  *stream            // messages that belong to no request, for the client that listens
	heard    bool               // a client listens to general
}

// startSession starts the server.
func startSession(id string, cmd *exec.Cmd, transcript *transcript) (*session, error) {
	s := &session{
		process: newProcess(id, cmd, transcript), general: newStream(),
		waiting: map[string]*stream{}, tokens: map[string]*stream{}, asked: map[string]*stream{},
	}
	return s, s.begin(s.deliver, s.gone)
}

// gone ends all answers, without what will not come.
func (s *session) gone() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.waiting {
		s.forget(id)
	}
	s.general.close()
}

// deliver puts a line of the server on the stream it belongs to.
func (s *session) deliver(line []byte) {
	m := read(line)
	s.mu.Lock()
	defer s.mu.Unlock()
	to := s.general
	switch id := string(m.id); {
	case m.isAnswer():
		if st := s.waiting[id]; st != nil {
			if s.revision == "" {
				s.revision = rawjson.TextOf(m.result, "protocolVersion")
			}
			st.put(line)
			s.forget(id)
			return
		}
	case m.method == "notifications/progress":
		if st := s.tokens[string(rawjson.Get(m.params, "progressToken"))]; st != nil {
			to = st
		}
	case m.method == "notifications/cancelled":
		if st := s.asked[string(rawjson.Get(m.params, "requestId"))]; st != nil {
			to = st
		}
	case m.method == "notifications/message", m.method == "elicitation/create", m.method == "sampling/createMessage":
		to = s.only()
		if m.isRequest() {
			s.asked[id] = to
		}
	}
	if !to.put(line) {
		s.general.put(line) // the request it belonged to has been answered
	}
}

// only returns the stream of the only open request. On standard streams, a message does not name its request.
// If several are open, the message goes to the general stream.
func (s *session) only() *stream {
	if len(s.waiting) == 1 {
		for _, st := range s.waiting {
			return st
		}
	}
	return s.general
}

// forget closes the stream of a request, if it waits still. The caller holds mu.
func (s *session) forget(id string) {
	st := s.waiting[id]
	if st == nil {
		return
	}
	st.close()
	delete(s.waiting, id)
	for token, other := range s.tokens {
		if other == st {
			delete(s.tokens, token)
		}
	}
}

// ask sends a request and returns the stream with what belongs to it, the answer
// last.
func (s *session) ask(m message, line []byte) (*stream, error) {
	st := newStream()
	s.mu.Lock()
	if s.waiting[string(m.id)] != nil {
		s.mu.Unlock()
		return nil, fmt.Errorf("the id %s is in use: wait for its answer, or choose another", m.id)
	}
	s.waiting[string(m.id)] = st
	if token := m.meta("progressToken"); token != nil {
		s.tokens[string(token)] = st
	}
	s.mu.Unlock()
	if err := s.send(m, line); err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.forget(string(m.id))
		return nil, err
	}
	return st, nil
}

// send sends a message of any kind.
func (s *session) send(m message, line []byte) error {
	if m.isAnswer() {
		s.mu.Lock()
		delete(s.asked, string(m.id))
		s.mu.Unlock()
	}
	return s.write(line)
}

// listen takes the general stream for one client; false when another has it.
func (s *session) listen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.heard
	s.heard = true
	return !taken
}

func (s *session) unlisten() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = false
}

// settled is the revision that initialize settled, empty before.
func (s *session) settled() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision
}
