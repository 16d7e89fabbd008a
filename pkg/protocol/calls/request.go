package calls

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/protocol/internal/session"
	"mcp-bash/pkg/wire/jsonrpc"
	"mcp-bash/pkg/wire/mcp"
	"mcp-bash/pkg/wire/tracecontext"
)

// A Handler answers a request. The error is an [*mcp.Error] for the client. Any other error becomes "Internal error".
// Next to an error, only Work and Recorded of the answer are used, and the answer may be nil.
type Handler = func(ctx context.Context, r *Request) (*Answer, error)

// A Protocol is the handshake protocol or the stateless protocol. The server speaks both at once, and each request
// belongs to one of them.
type Protocol interface {
	// Handle calls the handler of the request's method.
	Handle(ctx context.Context, r *Request) (*Answer, error)
	// Extra returns the members that the protocol adds to a result.
	Extra(r *Request, a *Answer) mcp.Extra
	// Fault translates an error into the codes of the protocol.
	Fault(e *mcp.Error) *mcp.Error
	// Asker returns the asker that sends a script's questions to out. It returns nil in the stateless protocol.
	Asker(out session.Sink) mcp.Asker
}

// A ClientSession has the properties of the client that a request may use. All requests of a session share one in the
// handshake protocol. Each stateless request has its own.
type ClientSession struct {
	Capabilities *mcp.Capabilities
	Asker        mcp.Asker
	Threshold    func() mcp.Level                                  // of log messages
	Roots        func(ctx context.Context, r *Request) roots.Scope // can wait for the client; see [Request.Await]
	// Newest allows features of the newest revision: structured content that is not an object,
	// errors for missing capabilities, immediate progress.
	Newest bool
	// Links allows links to resources in results of tools.
	Links bool
}

// A Call can continue after its first request was answered: its script asks the client, and
// another request brings the answers. All methods are safe for concurrent use.
type Call interface {
	// Serving returns the request that serves the call now, or nil while the call is suspended.
	Serving() *Request
	// Listening reports whether a request serves the call and no question is open. An open question can suspend the
	// call at any moment. Only the goroutine of the script opens a question.
	Listening() bool
	// Keep stores a report of the script, of a size in bytes, while no request serves the call. The next request that
	// serves the call calls deliver before its answer.
	Keep(bytes int, deliver func())
	// Grew reports that the call uses more memory, in bytes.
	Grew(bytes int)
	// End ends the call, if it is suspended.
	End(reason error)
}

// A Request runs next to the goroutine that reads messages. It can be cancelled. Nothing is sent
// for it after its answer or its cancellation.
type Request struct {
	ID       jsonrpc.ID
	Key      string // equal for equal ids
	Method   *Method
	Params   mcp.Params
	Trace    tracecontext.Context // of the transport
	Protocol Protocol
	Client   ClientSession
	Call     Call          // nil: no other request continues the work
	Out      session.Sink  // for everything that belongs to the request
	Event    *events.Event // is recorded before the answer; nil: nothing is
	Moved    func()        // is called when the suspended call goes on or ends without an answer; may be nil
	Context  context.Context

	cancel   context.CancelCauseFunc
	turn     chan struct{} // closed when a request that waits itself has a slot; nil: it has one
	requests *Requests
	asker    mcp.Asker // sends the questions of the script
	started  time.Time // of the handler; zero without an Event
	bytes    int       // see Size; set when the request is scheduled
	decided  bool      // lingers is set
	lingers  bool      // see Lingers

	// guarded by the pool's lock
	lane      int
	began     bool // it has or had a slot
	answered  bool
	slot      bool          // the request holds a slot
	resting   bool          // see Rest
	waiting   bool          // a goroutine waits until the client reads
	questions int           // open questions of the script
	over      func()        // ends the count of Config.Waiting; nil: the request is not counted
	resumed   chan struct{} // closed when a resting request has a slot again; nil: it does not wait for one

	mu     sync.Mutex
	closed bool
}

// Serving returns the request for messages of the call, or nil while the call is suspended.
func (r *Request) Serving() *Request {
	if r.Call == nil {
		return r
	}
	return r.Call.Serving()
}

// Size returns the approximate memory that the request uses, in bytes.
func (r *Request) Size() int {
	return len(r.ID) + len(r.Key) + len(r.Params.Raw) + r.Trace.Size()
}

// Shed releases the content of a request that stays open, which is nearly all of its memory.
func (r *Request) Shed() { r.Params, r.Trace = mcp.Params{}, tracecontext.Context{} }

// seconds returns the request's time limit, or 0.
func (r *Request) seconds() int {
	if n := r.Params.Int(mcp.ParamTimeout); n > 0 {
		return n
	}
	return r.Method.Limit
}

// Close ends the request without an answer. Nothing more is sent for it.
func (r *Request) Close() { r.answer(nil, nil) }

// answer queues the last line of the request, and reports whether the request was still open.
func (r *Request) answer(line []byte, err *mcp.Error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.closed = true
	r.Out.Last(line, err)
	return true
}

// Notify sends a line without waiting for the client, and reports whether the request was still
// open.
func (r *Request) Notify(line []byte) bool {
	r.mu.Lock()
	open := !r.closed
	if open {
		r.Out.Queue(line)
	}
	r.mu.Unlock()
	return open && r.push(line)
}

