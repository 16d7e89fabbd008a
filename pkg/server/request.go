package server

import (
	"context"
	"encoding/json"
	"mcp-bash/pkg/jsonrpc"
	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/rawjson"
	"mcp-bash/pkg/tool"
	"sync"
)

// A peer is what a request may use of the client that sent it. The eras of the
// protocol differ in where that comes from: a handshake settles it for all requests
// of a session (handshake.go).
type peer struct {
	capabilities *mcp.Capabilities
	asker        mcp.Asker
	threshold    func() mcp.Level // of log messages
	extra        tool.Extra       // what the era adds to a tool's result
}

// A request is one that runs beside the reading: it can be cancelled, and
// nothing is sent for it after its answer or its cancellation.
type request struct {
	id     jsonrpc.ID
	key    string
	method *method
	params json.RawMessage
	meta   json.RawMessage // params._meta, nil when it is no object
	peer   peer
	ctx    context.Context
	cancel context.CancelCauseFunc

	answered bool // guarded by requests.mu

	mu     sync.Mutex
	closed bool
}

// size is how many bytes a request takes, about.
func (req *request) size() int { return len(req.id) + len(req.key) + len(req.params) }

// An answer is the result of a request, to be written straight into the
// response line.
type answer struct {
	size   int // about how many bytes it takes
	append func(dst []byte) []byte
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
