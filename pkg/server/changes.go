package server

import (
	"sync/atomic"
	"time"

	"mcp-bash/pkg/jsonrpc"
	"mcp-bash/pkg/registry"
)

// A changeWatch tells the client when what the project offers has changed
// (protocol section 19).
type changeWatch struct {
	server  *Server
	started atomic.Bool
	running atomic.Bool
	last    atomic.Int64 // when the last check began, in nanoseconds
}

// families are the lists that clients are told of by kind of content: resources,
// their templates and UI resources are one to them (P-1900). Completions have
// no list.
var families = map[string]string{
	"tools": "tools", "resources": "resources", "resourceTemplates": "resources", "ui": "resources", "prompts": "prompts",
}

// checkPause is the least time between two checks (P-1903).
const checkPause = time.Second

// start is called when the session becomes ready.
func (c *changeWatch) start() {
	if c.server.project.Minimal || !c.server.session.revision.Load().ListChanged || c.server.project.Discovery.Static {
		return
	}
	c.started.Store(true)
	go c.idle()
}

// poke is called after every message. It costs nothing unless a check is due.
func (c *changeWatch) poke() {
	if !c.started.Load() {
		return
	}
	now := time.Now().UnixNano()
	if now-c.last.Load() < int64(checkPause) || !c.running.CompareAndSwap(false, true) {
		return
	}
	c.last.Store(now)
	go func() {
		defer c.running.Store(false)
		c.check(true)
	}()
}

// idle checks while no message comes, so that a client that waits learns of
// changes too.
func (c *changeWatch) idle() {
	pace := max(c.server.project.Discovery.ToolsTTL, checkPause)
	ticker := time.NewTicker(pace)
	defer ticker.Stop()
	for {
		select {
		case <-c.server.base.Done():
			return
		case <-ticker.C:
		}
		if c.running.CompareAndSwap(false, true) {
			c.last.Store(time.Now().UnixNano())
			c.check(false)
			c.running.Store(false)
		}
	}
}

// check sends one notification for each family of lists that changed. Running
// the project's register.sh is left to checks that follow a message.
func (c *changeWatch) check(hooks bool) {
	s := c.server
	if !s.session.at(phaseReady) {
		return
	}
	sent := map[string]bool{}
	for _, kind := range s.kit.Catalog.Changes(s.base, registry.Poll{Idle: !hooks}) {
		family := families[kind.Key]
		if family == "" || sent[family] || !s.session.at(phaseReady) {
			continue
		}
		sent[family] = true
		s.send(jsonrpc.AppendNotification(nil, "notifications/"+family+"/list_changed", []byte("{}")))
	}
}
