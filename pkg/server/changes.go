package server

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/kinds"
)

// An audience is told when what the project offers has changed: the session, and the open
// streams.
type audience interface {
	// listening reports whether anybody wants to know.
	listening() bool
	// changed tells that the lists of a family have changed.
	changed(family string)
}

// A changeWatch tells the client when what the project offers has changed
// (protocol section 19).
type changeWatch struct {
	project *project.Project
	session audience
	streams audience
	client  *client
	ctx     context.Context // of the server
	// catalog tells what has changed, and resources is called when that is what the
	// project has to read.
	catalog   *registry.Catalog
	resources func()

	started atomic.Bool   // somebody listens, or did a moment ago
	fresh   atomic.Bool   // a check is about to begin that looks at everything
	last    atomic.Int64  // when the last check began, in nanoseconds
	running chan struct{} // holds one: whoever checks, or the end of the server
}

// families are the lists that clients are told of, in the order in which they
// are: resources, their templates and UI resources are one to
// them. Completions have no list.
var families = []struct {
	name  string
	kinds []*kinds.Kind
}{
	{"tools", []*kinds.Kind{kinds.Tools}},
	{"resources", []*kinds.Kind{kinds.Resources, kinds.Templates, kinds.UIResources}},
	{"prompts", []*kinds.Kind{kinds.Prompts}},
}

// checkPause is the least time between two checks (P-1903).
const checkPause = time.Second

// start is called when somebody begins to listen.
func (c *changeWatch) start() {
	if c.project.Minimal || c.project.Discovery.Static || !c.listening() || c.started.Swap(true) {
		return
	}
	go c.idle()
}

func (c *changeWatch) listening() bool {
	return c.session.listening() || c.streams.listening()
}

// baseline notes what there is before somebody begins to listen: only what changes later is
// to be told. What has changed for those who listen already is told to them, also by a check
// that goes on.
func (c *changeWatch) baseline(ctx context.Context) {
	select {
	case c.running <- struct{}{}:
	case <-ctx.Done():
		return
	}
	defer c.finish()
	if c.listening() {
		c.check(registry.Poll{Fresh: true})
		return
	}
	c.catalog.Changes(ctx, registry.Poll{Fresh: true})
}

// called is called after each call of a tool, which may have changed the project: streams
// learn of that at once (M-63).
func (c *changeWatch) called() {
	if !c.started.Load() || !c.streams.listening() || c.fresh.Swap(true) {
		return
	}
	go func() {
		select {
		case c.running <- struct{}{}:
		case <-c.ctx.Done():
			return
		}
		defer c.finish()
		c.fresh.Store(false)
		c.check(registry.Poll{Fresh: true})
	}()
}

// poke is called after every message. It costs nothing unless a check is due.
func (c *changeWatch) poke() {
	if !c.started.Load() {
		return
	}
	last := c.last.Load()
	if time.Now().UnixNano()-last < int64(checkPause) || !c.begin() {
		return
	}
	go func() {
		defer c.finish()
		if last == 0 && !c.rest(firstPause) {
			return
		}
		c.check(registry.Poll{})
	}()
}

// firstPause is how long the first check waits. A client asks for its lists as soon as the session is ready, and
// their answers come first.
const firstPause = 50 * time.Millisecond

// rest waits, and reports whether the server still serves.
func (c *changeWatch) rest(pause time.Duration) bool {
	select {
	case <-time.After(pause):
		return true
	case <-c.ctx.Done():
		return false
	}
}

// begin reports whether the caller may check now; it then has to finish.
func (c *changeWatch) begin() bool {
	select {
	case c.running <- struct{}{}:
		c.last.Store(time.Now().UnixNano())
		return true
	default:
		return false
	}
}

func (c *changeWatch) finish() { <-c.running }

// end waits so long for a check that goes on, and lets no other begin: a server that
// has ended writes nothing any more. The context of the checks is over by then.
func (c *changeWatch) end(within time.Duration) {
	select {
	case c.running <- struct{}{}:
	case <-time.After(within): // a file system that does not answer
	}
}

// idle checks while no message comes, so that a client that waits learns of
// changes too.
func (c *changeWatch) idle() {
	d := &c.project.Discovery
	pace := min(d.ToolsTTL, d.ResourcesTTL, d.TemplatesTTL, d.PromptsTTL, d.UITTL)
	ticker := time.NewTicker(max(pace, checkPause))
	defer ticker.Stop()
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-ticker.C:
		}
		if !c.listening() {
			c.started.Store(false)
			c.start() // for whoever came in between
			return
		}
		if c.begin() {
			c.check(registry.Poll{Idle: true})
			c.finish()
		}
	}
}

// check sends one notification for each family of lists that changed. Running
// the project's register.sh is left to checks that follow a message.
func (c *changeWatch) check(occasion registry.Poll) {
	if !c.listening() || c.client.full() { // a change stays one until it is told
		return
	}
	changed := c.catalog.Changes(c.ctx, occasion)
	for _, family := range families {
		touched := slices.ContainsFunc(family.kinds, func(k *kinds.Kind) bool { return slices.Contains(changed, k) })
		if !touched {
			continue
		}
		if family.name == "resources" {
			c.resources()
		}
		c.session.changed(family.name)
		c.streams.changed(family.name)
	}
}
