package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/jsonrpc"
	"mcp-bash/pkg/wire/mcp"
)

// readOn is how long a request may keep the goroutine that read it from reading
// on. Most that run no script are done long before: then no other thread is
// woken, which costs more than answering from a file does, and slows that down
// besides.
const readOn = time.Millisecond

// read reads messages until input ends, or until it has become the worker of a
// request that takes long and another goroutine reads on.
func (s *Server) read() {
	for {
		if !s.reader.Waiting() {
			s.client.writer.Push()
		}
		s.awaitRoom()
		line, err := s.reader.Next()
		s.activity.Store(time.Now().UnixNano())
		switch {
		case errors.Is(err, jsonrpc.ErrTooLong):
			s.refuse(nil, mcp.Errorf(mcp.CodeParse, "Parse error").WithData(fmt.Sprintf("Message exceeds %d bytes",
				s.project.Limits.Line)))
		case err != nil:
			s.client.writer.Push()
			s.endInput(err)
			return
		default:
			if s.message(line) {
				return
			}
		}
		if s.session.at(phaseEnded) {
			s.client.writer.Push()
			return
		}
	}
}

// awaitRoom keeps the goroutine that reads from taking more of the client while
// the answers that the client has not read, or its requests that are not done,
// take more memory than they may (P-1803, P-1804).
func (s *Server) awaitRoom() {
	if s.client.writer.Full() || s.requests.full() {
		s.client.writer.Push()
		s.hangup.Do(func() { go s.awaitHangup() }) // nobody reads, so nobody would notice
		s.client.writer.Reserve(s.base, 0)
		s.requests.awaitRoom(s.outgoing.open)
	}
	s.tellMissed()
}

// awaitHangup ends the server when the client no longer reads our output (P-904).
func (s *Server) awaitHangup() {
	s.stdio.AwaitHangup()
	s.leave(clientGone)
}

// message handles a line and reports whether this goroutine has ended its
// reading.
func (s *Server) message(line []byte) (left bool) {
	s.client.record.record("request", "-", "recv", line)
	m, err := jsonrpc.Parse(line)
	if err != nil {
		s.unreadable(line, err)
		return false
	}
	if m.Shape == jsonrpc.Batch {
		s.batch(&m)
		return false
	}
	req := s.route(&m, false)
	s.changes.poke()
	if req == nil {
		return false
	}
	return s.lend(req)
}

// lend has the goroutine that reads do the work, and reports whether another
// one has taken over the reading. If the last request of that method took long,
// that is so at once.
func (s *Server) lend(req *request) (left bool) {
	slow := &req.method.slow
	if slow.Load() {
		began := time.Now()
		go s.read()
		s.work(req)
		if time.Since(began) < readOn {
			slow.Store(false)
		}
		return true
	}
	relief := time.AfterFunc(readOn, func() {
		slow.Store(true)
		s.read()
	})
	s.work(req)
	return !relief.Stop()
}

// unreadable answers a line that is no JSON (P-401 to P-403). What stands in it
// is shown only to those who asked for verbose logs: it may hold secrets.
func (s *Server) unreadable(line []byte, err error) {
	reason := "Failed to normalize input"
	if errors.Is(err, jsonrpc.ErrUTF8) {
		reason = "Invalid UTF-8"
	}
	sum := sha256.Sum256(line)
	text := fmt.Sprintf("JSON normalization failed bytes=%d sha256=%x truncated=%t", len(line), sum[:8],
		len(line) > maxExcerpt)
	if s.project.Logging.Verbose {
		text += fmt.Sprintf(" excerpt=\"%s\"", excerpt(line))
	}
	s.notice("%s", text)
	s.refuse(nil, mcp.Errorf(mcp.CodeParse, "Parse error").WithData(reason))
}

const maxExcerpt = 1024

