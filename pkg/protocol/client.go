package protocol

import (
	"context"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/events"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/protocol/calls/suspended"
	"mcp-bash/pkg/protocol/calls/tasks"
	"mcp-bash/pkg/protocol/handshake"
	"mcp-bash/pkg/protocol/internal/session"
	"mcp-bash/pkg/protocol/internal/throttle"
	"mcp-bash/pkg/protocol/methods"
	"mcp-bash/pkg/protocol/stateless"
	"mcp-bash/pkg/protocol/subscribe"
	"mcp-bash/pkg/wire/jsonrpc"
	"mcp-bash/pkg/wire/mcp"
)

// A Client is one client of a [Server]. A transport calls Accept and its variants for one message
// at a time. All other methods are safe for concurrent use.
type Client struct {
	server    *Server
	session   *session.Session
	requests  *calls.Requests
	suspended *suspended.Client
	tasks     *tasks.Client
	handshake *handshake.Handshake
	stateless *stateless.Stateless
	subscribe *subscribe.Client
	token     tokenGuard
	conn      Connection
	offered   *methods.Client // nil in minimal mode
	caller    Caller
	stop      context.CancelCauseFunc
	greeted   atomic.Pointer[events.Event] // the event of the session's end; nil: not recorded
	watchdog  *time.Timer                  // ends a slow shutdown; belongs to the goroutine that accepts messages
}

// A Caller describes a client as its transport knows it.
type Caller struct {
	Identity *auth.Identity // nil: the client needed no credential
	Owner    string         // has the client's share of limited resources; see [auth.Identity.Owner]
	Remote   bool           // the client can be on another machine, so its roots are ignored
	// Shared means that the server can have any number of clients. Then no slot is reserved for the
	// client, and no files of the run describe it.
	Shared     bool
	MaxStreams int // open subscriptions/listen requests; 0: the number for a single client
}

// NewClient adds the client of a connection. [Client.Leave] removes it.
func (s *Server) NewClient(conn Connection, from Caller) *Client {
	ctx, stop := context.WithCancelCause(s.Context)
	if from.MaxStreams == 0 {
		from.MaxStreams = subscribe.MaxStreams
	}
	c := &Client{
		server: s, session: session.NewSession(conn, s.Console, s.Record), conn: conn, caller: from, stop: stop,
		token: tokenGuard{settings: s.Project.Token, failures: throttle.New(s.Project.Token.MaxFailures)},
	}
	c.suspended = s.suspended.NewClient(c.session, from.Owner, from.Identity.Key())
	running := calls.Config{
		Context: ctx, Owner: from.Owner, Session: c.session, Console: s.Console, Limits: &s.Project.Limits,
		After: c.after, Waiting: c.suspended.Waiting, Events: s.Events, Audit: s.Audit,
	}
	c.tasks = s.tasks.NewClient(tasks.ClientConfig{
		Calls: running, Caller: from.Identity.Key(), Out: c.session.Sink,
		Tool: func(ctx context.Context, name string) *tasks.Tool { return c.offered.LongRunning(ctx, name) },
	})
	if s.offered != nil {
		running.Handle = c.tasks.Handle
	}
	running.Shared = from.Shared
	c.requests = s.pool.NewRequests(running)
	c.handshake = handshake.New(handshake.Config{
		Context: ctx, Project: s.Project, State: s.State, Console: s.Console, Session: c.session, Roots: s.Roots,
		Asked: c.requests.Wake, Remote: from.Remote, Shared: from.Shared,
	})
	c.stateless = stateless.New(s.Project, s.Roots, c.suspended, s.results)
	var both []*calls.Method
	watching := subscribe.Config{Context: ctx, Session: c.session, MaxStreams: from.MaxStreams}
	if s.offered != nil {
		c.offered = s.offered.NewClient(methods.Config{
			Session: c.session, Caller: from.Identity, Owner: from.Owner, Roots: c.handshake.RootPaths,
			StripToken: c.token.strip,
		})
		watching.Resources = c.offered.Resources
		both = c.offered.Methods()
	}
	c.subscribe = s.lists.NewClient(watching)
	if s.offered != nil {
		c.handshake.Methods = slices.Concat(both, c.subscribe.SessionMethods())
		c.stateless.Methods = slices.Concat(both, c.subscribe.StreamMethods(), c.tasks.Methods())
	}
	s.Log.sessions.Store(c.session, nil)
	return c
}

