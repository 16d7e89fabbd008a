package handshake

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/protocol/internal/session"
	"mcp-bash/pkg/protocol/internal/uuid"
	"mcp-bash/pkg/wire/jsonrpc"
	"mcp-bash/pkg/wire/mcp"
)

// Outgoing are the server's requests to the client.
type Outgoing struct {
	session *session.Session
	asked   func() // is called after each request

	mu      sync.Mutex
	last    int64
	pending map[string]*reply
	ended   bool // the client sends no more answers
}

// A reply is the answer to a request of the server, once done is closed.
type reply struct {
	id     int64
	method string
	done   chan struct{}
	result json.RawMessage
	err    *mcp.Error
	gone   bool // there will be no answer because the input has ended
}

// send queues a request. The caller pushes out afterwards.
func (o *Outgoing) send(out session.Sink, method string, params json.RawMessage) *reply {
	defer o.asked()
	o.mu.Lock()
	defer o.mu.Unlock()
	r := &reply{method: method, done: make(chan struct{})}
	if o.ended {
		r.gone = true
		close(r.done)
		return r
	}
	o.last++
	r.id = o.last
	o.pending[keyOf(r.id)] = r
	line := jsonrpc.AppendRequest(nil, r.id, method, params)
	o.session.Record("rpc", "-", "ok", line)
	out.Queue(line) // under the lock, so that ids are sent in order
	return r
}

// Open reports whether an answer is awaited.
func (o *Outgoing) Open() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.pending) > 0
}

func keyOf(id int64) string { return jsonrpc.ID(strconv.AppendInt(nil, id, 10)).Key() }

// Deliver handles a response of the client. It reports whether the response was expected and
// well-formed.
func (o *Outgoing) Deliver(m *jsonrpc.Message) bool {
	if len(m.ID) == 0 {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	key := m.ID.Key()
	r := o.pending[key]
	if r == nil {
		return false
	}
	switch {
	case m.Error != nil && rawjson.KindOf(m.Error) == rawjson.Object:
		code, _ := strconv.Atoi(string(rawjson.Get(m.Error, "code")))
		r.err = &mcp.Error{Code: code, Message: rawjson.TextOf(m.Error, "message")}
	case m.Error == nil && m.Result != nil:
		r.result = append(json.RawMessage(nil), m.Result...)
	default:
		return false
	}
	delete(o.pending, key)
	close(r.done)
	return true
}

// forget stops waiting for an answer, and reports whether it was still awaited. A late answer
// counts as unknown.
func (o *Outgoing) forget(r *reply) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := keyOf(r.id)
	if o.pending[key] != r {
		return false
	}
	delete(o.pending, key)
	return true
}

// End resolves all open requests, because the client sends no more answers.
func (o *Outgoing) End() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	for key, r := range o.pending {
		delete(o.pending, key)
		r.gone = true
		close(r.done)
	}
}

// An asker sends each input request of a script as a request to the client (protocol section 22,
// T-128). It implements [mcp.Asker].
type asker struct {
	outgoing *Outgoing
	out      session.Sink
}

// Ready implements [mcp.Asker].
func (a asker) Ready() bool { return !a.out.Full() }

// Patience implements [mcp.Asker]. Scripts wait without a limit.
func (a asker) Patience() time.Duration { return 0 }

func (a asker) Ask(requests []mcp.InputRequest) mcp.PendingInput {
	in := &pendingInput{asker: a}
	for _, r := range requests {
		params := r.Params
		if r.Method == mcp.MethodElicit && rawjson.TextOf(params, "mode") == "url" {
			var b rawjson.Builder // P-2202
			b.Object().Members(params, "elicitationId")
			params = b.Name("elicitationId").String(uuid.New()).End().Bytes()
		}
		in.replies = append(in.replies, a.outgoing.send(a.out, r.Method, params))
	}
	a.out.Push()
	return in
}

// A pendingInput contains the questions that a script asked together. It implements
// [mcp.PendingInput].
type pendingInput struct {
	asker
	replies []*reply
}

func (in *pendingInput) Responses() (list []mcp.InputResponse, done bool) {
	list, done = make([]mcp.InputResponse, len(in.replies)), true
	for i, r := range in.replies {
		select {
		case <-r.done:
			if list[i] = (mcp.InputResponse{Result: r.result, Error: r.err}); r.gone {
				list[i] = calls.GoneResponse(r.method)
			}
		default:
			done = false
		}
	}
	return list, done
}

func (in *pendingInput) Wait(ctx context.Context) ([]mcp.InputResponse, error) {
	for _, r := range in.replies {
		select {
		case <-r.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	list, _ := in.Responses()
	return list, nil
}

func (in *pendingInput) Close() []mcp.InputResponse {
	answers, _ := in.Responses()
	for _, r := range in.replies {
		if !in.outgoing.forget(r) {
			continue
		}
		line := jsonrpc.AppendNotification(nil, "notifications/cancelled",
			fmt.Appendf(nil, `{"requestId":%d,"reason":"no longer needed"}`, r.id))
		in.outgoing.session.Record("rpc", "-", "ok", line)
		in.out.Queue(line)
		in.out.Push()
	}
	return answers
}
