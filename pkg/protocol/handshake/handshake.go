// Package handshake is the protocol of the revisions 2024-11-05 to 2025-11-25. A session begins
// with initialize, which settles the revision and the capabilities of both sides for all later
// requests.
package handshake

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/protocol/console"
	"mcp-bash/pkg/protocol/internal/offer"
	"mcp-bash/pkg/protocol/internal/session"
	"mcp-bash/pkg/wire/jsonrpc"
	"mcp-bash/pkg/wire/mcp"
	"mcp-bash/pkg/wire/revision"
)

// A Config is the input of [New].
type Config struct {
	Context context.Context // of the client
	Project *project.Project
	State   *project.State
	Console *console.Console
	Session *session.Session
	Roots   roots.Scope // if the client names none
	Asked   func()      // is called after each request to the client
	Remote  bool        // the client's roots name folders of another machine
	Shared  bool        // the process has other clients
}

// A Handshake is the handshake protocol of one client. It implements [calls.Protocol].
type Handshake struct {
	Config
	Methods  calls.Methods
	Outgoing *Outgoing
	roots    *clientRoots
	current  calls.ClientSession // without the parts that change
}

// New returns the protocol of a new client.
func New(c Config) *Handshake {
	out := &Outgoing{session: c.Session, asked: c.Asked, pending: map[string]*reply{}}
	h := &Handshake{Config: c, Outgoing: out}
	h.roots = &clientRoots{Config: &h.Config, outgoing: out, scope: c.Roots}
	h.current = calls.ClientSession{Threshold: h.Session.Threshold, Roots: h.roots.current}
	return h
}

// ClientSession returns the properties of the client that a request may use. Questions of its script go to out.
func (h *Handshake) ClientSession(out session.Sink) calls.ClientSession {
	c := h.current
	c.Capabilities, c.Asker, c.Links = h.Session.Capabilities.Load(), h.Asker(out), h.Session.Revision.Load().Links
	return c
}

// Asker implements [calls.Protocol].
func (h *Handshake) Asker(out session.Sink) mcp.Asker { return asker{h.Outgoing, out} }

// RootPaths returns the directories of the client's roots.
func (h *Handshake) RootPaths() []string { return h.roots.paths(h.Context) }

// Handle implements [calls.Protocol].
func (*Handshake) Handle(ctx context.Context, r *calls.Request) (*calls.Answer, error) {
	return r.Method.Handle(ctx, r)
}

// Extra implements [calls.Protocol].
func (*Handshake) Extra(*calls.Request, *calls.Answer) mcp.Extra { return mcp.Extra{} }

// Fault implements [calls.Protocol].
func (*Handshake) Fault(e *mcp.Error) *mcp.Error { return e }

// A Greeting is the result of the handshake between a client and the server.
type Greeting struct {
	Revision *revision.Revision
	Client   mcp.Capabilities
}

// Greet reads an initialize request and negotiates the revision and the capabilities (protocol section 8). If there
// is no error, [Handshake.Initialize] answers the request.
func (h *Handshake) Greet(m *jsonrpc.Message, inBatch bool) (g Greeting, err *mcp.Error) {
	s := h.Session
	switch {
	case s.At(session.Closing):
		return g, mcp.Errorf(mcp.CodeShuttingDown, "Server shutting down")
	case !s.At(session.New):
		return g, mcp.Errorf(mcp.CodeInvalidRequest, "Server already initialized")
	case inBatch:
		return g, mcp.Errorf(mcp.CodeInvalidRequest, "Invalid Request").WithData("initialize must not be batched")
	case m.Params.Raw != nil && !m.Params.IsObject():
		return g, mcp.Errorf(mcp.CodeInvalidParams, "Invalid params")
	}
	if g.Revision, err = h.negotiate(rawjson.Get(m.Params.Raw, "protocolVersion")); err != nil {
		return g, err
	}
	if !h.Project.Minimal {
		g.Client = mcp.ParseCapabilities(rawjson.Get(m.Params.Raw, "capabilities"))
	}
	info := rawjson.Get(m.Params.Raw, "clientInfo")
	g.Client.Name, g.Client.Version = rawjson.TextOf(info, "name"), rawjson.TextOf(info, "version")
	return g, nil
}

