package protocol

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/events"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/protocol/internal/session"
	"mcp-bash/pkg/protocol/internal/throttle"
	"mcp-bash/pkg/protocol/stateless"
	"mcp-bash/pkg/wire/jsonrpc"
	"mcp-bash/pkg/wire/mcp"
	"mcp-bash/pkg/wire/revision"
	"mcp-bash/pkg/wire/tracecontext"
)

// Accept handles one message. It answers cheap requests itself, and returns any other request as a Task that the
// transport must run. The result is nil if there is nothing to run. Everything that the message causes goes to out.
// The message can be overwritten after the return.
func (c *Client) Accept(message []byte, out Sink) Task {
	m, err := jsonrpc.Parse(message)
	if err != nil {
		c.session.Record("request", "-", "recv", message)
		c.unreadable(message, err, out)
		return nil
	}
	return c.AcceptParsed(message, &m, out)
}

// AcceptParsed is [Client.Accept] for a message that the transport has parsed.
func (c *Client) AcceptParsed(message []byte, m *jsonrpc.Message, out Sink) Task {
	c.session.Record("request", "-", "recv", message)
	defer c.server.lists.Poke()
	if m.Shape == jsonrpc.Batch {
		c.batch(m, out)
	} else if r := c.route(m, false, out); r != nil {
		return r
	}
	return nil
}

// AcceptStateless is [Client.AcceptParsed] for a request of the stateless protocol, on a transport
// where many callers share a client. Its key names the request for [Client.CancelStateless], in
// place of the id, which other callers can use at the same time. It is safe for concurrent use.
func (c *Client) AcceptStateless(message []byte, m *jsonrpc.Message, key string, out Sink) Task {
	c.session.Record("request", "-", "recv", message)
	defer c.server.lists.Poke()
	if err := c.checkToken(m); err != nil {
		c.refuse(m, out, err)
		return nil
	}
	own := stateless.ReadMeta(m.Params.Meta())
	if r := c.routeStateless(m, &own, key, out); r != nil {
		return r
	}
	return nil
}

// CancelStateless ends a request without an answer, because its caller is gone.
func (c *Client) CancelStateless(key string) {
	_ = c.requests.Cancel(key) || c.subscribe.CancelStream(key)
}

// Stateless returns the revision that a message names, as JSON, or nil. It reports whether the
// message is a request of the stateless protocol.
func Stateless(m *jsonrpc.Message) (version json.RawMessage, ok bool) {
	if m.Shape != jsonrpc.Request {
		return nil, false
	}
	own := stateless.ReadMeta(m.Params.Meta())
	return own.Version(), own.Claims(m.Method)
}

// IsStateless reports whether a revision belongs to the stateless protocol.
func IsStateless(version string) bool { return version == revision.Stateless }

// Speaks reports whether the session uses a revision.
func (c *Client) Speaks(version string) bool { return c.session.Revision.Load().Name == version }

// PrimesStreams reports whether a stream to the client begins with an event that has only an id.
func (c *Client) PrimesStreams() bool { return c.session.Revision.Load().Priming }

// checkToken returns the error for a message without the shared secret.
func (c *Client) checkToken(m *jsonrpc.Message) *mcp.Error {
	err := c.token.check(m.Params.Meta())
	if err != nil && err != errTokenThrottled {
		c.session.Log(mcp.Warning, session.LogAuth, "Remote token rejected method="+m.Method)
	}
	return err
}

// AcceptsBatches reports whether the client may send arrays of messages.
func (c *Client) AcceptsBatches() bool {
	return c.session.Revision.Load().Batches || c.server.Project.Sessions.CompatBatches
}

// RefuseLong answers a message above the limit for lines.
func (c *Client) RefuseLong(out Sink) {
	c.session.Refuse(out, nil, mcp.Errorf(mcp.CodeParse, "Parse error").WithData(
		fmt.Sprintf("Message exceeds %d bytes", c.server.Project.Limits.Line)))
}

