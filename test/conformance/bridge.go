package main

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"sync"

	"mcp-bash/pkg/wire/revision"
)

// maxBody is the largest body taken, in bytes.
const maxBody = 16 << 20

// A bridge is a server of the Streamable HTTP transport in front of a server on standard streams. Each
// session has a process, and all requests of the revision without sessions share another one. The bridge
// passes on all messages unchanged. It answers only matters of HTTP itself, which BRIDGE.md
// lists. Use newBridge.
type bridge struct {
	start      func() *exec.Cmd // a new process, not started yet
	transcript *transcript
	mu         sync.Mutex
	open       map[string]*session
	stateless  *stateless // nil before the first request without a session
}

func newBridge(start func() *exec.Cmd, transcript *transcript) *bridge {
	return &bridge{start: start, transcript: transcript, open: map[string]*session{}}
}

// close ends all processes.
func (b *bridge) close() {
	b.mu.Lock()
	sessions := b.open
	b.open = map[string]*session{}
	shared := b.stateless
	b.stateless = nil
	b.mu.Unlock()
	var ending sync.WaitGroup
	if shared != nil {
		ending.Go(shared.end)
	}
	for _, s := range sessions {
		ending.Go(s.end)
	}
	ending.Wait()
}

// A refusal is an answer of the bridge itself.
type refusal struct {
	status int
	reason string
}

func (r refusal) Error() string { return r.reason }

func (b *bridge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	err := checkLocal(r)
	if err == nil {
		switch isNew := r.Header.Get("Mcp-Protocol-Version") == revision.Stateless; {
		case r.Method == http.MethodPost:
			err = b.post(w, r)
		case r.Method == http.MethodGet && !isNew:
			err = b.listen(w, r)
		case r.Method == http.MethodDelete && !isNew:
			err = b.delete(w, r)
		default:
			w.Header().Set("Allow", "POST")
			err = refusal{http.StatusMethodNotAllowed, "send POST; GET and DELETE in a session alone"}
		}
	}
	if no := (refusal{}); errors.As(err, &no) {
		http.Error(w, no.reason, no.status)
	}
}

// checkLocal refuses what a web page could send whose name was made to point
// here: names other than those of this machine.
func checkLocal(r *http.Request) error {
	names := []string{"localhost", "127.0.0.1", "::1"}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if !slices.Contains(names, strings.Trim(host, "[]")) {
		return refusal{http.StatusForbidden, fmt.Sprintf("the host %q is not this machine", r.Host)}
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		if u, err := url.Parse(origin); err != nil || !slices.Contains(names, u.Hostname()) {
			return refusal{http.StatusForbidden, fmt.Sprintf("the origin %q is not this machine", origin)}
		}
	}
	return nil
}

// post takes one message. A request is answered by a stream with all that belongs
// to it.
func (b *bridge) post(w http.ResponseWriter, r *http.Request) error {
	if !accepts(r, "application/json") || !accepts(r, "text/event-stream") {
		return refusal{http.StatusNotAcceptable, "accept both application/json and text/event-stream"}
	}
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		return refusal{http.StatusUnsupportedMediaType, "send application/json"}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return refusal{http.StatusRequestEntityTooLarge, err.Error()}
	}
	m, line, err := parse(body)
	if err != nil {
		return refusal{http.StatusBadRequest, err.Error()}
	}
	if isStateless(m) {
		return b.relay(w, r, m, line)
	}
	var s *session
	if m.method == "initialize" && m.isRequest() && r.Header.Get("Mcp-Session-Id") == "" {
		s, err = b.begin()
	} else {
		s, err = b.find(r)
	}
	if err != nil {
		return err
	}
	if !m.isRequest() {
		if err := s.send(m, line); err != nil {
			return b.lost(s, err)
		}
		w.WriteHeader(http.StatusAccepted)
		return nil
	}
	st, err := s.ask(m, line)
	if err != nil {
		return b.lost(s, err)
	}
	return events(w, r, s, st)
}

// listen gives a client what belongs to no request, as long as it wants.
func (b *bridge) listen(w http.ResponseWriter, r *http.Request) error {
	if !accepts(r, "text/event-stream") {
		return refusal{http.StatusNotAcceptable, "accept text/event-stream"}
	}
	s, err := b.find(r)
	if err != nil {
		return err
	}
	if !s.listen() {
		return refusal{http.StatusConflict, "somebody listens to this session already"}
	}
	defer s.unlisten()
	return events(w, r, s, s.general)
}

func (b *bridge) delete(w http.ResponseWriter, r *http.Request) error {
	s, err := b.find(r)
	if err != nil {
		return err
	}
	b.forget(s)
	s.end()
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// events sends a stream of a session, each message as soon as it comes.
func events(w http.ResponseWriter, r *http.Request, s *session, st *stream) error {
	w.Header().Set("Mcp-Session-Id", s.id)
	out := http.NewResponseController(w)
	beginEvents(w)
	if err := out.Flush(); err != nil {
		return err
	}
	return st.drain(r.Context(), func(line []byte) error { return sendEvent(w, out, line) })
}

func beginEvents(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache, no-transform")
	w.WriteHeader(http.StatusOK)
}

func sendEvent(w http.ResponseWriter, out *http.ResponseController, line []byte) error {
	if _, err := fmt.Fprintf(w, "event: message\ndata: %s\n\n", line); err != nil {
		return err
	}
	return out.Flush()
}

// begin starts a session.
func (b *bridge) begin() (*session, error) {
	s, err := startSession(rand.Text(), b.start(), b.transcript)
	if err != nil {
		return nil, refusal{http.StatusBadGateway, "the server does not start: " + err.Error()}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open[s.id] = s
	return s, nil
}

// find returns the session of a request that comes after initialize.
func (b *bridge) find(r *http.Request) (*session, error) {
	id := r.Header.Get("Mcp-Session-Id")
	if id == "" {
		return nil, refusal{http.StatusBadRequest, "Mcp-Session-Id is missing: send initialize first"}
	}
	b.mu.Lock()
	s := b.open[id]
	b.mu.Unlock()
	if s == nil || s.hasEnded() {
		return nil, refusal{http.StatusNotFound, "there is no such session: send initialize without Mcp-Session-Id"}
	}
	if named, settled := r.Header.Get("Mcp-Protocol-Version"), s.settled(); settled != "" && cmp.Or(named,
		settled) != settled {
		return nil, refusal{http.StatusBadRequest, fmt.Sprintf("MCP-Protocol-Version is %s, and initialize settled %s",
			named, settled)}
	}
	return s, nil
}

// lost is the refusal of what could not be sent.
func (b *bridge) lost(s *session, err error) error {
	if errors.Is(err, errEnded) {
		b.forget(s)
		return refusal{http.StatusNotFound, err.Error()}
	}
	return refusal{http.StatusBadRequest, err.Error()}
}

func (b *bridge) forget(s *session) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.open, s.id)
}

// accepts reports whether a client accepts a media type.
func accepts(r *http.Request, kind string) bool {
	for _, list := range r.Header.Values("Accept") {
		for item := range strings.SplitSeq(list, ",") {
			name, _, _ := mime.ParseMediaType(strings.TrimSpace(item))
			if main, _, _ := strings.Cut(kind, "/"); name == kind || name == main+"/*" || name == "*/*" {
				return true
			}
		}
	}
	return false
}
