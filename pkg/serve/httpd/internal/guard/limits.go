package guard

import (
	"container/list"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"mcp-bash/pkg/events/metrics"
	"mcp-bash/pkg/text/ascii"
	"mcp-bash/pkg/wire/mcp"
)

// Limits are the bounds for clients. 0 means no bound, unless noted.
type Limits struct {
	Requests       int // at once, of all clients
	ClientRequests int // at once, of one client
	Rate, Burst    int // requests a second of one client, and requests that may come at once
	Failures       int // rejected credentials a minute from one address
	Clients        int // identities and addresses that are remembered
}

// retryBusy is the waiting time of responses with Retry-After.
const retryBusy = time.Second

// begin counts a request that starts. The key "" belongs to the programs of this machine, which have only the bounds
// for all clients.
func (g *Guard) begin(key string) *refusal {
	l := &g.Limits
	if n := g.running.Add(1); l.Requests > 0 && n > int64(l.Requests) {
		g.running.Add(-1)
		return &refusal{status: http.StatusServiceUnavailable, cause: mcp.CauseBusy,
			reason: "the server has too many requests", retry: retryBusy}
	}
	if key == "" {
		return nil
	}
	reason, wait := "too many requests of this client", time.Duration(0)
	g.clients.use(key, func(c *client) {
		if l.ClientRequests > 0 && c.running >= l.ClientRequests {
			reason, wait = "too many requests of this client at once", retryBusy
		} else if wait = c.count(g.Now()); wait == 0 {
			c.running++
		}
	})
	if wait == 0 {
		return nil
	}
	g.running.Add(-1)
	return &refusal{status: http.StatusTooManyRequests, cause: mcp.CauseRate, reason: reason, retry: wait}
}

// end counts a request that ends.
func (g *Guard) end(key string) {
	g.running.Add(-1)
	if key != "" {
		g.clients.use(key, func(c *client) { c.running-- })
	}
}

// failed counts a rejected credential from an address. wait is the time after which the limit allows another one, or
// 0. first means that this one has reached the limit.
func (g *Guard) failed(address string) (wait time.Duration, first bool) {
	if g.Limits.Failures == 0 {
		return 0, false
	}
	g.failures.use(address, func(c *client) {
		wait = c.count(g.Now())
		first = wait > 0 && !c.full
		c.full = wait > 0
	})
	return wait, first
}

// clients has the rate and the running requests of each client. It keeps a limited number of clients. It drops the
// one without running requests that was not used for the longest time.
type clients struct {
	most  int
	rate  rate.Limit // of each client; 0: no limit
	burst int

	mu      sync.Mutex
	entries map[string]*list.Element // of *client
	recent  list.List                // the most recent client first
}

type client struct {
	key     string
	running int
	rate    *rate.Limiter // nil: no limit
	full    bool          // the last count was above the limit
}

func newClients(most int, limit rate.Limit, burst int) *clients {
	return &clients{most: max(most, 1), rate: limit, burst: max(burst, 1), entries: map[string]*list.Element{}}
}

// use calls f with the client of a key, while the lock is held.
func (c *clients) use(key string, f func(*client)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.entries[key]
	if at != nil {
		c.recent.MoveToFront(at)
		f(at.Value.(*client))
		return
	}
	// Each running request uses at most one entry, so the loop soon finds an unused one.
	for at := c.recent.Back(); at != nil && len(c.entries) >= c.most; {
		old, before := at.Value.(*client), at.Prev()
		if old.running == 0 {
			c.recent.Remove(at)
			delete(c.entries, old.key)
		}
		at = before
	}
	fresh := &client{key: key}
	if c.rate > 0 {
		fresh.rate = rate.NewLimiter(c.rate, c.burst)
	}
	c.entries[key] = c.recent.PushFront(fresh)
	f(fresh)
}

// count counts a request or a failure. It returns the time after which the limit allows it, or 0.
func (c *client) count(now time.Time) time.Duration {
	if c.rate == nil {
		return 0
	}
	reserved := c.rate.ReserveN(now, 1)
	wait := reserved.DelayFrom(now)
	if wait > 0 {
		reserved.CancelAt(now)
	}
	return wait
}

// Connections limits the number of connections. Above the limit, the connection closes that has
// been without a request for the longest time. So clients that only connect, or send their header
// slowly, cannot keep others out. While all connections have requests, a few more stay open, so that the handler can
// refuse their requests. Connections that the handler has taken over do not count.
type Connections struct {
	most, more int
	mu         sync.Mutex
	open       map[net.Conn]*list.Element // of idle; nil while a request runs, and above the limit
	idle       list.List                  // of net.Conn without a request, the oldest first
	changed    sync.Cond
}

