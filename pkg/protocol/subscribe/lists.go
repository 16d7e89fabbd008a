// Package subscribe notifies clients of changes: of the lists that the project offers, and of
// resources. Clients of the handshake protocol get all changes of lists, and subscribe to single
// resources. Clients of the stateless protocol open streams.
package subscribe

import (
	"context"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"mcp-bash/pkg/clock"
	"mcp-bash/pkg/feature/resource"
	"mcp-bash/pkg/feature/skill"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/protocol/internal/session"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/kinds"
)

// Lists finds changes of a project's lists, for all clients of a process (protocol section 19).
type Lists struct {
	project *project.Project
	catalog *registry.Catalog // nil in minimal mode
	skills  *skill.Folder     // part of the list of resources; may be nil
	ctx     context.Context   // of the process

	mu      sync.Mutex
	clients []*Client

	started atomic.Bool   // a client listens, or did a moment ago
	fresh   atomic.Bool   // a check of all lists is about to begin
	last    atomic.Int64  // [clock.Now] at the start of the last check by Poke or watch
	running chan struct{} // contains one element during a check, and after the end
}

// NewLists returns the lists of a project. skills may be nil.
func NewLists(ctx context.Context, p *project.Project, catalog *registry.Catalog, skills *skill.Folder) *Lists {
	return &Lists{project: p, catalog: catalog, skills: skills, ctx: ctx, running: make(chan struct{}, 1)}
}

// families are the lists of the protocol, in the order of their notifications. To clients, resources, templates and UI
// resources are one list. Completions have no list.
var families = [...]struct {
	name, filter string // filter is the family's name in a request for a stream
	kinds        []*kinds.Kind
}{
	{"tools", "toolsListChanged", []*kinds.Kind{kinds.Tools}},
	{"resources", "resourcesListChanged", []*kinds.Kind{kinds.Resources, kinds.Templates, kinds.UIResources}},
	{"prompts", "promptsListChanged", []*kinds.Kind{kinds.Prompts}},
}

// A set contains families, by index.
type set [len(families)]bool

// checkPause is the minimum time between two checks by Poke or watch.
const checkPause = time.Second

// start is called when a client begins to listen.
func (l *Lists) start() {
	if l.project.Minimal || l.project.Discovery.Static || !l.listening() || l.started.Swap(true) {
		return
	}
	go l.watch()
}

func (l *Lists) all() []*Client {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.clients)
}

func (l *Lists) listening() bool { return slices.ContainsFunc(l.all(), (*Client).listening) }

// baseline records the current state before a client begins to listen, so that it is only
// notified of later changes. Other clients are notified of changes up to now.
func (l *Lists) baseline(ctx context.Context) {
	if !l.begin(ctx) {
		return
	}
	defer l.finish()
	if l.listening() {
		l.check(registry.Poll{Fresh: true})
		return
	}
	l.changes(ctx, registry.Poll{Fresh: true})
}

// Edited is called after a call of a tool, which can have changed the project. Streams are notified at once.
func (l *Lists) Edited() {
	if !l.started.Load() || !slices.ContainsFunc(l.all(), (*Client).Streaming) || l.fresh.Swap(true) {
		return
	}
	go func() {
		if !l.begin(l.ctx) {
			return
		}
		defer l.finish()
		l.fresh.Store(false)
		l.check(registry.Poll{Fresh: true})
	}()
}

// Poke is called after every message. It does nothing unless a check is due.
func (l *Lists) Poke() {
	if !l.started.Load() {
		return
	}
	last := l.last.Load()
	if clock.Now()-time.Duration(last) < checkPause || !l.tryBegin() {
		return
	}
	go func() {
		defer l.finish()
		if last == 0 {
			select {
			case <-time.After(firstPause):
			case <-l.ctx.Done():
				return
			}
		}
		l.check(registry.Poll{})
	}()
}

// firstPause delays the first check. A client asks for its lists as soon as the session is ready, and
// their answers come first.
const firstPause = 50 * time.Millisecond

