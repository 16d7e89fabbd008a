package handshake

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/protocol/internal/session"
	"mcp-bash/pkg/wire/mcp"
)

// clientRoots are the roots that apply to a client. It asks the client for them (protocol
// section 21).
type clientRoots struct {
	project  *project.Project
	session  *session.Session
	outgoing *Outgoing
	ctx      context.Context
	own      roots.Scope // of a client that names none

	mu      sync.Mutex
	scope   roots.Scope   // that applies now
	first   chan struct{} // closed after the first answer or timeout; nil: nothing was asked
	asks    bool          // the client has roots
	asking  bool
	again   bool // the roots changed while asking
	lastAsk time.Time
}

func newClientRoots(c *Config, out *Outgoing) *clientRoots {
	return &clientRoots{
		ctx: c.Context, project: c.Project, session: c.Session, outgoing: out, own: c.Roots, scope: c.Roots,
	}
}

// start is called when the session becomes ready.
func (c *clientRoots) start(clientHasRoots bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asks = clientHasRoots && !c.project.Minimal
	if c.asks {
		c.first = make(chan struct{})
		c.ask()
	}
}

// changed asks for the roots again (P-2105).
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
	wait := c.project.Sessions.RootsDebounce - time.Since(c.lastAsk)
	if c.lastAsk.IsZero() {
		wait = 0
	}
	c.lastAsk = time.Now().Add(wait)
	var r *reply
	if wait <= 0 { // before anything that is sent later
		r = c.send()
	}
	go c.await(wait, r)
}

func (c *clientRoots) send() *reply { return c.outgoing.send(c.session.Sink(), mcp.MethodRoots, nil) }

func (c *clientRoots) await(wait time.Duration, r *reply) {
	if r == nil {
		select {
		case <-time.After(wait):
		case <-c.ctx.Done():
			return
		}
		r = c.send()
	}
	c.session.Push()
	timer := time.NewTimer(c.project.Sessions.RootsTimeout)
	defer timer.Stop()
	select {
	case <-r.done:
		c.take(r)
	case <-timer.C: // the current roots stay (P-2104)
		c.outgoing.forget(r)
	case <-c.ctx.Done():
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
	warn := func(text string) { c.session.Log(mcp.Warning, roots.Logger, text) }
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
			if c.project.Logging.Verbose {
				text += ": " + one.URI
			}
			warn(text)
		}
	}
	names := len(list)+len(refused) > 0
	c.mu.Lock()
	defer c.mu.Unlock()
	if !names && c.own.Given {
		c.scope = c.own
		return
	}
	c.scope = roots.Scope{List: list, Given: c.scope.Given || names}
}

// maxNamed is how many roots one message names.
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

// current returns the roots for a call that starts now. It waits for the client's first answer
// (P-2106). r is the request of the call, or nil.
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