// unreadable answers a message that is not JSON. Its content can contain secrets, so only verbose logs show it.
func (c *Client) unreadable(message []byte, err error, out Sink) {
	reason := "Failed to normalize input"
	if errors.Is(err, jsonrpc.ErrUTF8) {
		reason = "Invalid UTF-8"
	}
	sum := sha256.Sum256(message)
	text := fmt.Sprintf("JSON normalization failed bytes=%d sha256=%x truncated=%t", len(message), sum[:8],
		len(message) > maxExcerpt)
	if c.server.Project.Logging.Verbose {
		text += fmt.Sprintf(" excerpt=\"%s\"", excerpt(message))
	}
	c.server.Console.Notice("%s", text)
	c.session.Refuse(out, nil, mcp.Errorf(mcp.CodeParse, "Parse error").WithData(reason))
}

const maxExcerpt = 1024

func excerpt(message []byte) string {
	const special, letters = "\r\n\t\"\\", `rnt"\`
	text := make([]byte, 0, maxExcerpt)
	for _, c := range message {
		if len(text) > maxExcerpt-2 {
			break
		}
		i := strings.IndexByte(special, c)
		switch {
		case i >= 0:
			text = append(text, '\\', letters[i])
		case c < ' ' || c > '~':
			text = append(text, '?')
		default:
			text = append(text, c)
		}
	}
	return string(text)
}

// batch handles each element of an array as a message (protocol section 6).
func (c *Client) batch(m *jsonrpc.Message, out Sink) {
	invalid := func(reason string) {
		c.session.Refuse(out, nil, mcp.Errorf(mcp.CodeInvalidRequest, "Invalid Request").WithData(reason))
	}
	if !c.AcceptsBatches() {
		c.recordBatch(m)
		invalid(c.session.Revision.Load().BatchRefusal)
		return
	}
	empty := true
	for e := range rawjson.Elements(m.Array) {
		empty = false
		element := jsonrpc.Classify(e)
		element.Trace, element.From = m.Trace, m.From
		element.From.ID = "" // each element has its own
		switch {
		case c.Ended(): // nothing after exit is read
			if element.IsAnswered() {
				out.Last(nil, nil)
			}
			continue
		case element.Shape == jsonrpc.Batch:
			invalid("Nested batch")
		default:
			if r := c.route(&element, true, out); r != nil {
				go r.Run()
			}
		}
		if out.Full() {
			out.Push()
			out.Reserve(c.server.Context, 0)
		}
		c.conn.AwaitRoom()
	}
	if empty {
		invalid("Empty batch")
	}
}

// recordBatch records a batch that is refused as a whole: its first request that leaves an event, and the number of the
// others. So a client cannot fill a record with one message.
func (c *Client) recordBatch(m *jsonrpc.Message) {
	var e *events.Event
	for part := range rawjson.Elements(m.Array) {
		request := jsonrpc.Classify(part)
		switch request.From = m.From; {
		case request.Shape != jsonrpc.Request || events.TypeOf(request.Method) == "":
		case e != nil:
			e.Count++
		default:
			if e = c.refusalOf(&request, mcp.CauseInvalid, mcp.CodeInvalidRequest); e == nil {
				return
			}
		}
	}
	if e != nil {
		c.server.Events.Emit(e)
	}
}

// route checks one message, and answers it or returns the request to run (P-500). It returns nil without such a
// request.
func (c *Client) route(m *jsonrpc.Message, inBatch bool, out Sink) *calls.Request {
	s := c.session
	refuse := func(e *mcp.Error) *calls.Request {
		c.refuse(m, out, e)
		return nil
	}
	switch m.Shape {
	case jsonrpc.Response:
		if !c.handshake.Outgoing.Deliver(m) {
			id := "null"
			if len(m.ID) > 0 {
				id = string(m.ID)
			}
			s.Log(mcp.Warning, session.LogRPC, "Received response for unknown request id="+id)
		}
		return nil
	case jsonrpc.Invalid:
		return refuse(faultError(m.Fault))
	}
	isRequest := m.Shape == jsonrpc.Request
	if m.Fault != jsonrpc.None {
		return nil // faulty notifications are ignored
	}
	if s.Debugging() {
		s.Debugf(session.LogRPC, "Dispatch method=%s id=%s", m.Method, m.ID)
	}
	if err := c.checkToken(m); err != nil {
		if isRequest {
			refuse(err)
		}
		return nil
	}
	if isRequest && (c.requests.InUse(m.ID) || c.subscribe.HasStream(m.ID)) {
		return refuse(errDuplicateID)
	}
	if isRequest {
		if own := stateless.ReadMeta(m.Params.Meta()); own.Claims(m.Method) {
			if inBatch {
				return refuse(errBatched)
			}
			return c.routeStateless(m, &own, m.ID.Key(), out)
		}
	}
	if isRequest && c.Ended() {
		return refuse(ErrNoSession)
	}
	if c.lifecycle(m, isRequest, inBatch, out) || !isRequest {
		return nil
	}
	switch known := c.handshake.Methods.Has(m.Method) || m.Method == "logging/setLevel"; {
	case s.At(session.Closing):
		return refuse(mcp.Errorf(mcp.CodeShuttingDown, "Server shutting down"))
	case !s.At(session.Ready) && !known:
		return refuse(calls.UnknownMethod(m.Method, c.server.Project.Minimal))
	case !s.At(session.Ready):
		return refuse(mcp.Errorf(mcp.CodeNotInitialized, "Server not initialized"))
	case m.Method == "logging/setLevel":
		c.handshake.SetLevel(m, out)
		return nil
	}
	return c.schedule(m, m.ID.Key(), c.handshake.Methods, c.handshake, c.handshake.ClientSession(out), out)
}

// routeStateless is route for a request of the stateless protocol (P-500).
func (c *Client) routeStateless(m *jsonrpc.Message, own *stateless.Meta, key string, out Sink) *calls.Request {
	if c.session.At(session.Closing) {
		c.refuse(m, out, mcp.Errorf(mcp.CodeInternal, "Server shutting down").Because(mcp.CauseUnavailable))
		return nil
	}
	client, err := c.stateless.ClientSession(own)
	if err != nil {
		c.refuse(m, out, err)
		return nil
	}
	if m.Method == stateless.MethodDiscover {
		c.session.Reply(out, m.ID, func(dst []byte) []byte {
			return c.stateless.AppendDiscovery(dst, client.Capabilities)
		})
		return nil
	}
	return c.schedule(m, key, c.stateless.Methods, c.stateless, client, out)
}

var (
	errDuplicateID = mcp.Errorf(mcp.CodeInvalidRequest, "Invalid Request").WithData("Duplicate request id")
	errBatched     = mcp.Errorf(mcp.CodeInvalidRequest,
		"Invalid Request").WithData("a request of " + revision.Stateless + " must not be batched")
)

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

// schedule makes a request from a message. If methods lacks its method, it sends an error and returns nil. The
// message points into the transport's buffer, so the request gets copies. The id has a separate copy, because it can
// outlive the rest (see [calls.Request.Shed]).
func (c *Client) schedule(m *jsonrpc.Message, key string, methods calls.Methods, protocol calls.Protocol,
	client calls.ClientSession, out Sink) *calls.Request {
	refuse := func(e *mcp.Error) *calls.Request {
		c.refuse(m, out, e)
		return nil
	}
	method := methods.Find(m.Method)
	if method == nil {
		return refuse(calls.UnknownMethod(m.Method, c.server.Project.Minimal))
	}
	if m.Params.Raw != nil && !m.Params.IsObject() {
		return refuse(mcp.Errorf(mcp.CodeInvalidParams, "Invalid params"))
	}
	event := c.eventOf(m, c.revisionOf(protocol), client.Capabilities)
	r := &calls.Request{
		ID: bytes.Clone(m.ID), Key: key, Method: method, Params: m.Params.Clone(), Trace: m.Trace, Protocol: protocol,
		Client: client, Out: out, Event: event,
	}
	if event != nil {
		event.Source.RequestID = r.ID
	}
	outcome := c.requests.Schedule(r)
	switch outcome {
	case calls.Duplicate:
		return refuse(errDuplicateID)
	case calls.Refused:
		return refuse(ErrBusy)
	}
	if method.Arrive != nil {
		method.Arrive(r)
	}
	if method.Asks {
		c.suspended.Expect(r)
	}
	if outcome == calls.Queued && !c.caller.Shared {
		return nil
	}
	return r
}

// ErrNoSession is the error for a request of a session that does not exist or has ended.
var ErrNoSession = mcp.Errorf(mcp.CodeInvalidRequest, "Session not found")

// ErrBusy is the error for a request above the limits of its client.
var ErrBusy = mcp.Errorf(mcp.CodeInternal, "Too many queued requests").Because(mcp.CauseBusy)

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
		Target:  TargetOf(m),
	}
	if e.ID == "" {
		e.ID = events.NewID()
	}
	if c.server.Audit != nil {
		e.Trace = TraceOf(m, e.ID)
	}
	if c.caller.Shared {
		e.Source.Transport = "http"
	}
	e.Subject.Client, e.Subject.Version = client.Name, client.Version
	return e
}

// TargetOf returns the item that a request names.
func TargetOf(m *jsonrpc.Message) events.Target {
	t := events.Target{Method: m.Method, Name: m.Params.Text(mcp.ParamName)}
	switch events.TypeOf(m.Method) {
	case events.ResourceRead:
		if uri := m.Params.Text(mcp.ParamURI); uri != "" {
			t.Name, t.IsURI = uri, true
		}
	case events.Completion:
		ref := m.Params.Get(mcp.ParamRef)
		t.Name = cmp.Or(rawjson.TextOf(ref, "name"), rawjson.TextOf(ref, "uri"))
	}
	return t
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

// TraceOf returns the trace of a request with an id: of its _meta, of its HTTP headers, or else one with the id.
func TraceOf(m *jsonrpc.Message, id string) (t events.Trace) {
	if t.ID, t.Parent = tracecontext.OfMeta(m.Params.Meta()).Or(m.Trace).Trace(); t.ID == "" {
		t.ID = id
	}
	if trace, span := m.Trace.Trace(); span != t.Parent {
		t.Link, t.LinkSpan = trace, span
	}
	return t
}

// refuse answers a request that does not run, and records that.
func (c *Client) refuse(m *jsonrpc.Message, out Sink, refusal *mcp.Error) {
	if e := c.refusalOf(m, refusal.Why(), refusal.Code); e != nil && c.server.Events.Emit(e) != nil {
		refusal = calls.ErrUnrecorded
	}
	c.session.Refuse(out, m.ID, refusal)
}

// refusalOf returns the event of a request that does not run, or nil if it leaves none.
func (c *Client) refusalOf(m *jsonrpc.Message, cause mcp.Cause, code int) *events.Event {
	version, client := c.session.Revision.Load().Name, c.session.Capabilities.Load()
	if own := stateless.ReadMeta(m.Params.Meta()); own.Claims(m.Method) {
		version, client = revision.Stateless, own.Capabilities()
	}
	e := c.eventOf(m, version, client)
	if e != nil {
		e.Cause, e.Work.Code = cause, code
		e.Work.Took, e.Work.Arguments = time.Since(e.Began), m.Params.Get(mcp.ParamArguments)
	}
	return e
}

// A tokenGuard accepts only messages with the shared secret (protocol section 23).
type tokenGuard struct {
	settings project.Token

	mu       sync.Mutex
	failures throttle.Throttle // P-2302
}

// check returns the error for a message whose _meta lacks the secret.
func (g *tokenGuard) check(meta json.RawMessage) *mcp.Error {
	if g.settings.Secret == "" {
		return nil
	}
	given, ok := rawjson.Text(rawjson.Get(meta, g.settings.Key))
	if !ok && g.settings.Fallback != "" {
		given, _ = rawjson.Text(rawjson.Get(meta, g.settings.Fallback))
	}
	// All hashes have the same length, so the comparison does not reveal the secret's.
	want, got := sha256.Sum256([]byte(g.settings.Secret)), sha256.Sum256([]byte(given))
	if subtle.ConstantTimeCompare(want[:], got[:]) == 1 {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.failures.Allow(time.Now()) {
		return errTokenThrottled
	}
	return errToken
}

var (
	errToken          = mcp.Errorf(mcp.CodeInvalidParams, "Remote token missing or invalid").Because(mcp.CauseCredential)
	errTokenThrottled = mcp.Errorf(mcp.CodeInvalidParams,
		"Remote token missing or invalid (throttled)").Because(mcp.CauseRate)
)

// strip removes the secret from the _meta that scripts get.
func (g *tokenGuard) strip(meta json.RawMessage) json.RawMessage {
	if g.settings.Secret == "" || rawjson.Get(meta, g.settings.Key) == nil && rawjson.Get(meta,
		g.settings.Fallback) == nil {
		return meta
	}
	var b rawjson.Builder
	return b.Object().Members(meta, g.settings.Key, g.settings.Fallback).End().Bytes()
}
