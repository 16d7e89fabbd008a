package guard

import (
	"container/list"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"
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
