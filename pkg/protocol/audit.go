package protocol

import (
	"cmp"
	"time"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/events"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/wire/jsonrpc"
	"mcp-bash/pkg/wire/mcp"
	"mcp-bash/pkg/wire/revision"
	"mcp-bash/pkg/wire/tracecontext"
)

// eventOf returns the event of a request, or nil if it leaves none.
func (c *Client) eventOf(m *jsonrpc.Message, version string, client *mcp.Capabilities) *events.Event {
	if c.server.Events == nil {
		return nil
	}
	kind := events.TypeOf(m.Method)
	if kind == "" {
		return nil
	}
	e := &events.Event{
		Type: kind, Began: time.Now(), ID: m.From.ID,
		Source: events.Source{
			Transport: "stdio", Address: m.From.Address, Agent: m.From.Agent, Session: m.From.Session,
			Revision: version, RequestID: m.ID,
		},
		Subject: SubjectOf(c.caller.Identity),
		Target:  events.Target{Method: m.Method, Name: m.Params.Text(mcp.ParamName)},
	}
	if e.ID == (events.ID{}) {
		e.ID = events.NewID()
	}
	if c.server.Recorded {
		e.Trace = traceOf(m, e.ID)
	}
	if c.caller.Shared {
		e.Source.Transport = "http"
	}
	if kind == events.ResourceRead {
		e.Target.Name = m.Params.Text(mcp.ParamURI)
	}
	e.Subject.Client, e.Subject.Version = client.Name, client.Version
	return e
}

// SubjectOf returns the sender of a request with an identity, which may be nil.
func SubjectOf(id *auth.Identity) events.Subject {
	if id == nil {
		return events.Subject{}
	}
	return events.Subject{
		User: cmp.Or(id.Subject, id.Name), UserID: id.Subject, Issuer: id.Issuer, Token: id.Name, Scopes: id.Scopes,
	}
}

// revisionOf returns the name of a protocol's revision.
func (c *Client) revisionOf(p calls.Protocol) string {
	if p == calls.Protocol(c.stateless) {
		return revision.Stateless
	}
	return c.session.Revision.Load().Name
}

// traceOf returns the trace of a request: of its _meta, or else of its HTTP headers.
func traceOf(m *jsonrpc.Message, id events.ID) (t events.Trace) {
	if t.ID, t.Parent = tracecontext.OfMeta(m.Params.Meta()).Or(m.Trace).Trace(); t.ID == "" {
		t.ID = id.String()
	}
	if trace, span := m.Trace.Trace(); span != t.Parent {
		t.Link, t.LinkSpan = trace, span
	}
	return t
}

// refuse answers a request that does not run, and records that.
func (c *Client) refuse(m *jsonrpc.Message, out Sink, refusal *mcp.Error) {
	if e := c.eventOf(m, c.session.Revision.Load().Name, c.session.Capabilities.Load()); e != nil {
		e.Cause, e.Work.Code = refusal.Why(), refusal.Code
		e.Work.Took, e.Work.Arguments = time.Since(e.Began), m.Params.Get(mcp.ParamArguments)
		if c.server.Events.Emit(e) != nil {
			refusal = calls.ErrUnrecorded
		}
	}
	c.session.Refuse(out, m.ID, refusal)
}
