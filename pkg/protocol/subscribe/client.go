package subscribe

import (
	"context"
	"hash/maphash"
	"slices"
	"sync"

	"mcp-bash/pkg/feature/resource"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/protocol/internal/session"
)

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
			Limit: func() int { return c.fetching.SubscribeTimeout }},
		{Name: "resources/unsubscribe", Arrive: c.end, Handle: unsubscribe},
	}
}

// MethodListen is the method whose response is a stream that stays open (M-60).
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

// changed notifies the session, and each stream that asked for a family, of changed lists (M-61).
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
