package server

import (
	"context"
	"fmt"
	"sync"
	"time"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/roots"
)

// A rootKeeper knows the roots in force, and asks the client for its own
// (protocol section 21).
type rootKeeper struct {
	server *Server

	mu      sync.Mutex
	list    roots.List
	loaded  bool
	first   chan struct{} // closed when the first answer is in, or given up
	asks    bool          // the client has roots to be asked for
	asking  bool
	again   bool // asked for while asking, or too soon
	stopped bool
	lastAsk time.Time
}

func newRootKeeper(s *Server) *rootKeeper {
	k := &rootKeeper{server: s, first: make(chan struct{})}
	return k
}

// start is called when the session becomes ready.
func (k *rootKeeper) start(clientHasRoots bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.load()
	k.asks = clientHasRoots && !k.server.project.Minimal
	if !k.asks {
		close(k.first)
		return
	}
	k.ask()
}

// load reads the fallback roots, once.
func (k *rootKeeper) load() {
	if !k.loaded {
		k.loaded = true
		k.list = roots.Fallback(k.server.project, k.server.log)
	}
}

// changed is told that the client's roots are others now (P-2105).
func (k *rootKeeper) changed() {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case !k.asks || k.stopped:
	case k.asking:
		k.again = true
	default:
		k.ask()
	}
}

// ask sends roots/list, not before the client had some rest since the last
// time. The lock is held.
func (k *rootKeeper) ask() {
	k.asking, k.again = true, false
	wait := k.server.project.Sessions.RootsDebounce - time.Since(k.lastAsk)
	if k.lastAsk.IsZero() {
		wait = 0
	}
	k.lastAsk = time.Now().Add(wait)
	var r *reply
	if wait <= 0 { // at once, and before anything that is sent later
		r = k.server.outgoing.send("roots/list", nil)
	}
	go k.await(wait, r)
}

func (k *rootKeeper) await(wait time.Duration, r *reply) {
	if r == nil {
		select {
		case <-time.After(wait):
		case <-k.server.base.Done():
			return
		}
		r = k.server.outgoing.send("roots/list", nil)
	}
	k.server.writer.Push()
	timer := time.NewTimer(k.server.project.Sessions.RootsTimeout)
	defer timer.Stop()
	select {
	case <-r.done:
		k.take(r)
	case <-timer.C: // what is in force stays (P-2104)
		k.server.outgoing.forget(r)
	case <-k.server.base.Done():
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	select {
	case <-k.first:
	default:
		close(k.first)
	}
	k.asking = false
	if k.again {
		k.ask()
	}
}

// take puts the client's roots in force.
func (k *rootKeeper) take(r *reply) {
	warn := func(text string) { k.server.log(mcp.Warning, roots.Logger, text) }
	switch {
	case r.gone:
		return
	case r.err != nil:
		warn(fmt.Sprintf("roots/list failed: code=%d message=%s", r.err.Code, r.err.Message))
		return
	}
	list, ok := roots.FromClient(r.result, k.server.project.Logging.Verbose, warn)
	if !ok {
		warn("roots/list: malformed answer; keeping the current roots")
		return
	}
	k.mu.Lock()
	k.list = list
	k.mu.Unlock()
}

// current returns the roots for a call that starts now. It waits for the first
// answer of the client (P-2106).
func (k *rootKeeper) current(ctx context.Context) roots.List {
	select {
	case <-k.first:
	case <-ctx.Done():
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.load()
	return k.list
}