func excerpt(line []byte) string {
	var b bytes.Buffer
	for _, c := range line[:min(len(line), maxExcerpt)] {
		var piece string
		switch {
		case c == '\r':
			piece = `\r`
		case c == '\n':
			piece = `\n`
		case c == '\t':
			piece = `\t`
		case c == '"' || c == '\\':
			piece = `\` + string(c)
		case c < ' ' || c > '~':
			piece = "?"
		default:
			piece = string(c)
		}
		if b.Len()+len(piece) > maxExcerpt {
			break
		}
		b.WriteString(piece)
	}
	return b.String()
}

// batch handles the elements of an array as if each had been a line (protocol
// section 6).
func (s *Server) batch(m *jsonrpc.Message) {
	revision := s.session.revision.Load()
	invalid := func(reason string) {
		s.refuse(nil, mcp.Errorf(mcp.CodeInvalidRequest, "Invalid Request").WithData(reason))
	}
	if !revision.Batches && !s.project.Sessions.CompatBatches {
		invalid(revision.BatchRefusal)
		return
	}
	empty := true
	for e := range rawjson.Elements(m.Array) {
		empty = false
		element := jsonrpc.Classify(e)
		if element.Shape == jsonrpc.Batch {
			invalid("Nested batch")
		} else if req := s.route(&element, true); req != nil {
			go s.work(req)
		}
		if s.session.at(phaseEnded) {
			return
		}
		s.awaitRoom()
	}
	if empty {
		invalid("Empty batch")
	}
	s.changes.poke()
}

// route takes the steps of P-500 with one message. It returns a request that is
// to be run, if that is what it comes to.
func (s *Server) route(m *jsonrpc.Message, inBatch bool) *request {
	switch m.Shape {
	case jsonrpc.Response:
		if !s.outgoing.deliver(m) {
			id := "null"
			if len(m.ID) > 0 {
				id = string(m.ID)
			}
			s.log(mcp.Warning, logRPC, "Received response for unknown request id="+id)
		}
		return nil
	case jsonrpc.Invalid:
		s.refuse(m.ID, faultError(m.Fault))
		return nil
	}
	isRequest := m.Shape == jsonrpc.Request
	if m.Fault != jsonrpc.None {
		return nil // a notification that makes no sense
	}
	if s.debugging() {
		s.debugf(logRPC, "Dispatch method=%s id=%s", m.Method, m.ID)
	}
	if err := s.token.check(m.Params); err != nil {
		s.rejected(m, err, isRequest)
		return nil
	}
	if isRequest && (s.requests.isDuplicate(m.ID) || s.streams.has(m.ID)) {
		s.refuse(m.ID, duplicateID)
		return nil
	}
	var meta json.RawMessage
	if isRequest {
		meta = metaOf(m.Params)
		if own := readMeta(meta); s.stateless.claims(m.Method, &own) {
			return s.routeStateless(m, meta, &own)
		}
	}
	if s.lifecycle(m, isRequest, inBatch) {
		return nil
	}
	if !isRequest { // all other notifications, and requests that want no answer
		return nil
	}
	switch {
	case s.session.at(phaseClosing):
		s.refuse(m.ID, mcp.Errorf(mcp.CodeShuttingDown, "Server shutting down"))
		return nil
	case !s.session.at(phaseReady) && s.handshake.methods[m.Method] == nil && m.Method != "logging/setLevel":
		s.refuse(m.ID, unknownMethod(m.Method, s.project.Minimal))
		return nil
	case !s.session.at(phaseReady):
		s.refuse(m.ID, mcp.Errorf(mcp.CodeNotInitialized, "Server not initialized"))
		return nil
	}
	if m.Method == "logging/setLevel" {
		s.setLevel(m)
		return nil
	}
	return s.admit(m, meta, s.handshake.methods, s.handshake, s.handshake.peer())
}

// metaOf is params._meta, nil when it is no object.
func metaOf(params json.RawMessage) json.RawMessage {
	if meta := rawjson.Get(params, "_meta"); rawjson.KindOf(meta) == rawjson.Object {
		return meta
	}
	return nil
}

// rejected answers a message that the guard refused.
func (s *Server) rejected(m *jsonrpc.Message, err *mcp.Error, isRequest bool) {
	if isRequest {
		s.refuse(m.ID, err)
	}
	if err != errTokenThrottled {
		s.log(mcp.Warning, logAuth, "Remote token rejected method="+m.Method)
	}
}

var duplicateID = mcp.Errorf(mcp.CodeInvalidRequest, "Invalid Request").WithData("Duplicate request id")

// faultError is what a message with that fault is answered.
func faultError(f jsonrpc.Fault) *mcp.Error {
	invalid := mcp.Errorf(mcp.CodeInvalidRequest, "Invalid Request")
	switch f {
	case jsonrpc.BadVersion:
		return invalid.WithData(`jsonrpc must be "2.0"`)
	case jsonrpc.BadID:
		return invalid.WithData("Invalid id")
	case jsonrpc.BadParams:
		return mcp.Errorf(mcp.CodeInvalidParams, "Invalid params")
	}
	return invalid.WithData("Missing method")
}

// admit enters a request among those in flight, if its method is one of those given. The
// message and its meta point into the reader's buffer, so what is kept of them is copied.
func (s *Server) admit(m *jsonrpc.Message, meta json.RawMessage, methods map[string]*method, era era,
	peer peer) *request {
	method := methods[m.Method]
	if method == nil {
		s.refuse(m.ID, unknownMethod(m.Method, s.project.Minimal))
		return nil
	}
	if m.Params != nil && !m.HasParams() {
		s.refuse(m.ID, mcp.Errorf(mcp.CodeInvalidParams, "Invalid params"))
		return nil
	}
	req := &request{id: bytes.Clone(m.ID), key: m.ID.Key(), method: method, params: bytes.Clone(m.Params),
		meta: bytes.Clone(meta), era: era, peer: peer}
	req.ctx, req.cancel = context.WithCancelCause(s.base)
	placed := s.requests.place(req)
	switch placed {
	case placeDuplicate:
		s.refuse(m.ID, duplicateID)
		return nil
	case placeFull:
		s.refuse(m.ID, mcp.Errorf(mcp.CodeInternal, "Too many queued requests"))
		return nil
	}
	if method.arrive != nil {
		method.arrive(req)
	}
	if placed == placeQueued {
		return nil
	}
	return req
}