// begin waits until the caller can check, and returns false if ctx ends first. Otherwise the caller must call finish.
func (l *Lists) begin(ctx context.Context) bool {
	select {
	case l.running <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// tryBegin is begin without waiting.
func (l *Lists) tryBegin() bool {
	select {
	case l.running <- struct{}{}:
		l.last.Store(int64(clock.Now()))
		return true
	default:
		return false
	}
}

func (l *Lists) finish() { <-l.running }

// End waits for a check in progress, but not longer than within, and prevents later ones. The
// context of the checks has ended before.
func (l *Lists) End(within time.Duration) {
	select {
	case l.running <- struct{}{}:
	case <-time.After(within): // a file system that does not answer
	}
}

// watch checks while no message arrives, as long as a client listens.
func (l *Lists) watch() {
	d := &l.project.Discovery
	pace := min(d.ToolsTTL, d.ResourcesTTL, d.TemplatesTTL, d.PromptsTTL, d.UITTL)
	ticker := time.NewTicker(max(pace, checkPause))
	defer ticker.Stop()
	for {
		select {
		case <-l.ctx.Done():
			return
		case <-ticker.C:
		}
		if !l.listening() {
			l.started.Store(false)
			l.start() // for a client that began to listen in between
			return
		}
		if l.tryBegin() {
			l.check(registry.Poll{Idle: true})
			l.finish()
		}
	}
}

// check notifies the clients of each family that has changed. An idle check does not run the project's register.sh.
func (l *Lists) check(occasion registry.Poll) {
	clients := l.all()
	if !slices.ContainsFunc(clients, (*Client).canBeNotified) { // changes are found later, when a client can be notified
		return
	}
	touched := l.changes(l.ctx, occasion)
	for _, c := range clients {
		c.changed(touched)
	}
}

// changes returns the families that have changed since the last call.
func (l *Lists) changes(ctx context.Context, occasion registry.Poll) (touched set) {
	changed := l.catalog.Changes(ctx, occasion)
	for i, family := range families {
		touched[i] = slices.ContainsFunc(family.kinds, func(k *kinds.Kind) bool { return slices.Contains(changed, k) })
	}
	if l.skills != nil && l.skills.Changed() { // SK-25
		touched[1] = true
	}
	return touched
}

// A Client has the subscriptions and the streams of one client.
type Client struct {
	Config
	lists *Lists
	watches

	mu      sync.Mutex
	streams []*stream // the oldest first
	pending set       // changes that the client does not know yet because it does not read
}

// A Config is the input of [Lists.NewClient].
type Config struct {
	Context context.Context // of the client
	Session *session.Session
	// MaxStreams is the number of streams that may be open at once.
	MaxStreams int
	Resources  *resource.Resources // as the client may read them; nil in minimal mode
}

// NewClient adds a client. Leave removes it.
func (l *Lists) NewClient(c Config) *Client {
	client := &Client{Config: c, lists: l, watches: watches{
		ctx: c.Context, session: c.Session, fetching: &l.project.Fetching,
		byID: map[string]*subscription{}, byURI: map[string]*watched{},
		reading: map[*calls.Request]uint64{}, unsubscribed: map[uint64]uint64{}, seed: maphash.MakeSeed(),
	}}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clients = append(l.clients, client)
	return client
}

// Leave removes the client. Its context has ended before.
func (c *Client) Leave() {
	c.lists.mu.Lock()
	defer c.lists.mu.Unlock()
	c.lists.clients = slices.DeleteFunc(c.lists.clients, func(other *Client) bool { return other == c })
}

// Ready is called when the client can get notifications.
func (c *Client) Ready() { c.lists.start() }

// SessionMethods returns the methods of the handshake protocol.
func (c *Client) SessionMethods() []*calls.Method {
	return []*calls.Method{
		{Name: "resources/subscribe", Arrive: c.arrived, Handle: c.subscribe,
			Limit: c.fetching.SubscribeTimeout},
		{Name: "resources/unsubscribe", Arrive: c.end, Handle: unsubscribe},
	}
}

// MethodListen is the method whose response is a stream that stays open.
const MethodListen = "subscriptions/listen"

// StreamMethods returns the methods of the stateless protocol.
func (c *Client) StreamMethods() []*calls.Method {
	return []*calls.Method{{Name: MethodListen, Handle: c.listen, OwnClock: true}}
}

// sessionListens reports whether the session gets notifications of lists.
func (c *Client) sessionListens() bool {
	return c.Session.At(session.Ready) && c.Session.Revision.Load().ListChanged
}

// Streaming reports whether a stream is open.
func (c *Client) Streaming() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.streams) > 0
}

func (c *Client) listening() bool { return c.sessionListens() || c.Streaming() }

func (c *Client) canBeNotified() bool { return c.listening() && !c.Session.Full() }

// changed notifies the session, and each stream that asked for a family, of changed lists.
func (c *Client) changed(touched set) {
	if touched[1] {
		c.reconsider()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.sessionListens() && len(c.streams) == 0 {
		return
	}
	for i := range touched {
		c.pending[i] = c.pending[i] || touched[i]
	}
	if c.Session.Full() {
		return
	}
	for i, family := range families {
		if !c.pending[i] {
			continue
		}
		c.pending[i] = false
		method := "notifications/" + family.name + "/list_changed"
		if c.sessionListens() {
			c.Session.Notify(method, []byte("{}"))
		}
		for _, st := range c.streams {
			if st.families[i] {
				st.notify(method)
			}
		}
	}
}
