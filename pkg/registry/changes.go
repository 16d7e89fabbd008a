package registry

import (
	"cmp"
	"context"
	"time"

	"mcp-bash/pkg/registry/kinds"
)

// pollPace is the minimum time between two checks of a kind by Changes.
const pollPace = time.Second

// A Poll describes a call of [Catalog.Changes].
type Poll struct {
	Idle  bool // called by a timer: do not run register.sh (P-1903)
	Fresh bool // check all kinds, also before the end of the TTL (M-63)
}

// Changes returns the kinds that have changed since Changes last returned them, in the order
// of [kinds.All]. The first call compares a kind with the valid registry file from before
// the first check. A kind without such a file has changed. A kind that is not available has
// not changed (R-114, P-1901).
//
// Changes checks the kinds whose TTL has ended, each at most once a second. Other calls are
// cheap, so a server can call it after each message. A call during another call returns
// nothing, unless Poll.Fresh is set.
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
	for _, s := range c.states { // a second loop, because the check of one kind may check another
		if s.changed() {
			changed = append(changed, s.kind)
		}
	}
	return changed
}

func (s *state) changed() bool {
	o := s.last.Load()
	if o == nil || o.list == nil {
		return false
	}
	s.reported = cmp.Or(s.reported, o.firstHash)
	if s.reported == o.list.Hash {
		return false
	}
	s.reported = o.list.Hash
	return true
}
