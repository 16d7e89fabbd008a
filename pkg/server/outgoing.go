package server

import (
	"encoding/json"
	"strconv"
	"sync"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/jsonrpc"
	"mcp-bash/pkg/wire/mcp"
)

// outgoing are our requests to the client (P-510, P-511).
type outgoing struct {
	client  *client
	asked   func() // is called after each
	mu      sync.Mutex
	last    int64
	pending map[string]*reply
	ended   bool // the client sends no more answers
}

// A reply is the answer to one of our requests, once it is there.
type reply struct {
	id     int64
	method string
	done   chan struct{}
	result json.RawMessage
	err    *mcp.Error
	gone   bool // there will be no answer: input has ended
}

func (o *outgoing) send(method string, params json.RawMessage) *reply {
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
	if o.pending == nil {
		o.pending = make(map[string]*reply)
	}
	o.pending[keyOf(r.id)] = r
	o.client.queue(jsonrpc.AppendRequest(nil, r.id, method, params)) // under the lock: ids leave in order
	return r
}

// open reports whether an answer is awaited.
func (o *outgoing) open() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.pending) > 0
}

func keyOf(id int64) string { return jsonrpc.ID(strconv.AppendInt(nil, id, 10)).Key() }

// deliver takes a response of the client and reports whether it was expected
// and well-formed.
func (o *outgoing) deliver(m *jsonrpc.Message) bool {
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
		r.err = clientError(m.Error)
	case m.Error == nil && m.Result != nil:
		r.result = append(json.RawMessage(nil), m.Result...)
	default:
		return false
	}
	delete(o.pending, key)
	close(r.done)
	return true
}

func clientError(v json.RawMessage) *mcp.Error {
	code, _ := strconv.Atoi(string(rawjson.Get(v, "code")))
	return &mcp.Error{Code: code, Message: rawjson.TextOf(v, "message")}
}

// forget gives up on an answer, and reports whether it was still awaited. A
// late one counts as unknown.
func (o *outgoing) forget(r *reply) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := keyOf(r.id)
	if o.pending[key] != r {
		return false
	}
	delete(o.pending, key)
	return true
}

// end resolves everything that is open: no answer can come any more (P-903).
func (o *outgoing) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	for key, r := range o.pending {
		delete(o.pending, key)
		r.gone = true
		close(r.done)
	}
}