// Initialize begins the session with a greeting.
func (h *Handshake) Initialize(m *jsonrpc.Message, g Greeting, out session.Sink) {
	s, agreed, client := h.Session, g.Revision, g.Client
	s.Revision.Store(agreed)
	s.Capabilities.Store(&client)
	if !h.Shared {
		h.writeUISupport(&client)
	}
	s.Enter(session.Initializing)
	s.Reply(out, m.ID, func(dst []byte) []byte { return h.appendInitializeResult(dst, agreed, &client) })
	s.Greeted.Store(true)
	if !s.Debugging() {
		return
	}
	for _, line := range []string{
		"Initialize requested=" + string(rawjson.Get(m.Params.Raw, "protocolVersion")) + " negotiated=" + agreed.Name,
		fmt.Sprintf("Client: %s/%s pid=%d", client.Name, client.Version, os.Getppid()),
		"Elicitation support=" + digit(client.Elicitation()),
		"Roots support=" + digit(client.Roots) + " listChanged=" + digit(client.RootsListChanged),
		"UI extension support=" + digit(client.UI),
	} {
		s.Log(mcp.Debug, session.LogLifecycle, line)
	}
}

func digit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// writeUISupport writes the files in the state directory for scripts of the Bash edition. The files record whether
// the client shows pages, and the MIME types of pages (resources RES-303).
func (h *Handshake) writeUISupport(client *mcp.Capabilities) {
	types := client.UIMimeTypes
	if rawjson.KindOf(types) != rawjson.Array {
		if types = json.RawMessage("[]"); client.UI {
			types = json.RawMessage(`["` + mcp.UIMimeType + `"]`)
		}
	}
	for name, text := range map[string]string{
		"extensions.ui.support": digit(client.UI), "extensions.ui.mimetypes": string(types),
	} {
		if err := h.State.Put(name, text); err != nil {
			h.Session.Log(mcp.Warning, session.LogPages, name+" cannot be written: "+err.Error())
		}
	}
}

// negotiate returns the revision for the client's protocolVersion.
func (h *Handshake) negotiate(asked json.RawMessage) (*revision.Revision, *mcp.Error) {
	version, isText := rawjson.Text(asked)
	switch {
	case isText && version != "":
		if r := revision.Named(version); r != nil {
			return r, nil
		}
		h.Console.Notice("mcp-bash: unsupported protocol version %s; answering with %s",
			cli.Line(version[:min(len(version), 64)]), revision.Latest.Name)
		return revision.Latest, nil
	case isText || rawjson.Absent(asked):
		return revision.Latest, nil
	}
	asked = rawjson.AppendCompact(nil, asked) // a line of output must not contain CR
	names := revision.Names()
	err := mcp.Errorf(mcp.CodeInvalidParams, "Unsupported protocol version: %s. Supported: %s", asked,
		strings.Join(names, ","))
	var b rawjson.Builder
	b.Object().Name("supported").Strings(names).Name("requested").Raw(asked)
	err.Data = b.End().Bytes()
	return nil, err
}

// appendInitializeResult appends the result of initialize.
func (h *Handshake) appendInitializeResult(dst []byte, r *revision.Revision, client *mcp.Capabilities) []byte {
	b := rawjson.Over(dst)
	b.Object().Name("protocolVersion").String(r.Name)
	offer.Capabilities{Has: h.Methods.Has, Changes: r.ListChanged, UI: client.UI}.Append(b.Name("capabilities"))
	offer.AppendServer(b.Name("serverInfo"), &h.Project.Meta)
	if text := h.Project.Meta.Instructions; r.Instructions && text != "" {
		b.Name("instructions").String(text)
	}
	return b.End().Bytes()
}

// Initialized handles notifications/initialized: the client can now get requests and
// notifications. It reports whether the message was expected.
func (h *Handshake) Initialized() bool {
	if !h.Session.At(session.Initializing) {
		return false
	}
	h.Session.Enter(session.Ready)
	h.Session.Debugf(session.LogLifecycle, "Initialized handshake complete")
	h.roots.start(h.Session.Capabilities.Load().Roots && !h.Remote)
	return true
}

// RootsChanged handles notifications/roots/list_changed.
func (h *Handshake) RootsChanged() {
	if h.Session.At(session.Ready) {
		h.roots.changed()
	}
}

// SetLevel answers logging/setLevel. An empty level means info.
func (h *Handshake) SetLevel(m *jsonrpc.Message, out session.Sink) {
	v := rawjson.Get(m.Params.Raw, "level")
	level := mcp.Info
	if text, isText := rawjson.Text(v); !rawjson.Absent(v) && !(isText && text == "") {
		parsed, known := mcp.ParseLevel(text)
		if !isText || !known {
			h.Session.Refuse(out, m.ID, mcp.Errorf(mcp.CodeInvalidParams, "Invalid log level"))
			return
		}
		level = parsed
	}
	h.Session.Level.Store(int32(level))
	h.Session.Reply(out, m.ID, nil)
}

