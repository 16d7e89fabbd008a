package main

import (
	"net/http"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/revision"
)

// relay passes a request without a session on, and answers with what comes back: the
// answer alone, or a stream that ends with it.
func (b *bridge) relay(w http.ResponseWriter, r *http.Request, m message, line []byte) error {
	if !m.isRequest() {
		return refusal{http.StatusBadRequest, "clients send no notifications over HTTP: close a stream to cancel it"}
	}
	if kind := rawjson.KindOf(m.id); kind != rawjson.String && kind != rawjson.Number {
		return refusal{http.StatusBadRequest, "the id must be a string or a number"}
	}
	s, err := b.shared()
	if err != nil {
		return err
	}
	if err := s.check(r.Header, m); err != nil {
		var body rawjson.Builder
		body.Object().Name("jsonrpc").String("2.0").Name("id").Raw(m.id)
		body.Name("error").Object().Name("code").Int(headerMismatch).Name("message").String("Header mismatch: " + err.Error())
		answer(w, http.StatusBadRequest, body.End().End().Bytes())
		return nil
	}
	if m.meta(revision.MetaLogLevel) != nil {
		select {
		case s.logging <- struct{}{}:
			defer func() { <-s.logging }()
		case <-r.Context().Done():
			return r.Context().Err()
		}
	}
	e, err := s.ask(m, line)
	if err != nil {
		return refusal{http.StatusBadGateway, err.Error()}
	}
	defer s.give(e)
	out := http.NewResponseController(w)
	begun := false
	err = e.drain(r.Context(), func(line []byte) error {
		if first := read(line); !begun && first.isAnswer() {
			begun = true
			answer(w, statusOf(first), line)
			return nil
		}
		if !begun {
			begun = true
			w.Header().Set("X-Accel-Buffering", "no")
			beginEvents(w)
		}
		return sendEvent(w, out, line)
	})
	if err == nil && !begun {
		return refusal{http.StatusBadGateway, "the server ended without an answer"}
	}
	return err
}

// headerMismatch is the error code for headers that contradict the body.
const headerMismatch = -32020

// statusOf is the status of an answer that comes alone.
func statusOf(m message) int {
	switch string(rawjson.Get(m.failure, "code")) {
	case "-32601":
		return http.StatusNotFound
	case "-32602", "-32021", "-32022":
		return http.StatusBadRequest
	}
	return http.StatusOK
}

func answer(w http.ResponseWriter, status int, line []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(line)
}

// shared is the process for requests without a session; a new one when the last has
// ended.
func (b *bridge) shared() (*stateless, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stateless == nil || b.stateless.hasEnded() {
		s, err := startStateless(b.start(), b.transcript)
		if err != nil {
			return nil, refusal{http.StatusBadGateway, "the server does not start: " + err.Error()}
		}
		b.stateless = s
	}
	return b.stateless, nil
}
