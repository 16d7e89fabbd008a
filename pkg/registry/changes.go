package registry

import (
	"context"
	"time"

	"mcp-bash/pkg/registry/kinds"
)

// pollPace is how often a kind is checked for changes at most (registry
//
const pollPace = time.Second

// A Poll says on what occasion changes are asked for.
type Poll struct {
	Idle  bool // nothing has happened: never run register.sh for it (P-1903)
	Fresh bool // look at once, whatever was looked at lately (M-63)
}

// Changes returns the kinds that are not what they were when they were last
// returned, in the order of [Kinds], and takes note of it (R-114,
// P-1901). What counts first is the valid registry file before our
// first look; without one every kind has changed. Kinds that are not available
// have not.
//
// It looks anew where that is due, at most once a second. In between it costs
// next to nothing, so it may be asked after each message. One that finds
// another at work leaves the answer to it, unless it is to be fresh.
func (c *Catalog) Changes(ctx context.Context, p Poll) []*kinds.Kind {
	if c.p.Discovery.Static {
		return nil
	}
	if p.Fresh {
		c.polling.Lock()
	} else if !c.polling.TryLock() {
		return nil
	}
	defer c.polling.Unlock()
	look := !p.Idle || !c.hook.Due(ctx)
	now, asked := c.now(), c.checks.Load()
	for _, s := range c.states {
		if look && (p.Fresh || now.Sub(s.polled) >= pollPace) {
			s.polled = now
			c.listed(ctx, s, asked, func(o *outcome) bool { return !p.Fresh && now.Before(o.until) })
		}
	}
	var changed []*kinds.Kind
	for _, s := range c.states { // after all: to look at one may be to look at another
		if s.changed() {
			changed = append(changed, s.kind)
		}
	}
	return changed
}

// changed reports whether a kind has changed since this was last asked.
func (s *state) changed() bool {
	o := s.last.Load()
	if o == nil || o.list == nil {
		return false
	}
	if s.reported == "" {
		s.reported = o.base
	}
	if s.reported == o.list.Hash {
		return false
	}
	s.reported = o.list.Hash
	return true
}