// after is called after each request.
func (c *Client) after(m *calls.Method) {
	if m.Edits {
		c.server.lists.Edited()
	}
	c.server.lists.Poke()
}

// AwaitRoom waits while the client's requests use too much memory.
func (c *Client) AwaitRoom() {
	c.requests.AwaitRoom(c.handshake.Outgoing.Open)
	c.session.ReportMissed()
}

// Full reports whether the client's requests use too much memory.
func (c *Client) Full() bool { return c.requests.Full() }

// Busy reports whether the client waits for something: a running request or task, an open question, a
// suspended call, or the notifications of a stream.
func (c *Client) Busy() bool {
	return c.requests.Busy() || c.suspended.Busy() || c.tasks.Busy() || c.subscribe.Streaming()
}

// InUse reports whether the client must stay: it is busy, or it can still fetch the answer of a task or a stored
// result. Transports only end idle clients that are not in use.
func (c *Client) InUse() bool {
	return c.Busy() || c.tasks.Keeps() || c.offered != nil && c.offered.HasResults()
}

// Warn logs a warning if the session is ready.
func (c *Client) Warn(message string) {
	if c.session.At(session.Ready) {
		c.session.Log(mcp.Warning, session.LogCore, message)
	}
}

// Ended reports whether no more messages of the client are accepted.
func (c *Client) Ended() bool { return c.session.At(session.Ended) }

// WaitAnswered returns when all requests are answered, whether or not the client reads.
func (c *Client) WaitAnswered() { c.requests.WaitAnswered() }

// Wait returns when no request and no call runs.
func (c *Client) Wait() {
	c.requests.Wait()
	c.tasks.Wait()
	c.suspended.Wait()
}

// Finish sends the last messages, after all answers: the number of missed messages, and the answers of streams.
func (c *Client) Finish() {
	c.session.ReportMissed()
	c.subscribe.EndStreams()
}

// Cancel ends all requests and calls without answers.
func (c *Client) Cancel(cause error) {
	c.session.Enter(session.Ended)
	c.sessionEnds()
	c.requests.CancelAll(cause)
	c.tasks.Cancel(cause)
	c.suspended.Close()
	c.stop(cause)
}

// Leave removes the client from the server, after its last request.
func (c *Client) Leave() {
	c.sessionEnds()
	c.subscribe.Leave()
	c.server.Log.sessions.Delete(c.session)
	if c.offered != nil {
		c.offered.Close()
	}
}

// A Sink takes the lines that a message causes, and delivers them to the client.
type Sink = session.Sink

// An Ending is the end of a client's connection, and its reason.
type Ending = session.Ending

// A Connection has the functions of a transport that a client needs. Its Sink is for messages that belong to no
// request. All methods are safe for concurrent use.
type Connection interface {
	Sink
	// AwaitRoom waits until the client's messages may be accepted. It is called between the elements of a batch.
	AwaitRoom()
	// End ends the connection. Only the first call has an effect.
	End(Ending)
}

// A Task is an accepted request, which a transport runs.
type Task interface {
	// Run answers the request, and then requests that waited for its slot. A request of a shared
	// server first waits for a slot, and runs no other request.
	Run()
	// Lingers reports whether Run can return long after the answer.
	Lingers() bool
	// Slow is true if requests of this method usually take long. The transport measures it.
	Slow() *atomic.Bool
}

// lifecycle handles a message that changes the phase of the session (protocol section 7) or is accepted in every
// phase. It reports whether it has handled the message.
func (c *Client) lifecycle(m *jsonrpc.Message, isRequest, inBatch bool, out Sink) bool {
	s := c.session
	switch m.Method {
	case "initialize":
		if isRequest {
			c.initialize(m, inBatch, out)
		}
	case "notifications/initialized", "initialized":
		if c.handshake.Initialized() {
			c.subscribe.Ready()
		}
		if isRequest { // P-505
			out.Last(nil, nil)
		}
	case "ping":
		switch {
		case !isRequest:
		case s.At(session.Closing):
			s.Refuse(out, m.ID, mcp.Errorf(mcp.CodeShuttingDown, "Server shutting down"))
		default:
			s.Reply(out, m.ID, nil)
		}
	case "shutdown":
		c.shutdown()
		if isRequest {
			s.Reply(out, m.ID, nil)
		}
	case "exit":
		c.exit(m, isRequest, out)
	case "notifications/cancelled":
		if isRequest { // the name of a notification
			return false
		}
		c.cancelled(m)
	case "notifications/roots/list_changed":
		if isRequest {
			return false
		}
		c.handshake.RootsChanged()
	case "notifications/message":
		if isRequest {
			s.Refuse(out, m.ID, mcp.Errorf(mcp.CodeMethodNotFound,
				"Invalid Request").WithData("notifications/message is server-originated"))
		}
	default:
		return false
	}
	return true
}

