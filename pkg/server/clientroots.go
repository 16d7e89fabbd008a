package server

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/wire/mcp"
)

// clientRoots knows the roots in force, and asks the client for its own
// (protocol section 21).
type clientRoots struct {
	project  *project.Project
	outgoing *outgoing
	log      mcp.LogFunc
	ctx      context.Context // of the server

	own roots.Scope // of a client that names none

	mu      sync.Mutex
	scope   roots.Scope   // in force in the session
	first   chan struct{} // closed when the first answer is in, or given up; nil: nothing was asked
	asks    bool          // the client has roots to be asked for
	asking  bool
	again   bool // asked for while asking, or too soon
	stopped bool
	lastAsk time.Time
}

func newClientRoots(ctx context.Context, p *project.Project, own roots.Scope, out *outgoing,
	log mcp.LogFunc) *clientRoots {
	return &clientRoots{ctx: ctx, project: p, outgoing: out, log: log, own: own, scope: own}
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

// changed is told that the client's roots are others now (P-2105).
func (c *clientRoots) changed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !c.asks || c.stopped:
	case c.asking:
		c.again = true
	default:
		c.ask()
	}
}

// ask sends roots/list, not before the client had some rest since the last
// time. The lock is held.
func (c *clientRoots) ask() {
	c.asking, c.again = true, false
	wait := c.project.Sessions.RootsDebounce - time.Since(c.lastAsk)
	if c.lastAsk.IsZero() {
		wait = 0
	}
	c.lastAsk = time.Now().Add(wait)
	var r *reply
	if wait <= 0 { // at once, and before anything that is sent later
		r = c.outgoing.send("roots/list", nil)
	}
	go c.await(wait, r)
}

func (c *clientRoots) await(wait time.Duration, r *reply) {
	if r == nil {
		select {
		case <-time.After(wait):
		case <-c.ctx.Done():
			return
		}
		r = c.outgoing.send("roots/list", nil)
	}
	c.outgoing.client.push()
	timer := time.NewTimer(c.project.Sessions.RootsTimeout)
	defer timer.Stop()
	select {
	case <-r.done:
		c.take(r)
	case <-timer.C: // what is in force stays (P-2104)
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

// take puts the client's roots in force.
func (c *clientRoots) take(r *reply) {
	warn := func(text string) { c.log(mcp.Warning, roots.Logger, text) }
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

// mostNamed is how many roots one message names.
const mostNamed = 8

// named lists roots that cannot be used, each with the reason.
func named(refused []roots.Refused) string {
	var list []string
	for _, one := range refused[:min(len(refused), mostNamed)] {
		list = append(list, one.Err.Error()+": "+one.URI)
	}
	if more := len(refused) - mostNamed; more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, ", ")
}

// current returns the roots for a call that starts now. It waits for the first
// answer of the client (P-2106).
func (c *clientRoots) current(ctx context.Context) roots.Scope {
	c.mu.Lock()
	defer c.mu.Unlock()
	if first := c.first; first != nil {
		c.mu.Unlock()
		select {
		case <-first:
		case <-ctx.Done():
		}
		c.mu.Lock()
	}
	return c.scope
}

// fallback returns the roots of those who have named none (P-2100).
func (c *clientRoots) fallback(context.Context) roots.Scope { return c.own }

// paths are the directories of the roots in force.
func (c *clientRoots) paths(ctx context.Context) []string {
	var paths []string
	for _, root := range c.current(ctx).List {
		paths = append(paths, root.Path)
	}
	return paths
}
