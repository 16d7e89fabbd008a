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
)

// Limits are bounds on what clients take. 0 means no bound, unless noted.
type Limits struct {
	Requests       int // at once, of all clients
	ClientRequests int // at once, of one client
	Rate, Burst    int // requests a second of one client, and requests that may come at once
	Failures       int // rejected credentials a minute from one address
	Clients        int // identities and addresses that are remembered
}

// retryBusy is the waiting time of responses with Retry-After.
const retryBusy = time.Second

// begin counts a request that starts. A client with the key "" is a program of this machine, which only the bounds of
// all clients concern.
func (g *Guard) begin(key string) *refusal {
	l := &g.Limits
	if n := g.running.Add(1); l.Requests > 0 && n > int64(l.Requests) {
		g.running.Add(-1)
		return &refusal{status: http.StatusServiceUnavailable, reason: "the server has too many requests",
			retry: retryBusy}
	}
	if key == "" {
		return nil
	}
	wait, busy := g.clients.begin(key, g.Now())
	if wait == 0 && !busy {
		return nil
	}
	g.running.Add(-1)
	if busy {
		return &refusal{status: http.StatusTooManyRequests, reason: "too many requests of this client at once",
			retry: retryBusy}
	}
	return &refusal{status: http.StatusTooManyRequests, reason: "too many requests of this client", retry: wait}
}

// end counts a request that ends.
func (g *Guard) end(key string) {
	g.running.Add(-1)
	if key != "" {
		g.clients.end(key)
	}
}

// A table remembers a limited number of entries. It forgets the one that was not used for the
// longest time and is not in use.
type table[E any] struct {
	most    int
	entries map[string]*list.Element // of *row[E]
	recent  list.List                // the most recent entry first
}

type row[E any] struct {
	key   string
	entry E
}

func (t *table[E]) init(most int) {
	t.most, t.entries = max(most, 1), map[string]*list.Element{}
	t.recent.Init()
}

// find returns the entry of a key, or nil.
func (t *table[E]) find(key string) *E {
	if at := t.entries[key]; at != nil {
		return &at.Value.(*row[E]).entry
	}
	return nil
}

// get returns the entry of a key. A new entry is fresh. inUse reports whether an entry must stay.
func (t *table[E]) get(key string, fresh func() E, inUse func(*E) bool) *E {
	if at := t.entries[key]; at != nil {
		t.recent.MoveToFront(at)
		return &at.Value.(*row[E]).entry
	}
	// Each running request uses at most one entry, so an unused one is found soon.
	for at := t.recent.Back(); at != nil && len(t.entries) >= t.most; {
		old, before := at.Value.(*row[E]), at.Prev()
		if !inUse(&old.entry) {
			t.recent.Remove(at)
			delete(t.entries, old.key)
		}
		at = before
	}
	r := &row[E]{key, fresh()}
	t.entries[key] = t.recent.PushFront(r)
	return &r.entry
}

// clients are the identities with recent requests.
type clients struct {
	limits Limits
	mu     sync.Mutex
	table  table[client]
}

type client struct {
	running int
	rate    *rate.Limiter // nil: no limit
}

func (c *clients) init(l Limits) {
	c.limits = l
	c.table.init(l.Clients)
}

// begin counts a request of a client. busy means that too many are running. wait is the time after
// which the rate allows the request, or 0.
func (c *clients) begin(key string, now time.Time) (wait time.Duration, busy bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.table.get(key, func() client {
		if c.limits.Rate == 0 {
			return client{}
		}
		return client{rate: rate.NewLimiter(rate.Limit(c.limits.Rate), max(c.limits.Burst, 1))}
	}, func(e *client) bool { return e.running > 0 })
	if c.limits.ClientRequests > 0 && e.running >= c.limits.ClientRequests {
		return 0, true
	}
	if e.rate != nil {
		reserved := e.rate.ReserveN(now, 1)
		if wait := reserved.DelayFrom(now); wait > 0 {
			reserved.CancelAt(now)
			return wait, false
		}
	}
	e.running++
	return 0, false
}

