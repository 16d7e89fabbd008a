package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/wire/jsonrpc"
	"mcp-bash/pkg/wire/mcp"
)

// work runs a request and then those that waited for its slot. None begins while
// the client has too much to read (P-1803).
func (s *Server) work(req *request) { s.workOn(req, req.era.handle) }

// carry has another goroutine answer a request, and run those that waited for its slot: the
// one that worked for it goes on with what the request has begun.
func (s *Server) carry(req *request, handle handler) { go s.workOn(req, handle) }

// workOn is work with another way to come to the answer of the first.
func (s *Server) workOn(req *request, handle handler) {
	for req != nil {
		s.client.writer.Reserve(req.ctx, 0)
		if handedOver := s.serve(req, handle); handedOver {
			return
		}
		s.tellMissed()
		if req.method.edits {
			s.changes.called()
		}
		s.changes.poke()
		if req = s.requests.next(req); req != nil {
			handle = req.era.handle
		}
	}
}

// serve runs one request and sends its response, unless another goroutine has taken that
// over. A fault of ours ends the request, never the process.
func (s *Server) serve(req *request, handle handler) (handedOver bool) {
	defer func() {
		if fault := recover(); fault != nil {
			s.finish(req, nil, s.failed(req, fault))
		}
	}()
	ctx := req.ctx
	if secs := req.seconds(); secs > 0 && !req.method.ownClock {
		timeout := mcp.Errorf(mcp.CodeInternal, "Request timed out")
		timeout.Data = json.RawMessage(fmt.Sprintf(`{"timeoutSecs":%d}`, secs))
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, settings.Seconds(secs), timeout)
		defer cancel()
	}
	a, err := handle(ctx, req)
	if err == errHandedOver {
		return true
	}
	if timeout, ok := context.Cause(ctx).(*mcp.Error); ok && req.ctx.Err() == nil {
		err = timeout // P-1703, whatever it came to
	}
	s.finish(req, a, err)
	return false
}

// protected has a request's method do its work for a call that other requests may carry on: a
// fault of ours ends the call, never the process.
func (s *Server) protected(ctx context.Context, req *request) (a *answer, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			a, err = nil, s.failed(req, fault)
		}
	}()
	return req.method.handle(ctx, req)
}

// failed writes to standard error what fault of ours ended a request, and where it happened, and
// returns the error for the client, which learns neither. It is called where the panic is recovered.
func (s *Server) failed(req *request, fault any) *mcp.Error {
	s.complain("mcp-bash: internal error in %s: %v", req.method.name, fault)
	s.stderr.Write(debug.Stack())
	return mcp.Errorf(mcp.CodeInternal, "Internal error")
}

// finish sends the response of a request, within the limit for responses
// (P-1100).
func (s *Server) finish(req *request, a *answer, err error) {
	if a != nil && a.open {
		s.requests.release(req)
		return
	}
	sent := false
	if a != nil && a.done != nil {
		defer func() { a.done(sent && err == nil) }()
	}
	var line []byte
	reserved := 0
	release := func() {
		if reserved > 0 {
			s.client.writer.Release(reserved)
			reserved = 0
		}
	}
	defer release()
	switch {
	case err != nil:
		line = errorLine(req.id, req.era.fault(asError(err)))
	case a == nil:
		line = errorLine(req.id, mcp.Errorf(mcp.CodeInternal, "Empty handler response"))
	default:
		if a.size > largeAnswer { // made when the client has read others (P-1803)
			s.client.writer.Reserve(req.ctx, a.size)
			reserved = a.size
		}
		line = jsonrpc.AppendResult(make([]byte, 0, a.size), req.id, func(dst []byte) []byte {
			return a.append(dst, req.era.extra(req, a))
		})
	}
	if limit := s.limitOf(req.method); len(line) > limit {
		s.complain("mcp-bash: response exceeded %d bytes for id %s", limit, req.id)
		line = errorLine(req.id, errTooLarge)
		err = errStopping
	}
	s.requests.release(req)
	sent = req.queue(s.client.writer, line, true)
	release()
	if !sent {
		s.client.record.record("response", project.RequestKey(string(req.id)), "cancelled", nil)
		return
	}
	s.client.record.record("response", project.RequestKey(string(req.id)), status(err), line)
	s.client.writer.Deliver()
	if s.debugging() {
		s.debugf(logRPC, "Response id=%s bytes=%d", req.id, len(line))
	}
}

var errTooLarge = mcp.Errorf(mcp.CodeInternal, "Response exceeded response size limit")

// limitOf is how long a response may be, in bytes (P-1100).
func (s *Server) limitOf(m *method) int {
	switch {
	case m.list:
		return s.project.Limits.ListResponse
	case m.most > 0:
		return m.most
	}
	return s.project.Limits.Response
}

// freeze makes the result of an answer that nobody can be sent yet, and gives up all that it is made
// of: files, and output of which the result takes a part.
func (s *Server) freeze(req *request, a *answer) (frozen *answer, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			frozen, err = nil, s.failed(req, fault)
		}
	}()
	result := a.append(make([]byte, 0, a.size), req.era.extra(req, a))
	if a.done != nil {
		a.done(true)
	}
	if len(result) > s.limitOf(req.method) {
		return nil, errTooLarge
	}
	if cap(result) > len(result)+len(result)/8 {
		result = bytes.Clone(result)
	}
	return &answer{
		size: len(result) + 256, append: func(dst []byte, _ mcp.Extra) []byte { return append(dst, result...) },
	}, nil
}

// largeAnswer is the size, in bytes, from which on an answer is counted before it
// is made.
const largeAnswer = 64 << 10

func status(err error) string {
	if err != nil {
		return "error"
	}
	return "ok"
}

func asError(err error) *mcp.Error {
	var e *mcp.Error
	if errors.As(err, &e) {
		return e
	}
	return mcp.Errorf(mcp.CodeInternal, "Internal error").WithData(err.Error())
}

func errorLine(id jsonrpc.ID, e *mcp.Error) []byte {
	return jsonrpc.AppendError(nil, id, e.AppendJSON)
}

// refuse answers on the reading goroutine with an error; the line is written
// before the next wait for input.
func (s *Server) refuse(id jsonrpc.ID, e *mcp.Error) {
	s.scratch = jsonrpc.AppendError(s.scratch[:0], id, e.AppendJSON)
	s.client.record.record("rpc", "-", "error", s.scratch)
	s.client.writer.Queue(s.scratch)
	s.keepScratch()
}

// reply answers on the reading goroutine.
func (s *Server) reply(id jsonrpc.ID, body func(dst []byte) []byte) {
	s.scratch = jsonrpc.AppendResult(s.scratch[:0], id, body)
	s.client.record.record("rpc", "-", "ok", s.scratch)
	s.client.writer.Queue(s.scratch)
	s.keepScratch()
}

// keepScratch gives up a buffer that is so large that the writer has kept it.
func (s *Server) keepScratch() {
	if cap(s.scratch) > 16<<10 {
		s.scratch = nil
	}
}