// Answer sends the last line of a request that was left open.
func (r *Request) Answer(line []byte) { _ = r.answer(line, nil) && r.push(line) }

func (r *Request) push(line []byte) bool {
	r.requests.Session.Record("rpc", "-", "ok", line)
	r.Out.Push()
	return true
}

// Lingers reports whether Run can return long after the answer (see HandOff): the request can ask its
// client, in the stateless protocol. It is first called before Run, or by the handler.
func (r *Request) Lingers() bool {
	if !r.decided {
		r.decided = true
		r.lingers = r.Method.Asks && r.Client.Newest && r.Client.Capabilities.CanBeAsked() &&
			(r.Method.MayAsk == nil || r.Method.MayAsk(r))
	}
	return r.lingers
}

// An Answer is the result of a request. It is written straight into the response line.
type Answer struct {
	Size    int // approximately, in bytes
	Append  func(dst []byte, extra mcp.Extra) []byte
	Interim bool         // asks the client for input
	Task    bool         // describes the task that the call has become
	GoesOn  bool         // the call goes on, and has another answer
	Open    bool         // there is no answer yet, and the request goes on without a slot
	Work    *events.Work // for the record; may be nil
	// Recorded means that another request has the line of this answer.
	Recorded bool
	TTL      time.Duration // how long a client may keep the result, if the method allows that
	// Done, if set, is called last. sent is false if the result was not queued, because the request
	// was cancelled or timed out after its work.
	Done func(sent bool)
}

// Bytes returns an answer that is already rendered.
func Bytes(result []byte) *Answer {
	return &Answer{Size: len(result) + 256, Append: func(dst []byte, _ mcp.Extra) []byte { return append(dst, result...) }}
}

// The reasons why a request ends without an answer.
var (
	ErrCancelled = errors.New("cancelled by the client")
	ErrHandedOff = errors.New("handed off to another goroutine")
	ErrStopping  = mcp.Errorf(mcp.CodeInternal, "Server stopping") // the server ends
)

// NoAnswer returns the response to a question that the client did not answer: an action for an elicitation, and an
// error for any other question.
func NoAnswer(method, action string, e *mcp.Error) mcp.InputResponse {
	if method == mcp.MethodElicit {
		return mcp.InputResponse{Result: json.RawMessage(`{"action":"` + action + `"}`)}
	}
	return mcp.InputResponse{Error: e}
}

// GoneResponse returns the response to a question of a script whose client is gone.
func GoneResponse(method string) mcp.InputResponse {
	return NoAnswer(method, "cancel", mcp.Errorf(mcp.CodeToolCancelled, "Cancelled"))
}

// A Method describes a method that can take time. Its requests run in slots, next to the goroutine that reads
// messages.
type Method struct {
	Name   string
	Handle Handler
	// Starts, if set, reports whether a request needs a slot for scripts from the beginning. Other requests have
	// other slots, and call [Request.Enter] before they start a script.
	Starts func(r *Request) bool
	// Limit is the time limit of a request that sets none, in seconds; 0: none. A method with OwnClock enforces its
	// limit itself.
	Limit    int
	OwnClock bool
	List     bool // the limit for lists applies to the response
	Max      int  // the limit for the response, in bytes; 0: the common one
	// Arrive, if set, is called before the next message is read, so in the order of the client's
	// requests. It must not wait.
	Arrive func(r *Request)
	Asks   bool // the method can ask the client for input before it answers
	// MayAsk, if set, reports whether a request of the stateless protocol can ask the client. If not, the request
	// gets no Asker. It is only called if Asks is true.
	MayAsk func(r *Request) bool
	Edits  bool // the method's script can change the project
	// Scope is "public" or "private" if clients may cache the result, or "".
	Scope string

	slow atomic.Bool // see Request.Slow
}

// Slow is true if requests of this method usually take long. The transport measures and sets it.
func (r *Request) Slow() *atomic.Bool { return &r.Method.slow }

// Methods are the methods of a client. There are few, and a map would use more memory for each of
// many clients.
type Methods []*Method

// Find returns the method of a name, or nil.
func (m Methods) Find(name string) *Method {
	for _, method := range m {
		if method.Name == name {
			return method
		}
	}
	return nil
}

// Has reports whether there is a method of this name.
func (m Methods) Has(name string) bool { return m.Find(name) != nil }

// UnknownMethod returns the error for a method that the server does not have. If minimal mode lacks the method, the
// error names its capability.
func UnknownMethod(name string, minimal bool) *mcp.Error {
	if rest, found := strings.CutPrefix(name, "notifications/"); found && strings.HasPrefix(rest, "roots/") {
		name = rest
	}
	family, _, found := strings.Cut(name, "/")
	if !found {
		family = ""
	}
	switch family {
	case "tools", "resources", "skills", "prompts", "completion":
		if minimal {
			return mcp.Errorf(mcp.CodeMethodNotFound, "%s%s capability unavailable in minimal mode",
				strings.ToUpper(family[:1]), family[1:])
		}
	case "logging", "roots":
	default:
		return mcp.Errorf(mcp.CodeMethodNotFound, "Method not found")
	}
	return mcp.Errorf(mcp.CodeMethodNotFound, "Unknown %s method", family)
}