// clientRoots are the roots that apply to a client. It asks the client for them (protocol
// section 21).
type clientRoots struct {
	*Config
	outgoing *Outgoing

	mu      sync.Mutex
	scope   roots.Scope   // that applies now
	first   chan struct{} // closed after the first answer or timeout; nil: nothing was asked
	asks    bool          // the client has roots
	asking  bool
	again   bool // the roots changed while asking
	lastAsk time.Time
}

// start is called when the session becomes ready.
func (c *clientRoots) start(clientHasRoots bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asks = clientHasRoots && !c.Project.Minimal
	if c.asks {
		c.first = make(chan struct{})
		c.ask()
	}
}

// changed asks for the roots again.
func (c *clientRoots) changed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !c.asks:
	case c.asking:
		c.again = true
	default:
		c.ask()
	}
}

// ask sends roots/list, but not too soon after the last time. The lock is held.
func (c *clientRoots) ask() {
	c.asking, c.again = true, false
	wait := c.Project.Sessions.RootsDebounce - time.Since(c.lastAsk)
	if c.lastAsk.IsZero() {
		wait = 0
	}
	c.lastAsk = time.Now().Add(wait)
	var r *reply
	if wait <= 0 { // now, so that it is sent before later messages
		r = c.send()
	}
	go c.await(wait, r)
}

func (c *clientRoots) send() *reply { return c.outgoing.send(c.Session.Sink, mcp.MethodRoots, nil) }

func (c *clientRoots) await(wait time.Duration, r *reply) {
	if r == nil {
		select {
		case <-time.After(wait):
		case <-c.Context.Done():
			return
		}
		r = c.send()
	}
	c.Session.Push()
	timer := time.NewTimer(c.Project.Sessions.RootsTimeout)
	defer timer.Stop()
	select {
	case <-r.done:
		c.take(r)
	case <-timer.C: // the current roots stay
		c.outgoing.forget(r)
	case <-c.Context.Done():
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.first:
	default:
		close(c.first)
	}
	c.asking = false
	if c.again {
		c.ask()
	}
}

func (c *clientRoots) take(r *reply) {
	warn := func(text string) { c.Session.Log(mcp.Warning, roots.Logger, text) }
	switch {
	case r.gone:
		return
	case r.err != nil:
		warn(fmt.Sprintf("roots/list failed: code=%d message=%s", r.err.Code, r.err.Message))
		return
	}
	list, refused, ok := roots.FromClient(r.result)
	if !ok {
		warn("roots/list: malformed answer; keeping the current roots")
		return
	}
	if len(list) == 0 && len(refused) > 0 {
		warn("tools refuse every path, as no root of the client can be used: " + named(refused))
	} else {
		for _, one := range refused {
			text := one.Err.Error()
			if c.Project.Logging.Verbose {
				text += ": " + one.URI
			}
			warn(text)
		}
	}
	names := len(list)+len(refused) > 0
	c.mu.Lock()
	defer c.mu.Unlock()
	if !names && c.Roots.Given {
		c.scope = c.Roots
		return
	}
	c.scope = roots.Scope{List: list, Given: c.scope.Given || names}
}

// maxNamed is the maximum number of roots that one message names.
const maxNamed = 8

func named(refused []roots.Refused) string {
	var list []string
	for _, one := range refused[:min(len(refused), maxNamed)] {
		list = append(list, one.Err.Error()+": "+one.URI)
	}
	if more := len(refused) - maxNamed; more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, ", ")
}

// current returns the roots for a call that starts now. It waits for the client's first answer. r is the request of the
// call, or nil.
func (c *clientRoots) current(ctx context.Context, r *calls.Request) roots.Scope {
	c.mu.Lock()
	defer c.mu.Unlock()
	if first := c.first; first != nil {
		c.mu.Unlock()
		if r != nil {
			r.Await(ctx, first)
		} else {
			select {
			case <-first:
			case <-ctx.Done():
			}
		}
		c.mu.Lock()
	}
	return c.scope
}

func (c *clientRoots) paths(ctx context.Context) []string {
	var paths []string
	for _, root := range c.current(ctx, nil).List {
		paths = append(paths, root.Path)
	}
	return paths
}
