package protocol

import (
	"strconv"
	"time"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/protocol/internal/session"
	"mcp-bash/pkg/wire/jsonrpc"
	"mcp-bash/pkg/wire/mcp"
)

// lifecycle handles the methods that move the session (protocol section 7), and those that are
// accepted in every phase. It reports whether the message was one of them.
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

// initialize begins the session, and records that.
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

// shutdown begins the end: running requests continue, new ones are refused, and exit is expected
// in time (P-900, P-901).
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

// exit ends the session after shutdown. Without shutdown, exit is refused (P-902, P-702).
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

// drainUninitialized is how long running requests may take after the end of input without a
// handshake. Such clients send SIGTERM soon (M-73).
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
