package registry

import (
	"context"
	"time"

	"mcp-bash/pkg/registry/kinds"
)

// pollPace is how often Changes checks a kind at most.
const pollPace = time.Second

// A Poll is the occasion on which changes are asked for.
type Poll struct {
	Idle  bool // nothing has happened: never run register.sh for it (P-1903)
	Fresh bool // check all kinds, however recently they were (M-63)
}

// Changes returns the kinds that have changed since they were last returned, in the
// order of [kinds.All]. The first time a kind is compared with the valid registry file
// from before the first check; without one it has changed. Kinds that are not available
// have not changed (R-114, P-1901).
//
// It checks kinds whose time is over, at most once a second. In between it costs next to
// nothing, so it may be called after each message. A call during another one returns
// nothing, unless it is to be fresh.
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
	check := !p.Idle || !c.hook.Due(ctx)
	now, asked := c.now(), c.checks.Load()
	for _, s := range c.states {
		if check && (p.Fresh || now.Sub(s.polled) >= pollPace) {
			s.polled = now
			c.obtain(ctx, s, asked, func(o *outcome) bool { return !p.Fresh && now.Before(o.until) })
		}
	}
	var changed []*kinds.Kind
	for _, s := range c.states { // after all: to check one may be to check another
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
		s.reported = o.firstHash
	}
	if s.reported == o.list.Hash {
		return false
	}
	s.reported = o.list.Hash
	return true
}