// end counts a request that ends.
func (c *clients) end(key string) {
	c.mu.Lock()
	c.table.find(key).running--
	c.mu.Unlock()
}

// failures are the addresses with recent rejected credentials.
type failures struct {
	limit int
	mu    sync.Mutex
	table table[failure]
}

type failure struct {
	rate *rate.Limiter
	full bool // the last attempt was above the limit
}

func (f *failures) init(l Limits) {
	f.limit = l.Failures
	f.table.init(l.Clients)
}

// add counts a failure. wait is the time after which the limit allows another one, or 0. first means that the
// address reached the limit with this failure.
func (f *failures) add(address string, now time.Time) (wait time.Duration, first bool) {
	if f.limit == 0 {
		return 0, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.table.get(address, func() failure {
		return failure{rate: rate.NewLimiter(rate.Every(time.Minute/time.Duration(f.limit)), f.limit)}
	}, func(*failure) bool { return false })
	reserved := e.rate.ReserveN(now, 1)
	if wait = reserved.DelayFrom(now); wait > 0 {
		reserved.CancelAt(now)
	}
	first = wait > 0 && !e.full
	e.full = wait > 0
	return wait, first
}

// Connections limits the number of connections. Above the limit, the connection closes that has
// been without a request for the longest time. So clients that only connect, or send their header
// slowly, cannot keep others out. Connections that the handler has taken over do not count.
type Connections struct {
	most int
	mu   sync.Mutex
	open map[net.Conn]*list.Element // of idle; nil while a request runs
	idle list.List                  // of net.Conn without a request, the oldest first
}

// NewConnections returns a limit of a number of connections.
func NewConnections(most int) *Connections {
	return &Connections{most: most, open: map[net.Conn]*list.Element{}}
}

// State follows a connection. It is for [http.Server.ConnState].
func (c *Connections) State(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	if at := c.open[conn]; at != nil {
		c.idle.Remove(at)
	}
	var victim net.Conn
	switch state {
	case http.StateNew, http.StateIdle:
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
	// The descriptor is free before the next connection is accepted. So Close must not wait for the client, as that of
	// TLS can.
	if secure, ok := victim.(*tls.Conn); ok {
		victim = secure.NetConn()
	}
	victim.Close()
}

// Use returns how much of the limit is in use.
func (c *Connections) Use() metrics.Use {
	c.mu.Lock()
	defer c.mu.Unlock()
	return metrics.Use{Limit: "connections", Used: len(c.open), Most: c.most}
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
	*Sample
	log func(line string)
}

// A Sample chooses a few of many things, whose number clients decide, and counts the others.
type Sample struct {
	now     func() time.Time
	mu      sync.Mutex
	limiter *rate.Limiter
	left    int // things since the last one that was chosen
}

// NewSample returns a sample of at most burst things at once, and then of one in each pace.
func NewSample(burst int, pace time.Duration) *Sample {
	return &Sample{now: time.Now, limiter: rate.NewLimiter(rate.Every(pace), burst)}
}

// Take reports whether the next thing is chosen, and how many before it were not.
func (s *Sample) Take() (chosen bool, left int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	chosen, left = s.limiter.AllowN(s.now(), 1), s.left
	if s.left++; chosen {
		s.left = 0
	}
	return chosen, left
}

// The bounds of a quota. At most 2 MB of lines of the usual 200 bytes come in a day.
const (
	quotaBurst = 60
	quotaPace  = 10 * time.Second
	quotaLine  = 2 << 10 // bytes
)

// NewQuota returns a quota for lines that log writes.
func NewQuota(log func(line string)) *Quota {
	return &Quota{NewSample(quotaBurst, quotaPace), log}
}

// Line logs a line, or leaves it out. The next line has the number of those left out.
func (q *Quota) Line(text string) {
	chosen, left := q.Take()
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
