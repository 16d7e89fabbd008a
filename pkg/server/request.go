package server

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/wire/jsonrpc"
	"mcp-bash/pkg/wire/mcp"
)

// A handler comes to the answer of a request.
type handler = func(ctx context.Context, r *request) (*answer, error)

// An era is a generation of the protocol. Two are spoken at once, and a request belongs to
// one: that of the handshake revisions (handshake.go) or the stateless one (stateless.go).
// Whatever they differ in is behind this and in the peer.
type era interface {
	// handle has the request's method do its work.
	handle(ctx context.Context, r *request) (*answer, error)
	// extra is what the era adds to a result.
	extra(r *request, a *answer) mcp.Extra
	// fault is an error as the era has it.
	fault(e *mcp.Error) *mcp.Error
}

// A peer is what a request may use of the client that sent it. A handshake settles that
// for all requests of a session; a stateless request brings it along.
type peer struct {
	capabilities *mcp.Capabilities
	asker        mcp.Asker
	threshold    func() mcp.Level // of log messages
	roots        func(context.Context) roots.Scope
	// newest: the client takes what only the newest revision has: structured content that
	// is no object, refusals for want of a capability, progress at once.
	newest bool
}

// A request is one that runs beside the reading: it can be cancelled, and
// nothing is sent for it after its answer or its cancellation.
type request struct {
	id     jsonrpc.ID
	key    string
	method *method
	params json.RawMessage
	meta   json.RawMessage // params._meta, nil when it is no object
	era    era
	peer   peer
	ctx    context.Context
	cancel context.CancelCauseFunc

	// The call that began with this request may be carried on by others. carriedBy is the one
	// that carries it now, nil for none, and whenCarried is closed while there is one; both
	// are nil for a call that is this request alone.
	carriedBy   func() *request
	whenCarried func() <-chan struct{}
	keep        func(bytes int, deliver func()) // takes what is to be sent before the answer, once there is a carrier
	grew        func(bytes int)                 // is told how much more memory the call takes; nil: nobody wants to know

	answered bool // guarded by requests.mu
	bytes    int  // see size; set when the request is admitted

	mu     sync.Mutex
	closed bool
}

// carrier is the request in whose name something is sent for the call, nil while there is
// none.
func (req *request) carrier() *request {
	if req.carriedBy == nil {
		return req
	}
	return req.carriedBy()
}

// ready is closed while there is a carrier.
func (req *request) ready() <-chan struct{} {
	if req.whenCarried == nil {
		return tool.Always
	}
	return req.whenCarried()
}

// size is how many bytes a request takes, about.
func (req *request) size() int { return len(req.id) + len(req.key) + len(req.params) + len(req.meta) }

// shed gives up what a request does not need any more that stays open: nearly all of its size.
func (req *request) shed() { req.params, req.meta = nil, nil }

// An answer is the result of a request, to be written straight into the
// response line.
type answer struct {
	size    int // about how many bytes it takes
	append  func(dst []byte, extra mcp.Extra) []byte
	interim bool          // the client is asked for input, and comes back
	open    bool          // there is none yet: the request goes on without a slot
	ttl     time.Duration // for how long a client may keep it, where the method allows that
	// done, when set, is called last and told whether the result is on its way:
	// a request may be cancelled, or run out of time, when its work is done.
	done func(sent bool)
}

// seconds is the time a request has (P-1700).
func (req *request) seconds() int {
	if n := rawjson.PositiveInt(rawjson.Get(req.params, "timeoutSecs")); n > 0 {
		return n
	}
	if req.method.limit != nil {
		return req.method.limit()
	}
	return 0
}

// close sees that nothing more is sent for the request.
func (req *request) close() {
	req.mu.Lock()
	req.closed = true
	req.mu.Unlock()
}

// queue hands a line of the request to the writer, unless it is closed. last
// closes it.
func (req *request) queue(w *jsonrpc.Writer, line []byte, last bool) bool {
	req.mu.Lock()
	defer req.mu.Unlock()
	if req.closed {
		return false
	}
	req.closed = last
	w.Queue(line)
	return true
}