// initialize begins the session, and records its beginning.
func (c *Client) initialize(m *jsonrpc.Message, inBatch bool, out Sink) {
	g, err := c.handshake.Greet(m, inBatch)
	if err != nil {
		c.refuse(m, out, err)
		return
	}
	if e := c.eventOf(m, g.Revision.Name, &g.Client); e != nil {
		e.Work.Took = time.Since(e.Began)
		if c.server.Events.Emit(e) != nil {
			c.session.Refuse(out, m.ID, calls.ErrUnrecorded)
			return
		}
		end := &events.Event{Type: events.SessionEnd, Began: e.Began, Source: e.Source, Subject: e.Subject}
		end.Source.RequestID = nil
		c.greeted.Store(end)
	}
	c.handshake.Initialize(m, g, out)
}

// sessionEnds records the end of a session once.
func (c *Client) sessionEnds() {
	if e := c.greeted.Swap(nil); e != nil {
		e.Work.Took = time.Since(e.Began)
		c.server.Events.Emit(e)
	}
}

// cancelled ends the request that the client no longer wants. Nothing more is sent for it. An
// unknown id is ignored (protocol section 16).
func (c *Client) cancelled(m *jsonrpc.Message) {
	id := rawjson.Get(m.Params.Raw, "requestId")
	if id == nil {
		id = rawjson.Get(m.Params.Raw, "id")
	}
	if k := rawjson.KindOf(id); k != rawjson.String && k != rawjson.Number {
		return
	}
	key := jsonrpc.ID(id).Key()
	if (c.requests.Cancel(key) || c.subscribe.CancelStream(key)) && c.session.Debugging() {
		c.session.Debugf(session.LogRPC, "Cancelled id=%s reason=%s", id, rawjson.TextOf(m.Params.Raw, "reason"))
	}
}

// shutdown begins the end: running requests continue, new ones are refused, and exit is expected in time.
func (c *Client) shutdown() {
	if c.session.At(session.Closing) {
		return
	}
	c.session.Enter(session.Closing)
	c.session.Debugf(session.LogLifecycle, "Shutdown requested")
	limit := c.server.Project.Sessions.Shutdown
	c.watchdog = time.AfterFunc(limit, func() {
		c.conn.End(Ending{Kill: true, Silent: true,
			Reason: "mcp-bash: shutdown timeout (" + strconv.Itoa(int(limit/time.Second)) + "s) elapsed; terminating."})
	})
}

// exit ends the session after shutdown. Without shutdown, exit is refused.
func (c *Client) exit(m *jsonrpc.Message, isRequest bool, out Sink) {
	switch {
	case c.session.At(session.Closing):
		if isRequest {
			c.session.Reply(out, m.ID, nil)
		}
		c.conn.End(c.CloseInput())
	case isRequest:
		c.session.Refuse(out, m.ID, mcp.Errorf(mcp.CodeExitTooEarly, "Shutdown not requested"))
	}
}

// drainUninitialized is how long running requests may take after the end of input without a handshake. Such clients
// send SIGTERM soon.
const drainUninitialized = 1500 * time.Millisecond

// CloseInput is called after the last message, and returns the ending of the connection. Requests
// to the client get no answers any more. Running requests may finish.
func (c *Client) CloseInput() Ending {
	c.handshake.Outgoing.End()
	c.tasks.Close()
	c.suspended.Close()
	var e Ending
	switch {
	case c.session.At(session.New):
		e.Within = drainUninitialized
	case c.session.At(session.Closing):
		e.Within = c.server.Project.Sessions.Shutdown
		c.watchdog.Stop()
	}
	c.session.Enter(session.Ended)
	return e
}
