// Package load calls a tool of servers behind one address from many clients, while the servers are restarted. It counts
// the calls that got no answer. Each client keeps its connection, as clients and load balancers do.
package load

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A Kind is what a client does.
type Kind string

const (
	Stateless Kind = "stateless" // calls the tool in revision 2026-07-28
	Session   Kind = "session"   // calls the tool in a session of revision 2025-11-25
	List      Kind = "list"      // asks for the list of tools, which starts no script, in revision 2026-07-28
)

// Kinds are all of them.
var Kinds = []Kind{Stateless, Session, List}

// A Target is where clients send their calls.
type Target struct {
	Address string // without path, such as http://127.0.0.1:8000
	Host    string // that clients ask for, if it differs from the address
	Token   string // of the caller, or empty
	Tool    string // that is called, or record if empty
	// Ended reports whether the server of this name has begun to end since a time; with "", whether any server has. Only
	// then may a session that it began be unknown: its client begins again, and repeats the call. Without Ended, every
	// session may be unknown.
	Ended func(server string, since time.Time) bool
	// Dial makes connections, unless it is nil.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// clients is how many clients of each kind there are.
const clients = 5

// Connections is how many connections the clients of a load have.
var Connections = clients * len(Kinds)

// rests are how long a client of a kind rests after a call, at most. So some connections are in use and some are not
// when a server ends. Many short requests find a moment in which a server closes a connection.
var rests = map[Kind]time.Duration{
	Stateless: 30 * time.Millisecond, Session: 30 * time.Millisecond, List: 12 * time.Millisecond,
}

// A Load are clients that call the tool until they are ended.
type Load struct {
	target Target
	stop   context.CancelFunc
	wait   sync.WaitGroup
	next   atomic.Int64

	mu      sync.Mutex
	figures map[Kind]*Figures
	answers map[string]int // of each server
}

// Figures are what clients of one kind saw.
type Figures struct {
	Calls    map[string]bool // that were answered
	Lost     []error         // one for each call without its answer
	Sessions int             // that began
	Again    int             // sessions that ended with their server
	took     []time.Duration
}

// Start starts the clients.
func Start(target Target) *Load {
	ctx, stop := context.WithCancel(context.Background())
	l := &Load{target: target, stop: stop, figures: map[Kind]*Figures{}, answers: map[string]int{}}
	for _, k := range Kinds {
		l.figures[k] = &Figures{Calls: map[string]bool{}}
		for range clients {
			l.wait.Go(func() { l.run(ctx, k) })
		}
	}
	return l
}

// run is one client. It finishes the call that it has begun.
func (l *Load) run(ctx context.Context, k Kind) {
	c := NewClient(l.target, k)
	defer c.Close()
	for ctx.Err() == nil {
		id := fmt.Sprintf("call-%d", l.next.Add(1))
		began := time.Now()
		err := c.Call(context.Background(), id)
		l.count(c, id, time.Since(began), err)
		select {
		case <-ctx.Done():
		case <-time.After(rand.N(rests[k])):
		}
	}
}

func (l *Load) count(c *Client, id string, took time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.figures[c.kind]
	f.Sessions, f.Again = f.Sessions+c.begun, f.Again+c.again
	c.begun, c.again = 0, 0
	if err != nil {
		f.Lost = append(f.Lost, fmt.Errorf("%s after %v: %w", id, took.Round(time.Millisecond), err))
		return
	}
	f.Calls[id] = true
	l.answers[c.server]++
	f.took = append(f.took, took)
}

// Least returns the number of calls of the kind with the fewest.
func (l *Load) Least() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	least := -1
	for _, f := range l.figures {
		if n := len(f.Calls) + len(f.Lost); least < 0 || n < least {
			least = n
		}
	}
	return least
}

// AnswersOf returns how many calls of the tool a server has answered.
func (l *Load) AnswersOf(server string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.answers[server]
}

// Await waits until clients of each kind have made some more calls.
func (l *Load) Await(calls int, limit time.Duration) error {
	from := l.Least()
	for deadline := time.Now().Add(limit); l.Least() < from+calls; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("%d calls within %v, not %d", l.Least()-from, limit, calls)
		}
	}
	return nil
}

// End ends the clients, and returns what they saw.
func (l *Load) End() map[Kind]*Figures {
	l.stop()
	l.wait.Wait()
	return l.figures
}

// TableHead is the first line of a table, whose lines [Figures.Line] returns.
var TableHead = fmt.Sprintf("%-22s %-10s %7s %8s %5s %8s %8s %6s %7s %7s", "setup", "clients", "calls", "restarts",
	"lost", "strayed", "sessions", "again", "p50", "p99")

// Line is a line of a table.
func (f *Figures) Line(setup string, k Kind, restarts int) string {
	return fmt.Sprintf("%-22s %-10s %7d %8d %5d %8d %8d %6d %7s %7s", setup, k, len(f.Calls)+len(f.Lost), restarts,
		len(f.Lost)-f.strayed(), f.strayed(), f.Sessions, f.Again, f.percentile(50), f.percentile(99))
}

// strayed returns how many calls were lost because a server did not know their session, although its server goes on.
func (f *Figures) strayed() (n int) {
	for _, err := range f.Lost {
		if errors.Is(err, ErrUnknownSession) {
			n++
		}
	}
	return n
}

func (f *Figures) percentile(n int) string {
	if len(f.took) == 0 {
		return "-"
	}
	slices.Sort(f.took)
	return strings.ReplaceAll(f.took[(len(f.took)-1)*n/100].Round(time.Millisecond).String(), "µ", "u")
}
