package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"

	"mcp-bash/test/wire"
)

// patience is how long a server may take to end once its input is closed.
const patience = 10 * time.Second

// A session is one server process and the HTTP answers that wait for it. Use
// startSession.
type session struct {
	id         string
	cmd        *exec.Cmd
	transcript *transcript
	checker    *wire.Checker
	ended      chan struct{} // closed when the process has ended

	writing sync.Mutex // held while a line is written, never together with mu
	stdin   io.WriteCloser

	mu       sync.Mutex
	revision string             // what initialize settled; empty before
	waiting  map[string]*stream // by id: what waits for an answer of the server
	tokens   map[string]*stream // by progress token, of what waits
	asked    map[string]*stream // by id: where requests of the server went
	general  *stream            // what belongs to no request, for the client that listens
	heard    bool               // a client listens to general
}

// startSession starts the server.
func startSession(id string, cmd *exec.Cmd, transcript *transcript) (*session, error) {
	s := &session{
		id: id, cmd: cmd, transcript: transcript, checker: wire.NewChecker(), ended: make(chan struct{}),
		general: newStream(),
		waiting: map[string]*stream{}, tokens: map[string]*stream{}, asked: map[string]*stream{},
	}
	var stdout, stderr io.ReadCloser
	var err error
	if s.stdin, err = cmd.StdinPipe(); err == nil {
		if stdout, err = cmd.StdoutPipe(); err == nil {
			stderr, err = cmd.StderrPipe()
		}
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	go s.run(stdout, stderr)
	return s, nil
}

// run carries what the server says until it has ended.
func (s *session) run(stdout, stderr io.Reader) {
	var reading sync.WaitGroup
	reading.Go(func() { lines(stderr, func(line []byte) { s.transcript.note(s.id, '!', line) }) })
	lines(stdout, func(line []byte) {
		s.transcript.note(s.id, '<', line)
		if err := s.checker.Received(line); err != nil {
			s.transcript.fault(s.id, err)
		}
		s.deliver(line[:len(line)-1])
	})
	reading.Wait()
	if err := s.cmd.Wait(); err != nil {
		s.transcript.fault(s.id, fmt.Errorf("the server ended badly: %w", err))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.ended)
	for id := range s.waiting {
		s.forget(id) // without the answer that will not come
	}
	s.general.close()
}

// lines reads lines of any length, with their ends; a last one without gets one.
func lines(r io.Reader, each func(line []byte)) {
	for in := bufio.NewReader(r); ; {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			if err != nil {
				line = append(line, '\n')
			}
			each(line)
		}
		if err != nil {
			return
		}
	}
}

// deliver puts a line of the server on the stream it belongs to.
func (s *session) deliver(line []byte) {
	var m message
	_ = json.Unmarshal(line, &m) // the checker has said what is wrong with it
	s.mu.Lock()
	defer s.mu.Unlock()
	to := s.general
	switch id := string(m.ID); {
	case m.isAnswer():
		if st := s.waiting[id]; st != nil {
			if s.revision == "" {
				s.revision = look(m.Result).ProtocolVersion
			}
			st.put(line)
			s.forget(id)
			return
		}
	case m.Method == "notifications/progress":
		if st := s.tokens[string(look(m.Params).ProgressToken)]; st != nil {
			to = st
		}
	case m.Method == "notifications/cancelled":
		if st := s.asked[string(look(m.Params).RequestID)]; st != nil {
			to = st
		}
	case m.Method == "notifications/message", m.Method == "elicitation/create", m.Method == "sampling/createMessage":
		to = s.only()
		if m.isRequest() {
			s.asked[id] = to
		}
	}
	if !to.put(line) {
		s.general.put(line) // the request it belonged to has been answered
	}
}

// only is the stream of the only request there is: on standard streams a message
// says no more about what it belongs to. With several it may belong to any, and
// goes to the general one.
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
	if s.waiting[string(m.ID)] != nil {
		s.mu.Unlock()
		return nil, fmt.Errorf("the id %s is in use: wait for its answer, or choose another", m.ID)
	}
	s.waiting[string(m.ID)] = st
	if token := look(m.Params).Meta.ProgressToken; token != nil {
		s.tokens[string(token)] = st
	}
	s.mu.Unlock()
	if err := s.send(m, line); err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.forget(string(m.ID))
		return nil, err
	}
	return st, nil
}

// errEnded is the error of what is sent to a server that is gone.
var errEnded = errors.New("the session has ended")

// send sends a message of any kind.
func (s *session) send(m message, line []byte) error {
	if m.isAnswer() {
		s.mu.Lock()
		delete(s.asked, string(m.ID))
		s.mu.Unlock()
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	s.checker.Sent(line)
	s.transcript.note(s.id, '>', append(line, '\n'))
	if _, err := s.stdin.Write(append(line, '\n')); err != nil {
		return errEnded
	}
	return nil
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

func (s *session) hasEnded() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// end closes the input of the server and waits until it has ended.
func (s *session) end() {
	s.stdin.Close()
	select {
	case <-s.ended:
	case <-time.After(patience):
		s.transcript.fault(s.id, fmt.Errorf("the server was still there %v after its input was closed", patience))
		s.cmd.Process.Kill()
		<-s.ended
	}
}