// maxExtra is the maximum number of connections above a limit.
const maxExtra = 64

// NewConnections returns a limit of a number of connections.
func NewConnections(most int) *Connections {
	c := &Connections{most: most, more: min(1+most/16, maxExtra), open: map[net.Conn]*list.Element{}}
	c.changed.L = &c.mu
	return c
}

// State follows a connection. It is for [http.Server.ConnState]. If none can be closed for a new connection, it waits
// until one ends.
func (c *Connections) State(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.changed.Signal()
	if at := c.open[conn]; at != nil {
		c.idle.Remove(at)
	}
	var victim net.Conn
	switch state {
	case http.StateNew, http.StateIdle:
		for state == http.StateNew && len(c.open) >= c.most+c.more && c.idle.Len() == 0 {
			c.changed.Wait()
		}
		if state == http.StateNew && len(c.open) >= c.most && c.idle.Len() == 0 {
			c.open[conn] = nil
			break
		}
		c.open[conn] = c.idle.PushBack(conn)
		if oldest := c.idle.Front(); len(c.open) > c.most {
			victim = oldest.Value.(net.Conn)
			c.idle.Remove(oldest)
			delete(c.open, victim)
		}
	case http.StateActive:
		if _, known := c.open[conn]; known {
			c.open[conn] = nil
		}
	default:
		delete(c.open, conn)
	}
	c.mu.Unlock()
	if victim == nil {
		return
	}
	// The descriptor is free before the next connection is accepted. So Close must not wait for the client, and Close
	// of a TLS connection can.
	if secure, ok := victim.(*tls.Conn); ok {
		victim = secure.NetConn()
	}
	victim.Close()
}

// Use returns how much of the limit is in use.
func (c *Connections) Use() metrics.Use {
	return metrics.Use{Limit: "connections", Used: c.Open(), Most: c.most}
}

// Exceeded reports whether there are more connections than the limit.
func (c *Connections) Exceeded() bool { return c.Open() > c.most }

// Open returns the number of connections.
func (c *Connections) Open() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

// Unused returns the connections without a request.
func (c *Connections) Unused() (list []net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for at := c.idle.Front(); at != nil; at = at.Next() {
		list = append(list, at.Value.(net.Conn))
	}
	return list
}

// A Quota passes on lines about connections and credentials, whose number clients decide. It bounds how
// fast they fill a log, and counts the lines that it leaves out.
type Quota struct {
	*Sample[struct{}]
	log func(line string)
}

// A Sample chooses a few of many events, whose number clients decide, and counts the others.
type Sample[T any] struct {
	now     func() time.Time
	mu      sync.Mutex
	limiter *rate.Limiter
	left    int // events since the last one that was chosen
	last    T   // the last of these
}

// NewSample returns a sample of at most burst events at once, and then of one event in each pace.
func NewSample[T any](burst int, pace time.Duration) *Sample[T] {
	return &Sample[T]{now: time.Now, limiter: rate.NewLimiter(rate.Every(pace), burst)}
}

// Take reports whether the next event is chosen, and how many before it were not.
func (s *Sample[T]) Take(event T) (chosen bool, left int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	chosen, left = s.limiter.AllowN(s.now(), 1), s.left
	if s.left++; chosen {
		s.left = 0
	}
	s.last = event
	return chosen, left
}

// Rest returns the number of events since the last one that was chosen, and the last of them. They do not count later.
func (s *Sample[T]) Rest() (last T, left int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	left, s.left = s.left, 0
	return s.last, left
}

// The bounds of a quota. At most 2 MB of lines of the usual 200 bytes come in a day.
const (
	quotaBurst = 60
	quotaPace  = 10 * time.Second
	quotaLine  = 2 << 10 // bytes
)

// NewQuota returns a quota for lines that log writes.
func NewQuota(log func(line string)) *Quota {
	return &Quota{NewSample[struct{}](quotaBurst, quotaPace), log}
}

// Line logs a line, or leaves it out. The next line has the number of those left out.
func (q *Quota) Line(text string) {
	chosen, left := q.Take(struct{}{})
	if !chosen {
		return
	}
	if len(text) > quotaLine {
		text = strings.ToValidUTF8(text[:quotaLine], "") + " (shortened)"
	}
	if left > 0 {
		text += fmt.Sprintf(" (%d similar lines left out)", left)
	}
	q.log(text)
}

// Write logs a line of net/http. It is for [http.Server.ErrorLog].
func (q *Quota) Write(p []byte) (int, error) {
	q.Line(ascii.TrimLine(string(p)))
	return len(p), nil
}
