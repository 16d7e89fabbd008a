package registry

import (
	"context"
	"errors"
	"fmt"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/registry/atomicfile"
	"mcp-bash/pkg/registry/declare"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/scan"
)

// lastCheck is what is kept of a kind from one check to the next.
type lastCheck struct {
	started   bool           // the scan cache was read
	cached    *scan.Result   // the scan in it, if it is the one before the first walk
	cacheMark scan.Mark      // the registry file it speaks of
	scan      *scan.Result   // the last walk, or the cached one
	declared  *declare.Built // the last handwritten list
	inputs    inputs         // what was found last
	built     *List          // what was made of it
	messages  []item.Message // what there is to say about it
	dropped   []string       // the entries that the last check left out of a handwritten list, and why
	list      *List          // the last list that was good; nil: there is none yet
	over      *string        // the hash of the file that a part was laid over, "" for none; nil: it is a whole
	fixed     *List          // static mode: the file as it is
	mark      scan.Mark      // the registry file as we know it
	unsaved   *List          // a list that only memory holds
	base      string         // the hash of the valid file that was there first
}

// check finds out what a kind consists of now, and sees to its registry file.
func (c *Catalog) check(ctx context.Context, s *state, r request) (*List, error) {
	s.dropped = nil
	from, err := c.origin(ctx, s, r)
	if err != nil {
		return nil, c.failed(ctx, s, r, from, err)
	}
	if from.fixed != nil {
		s.base = from.fixed.Hash
		return from.fixed, nil
	}
	list, err := c.build(ctx, s, r, from)
	if err == nil {
		err = c.persist(ctx, s, r, list)
	}
	for errors.Is(err, errOvertaken) {
		if list, err = c.build(ctx, s, r, from); err == nil {
			err = c.persist(ctx, s, r, list)
		}
	}
	if err != nil {
		return nil, c.failed(ctx, s, r, from, err)
	}
	if len(list.Items) > crowd && s.kind.Plural != "" && (s.list == nil || s.list.Hash != list.Hash) {
		c.log(mcp.Warning, s.kind.Logger, fmt.Sprintf("%s registry contains %d entries; consider manual registration", s.kind.Plural, len(list.Items)))
	}
	c.messages.reportFound(s.kind.Key, s.kind.Logger, s.messages)
	if s.inputs.declared != nil {
		s.dropped = s.inputs.declared.Dropped
	}
	s.list = list
	c.saveScan(s)
	return list, nil
}

// crowd is how many items of a kind are worth a warning when there are more
//
const crowd = 500

// failed makes a failure of an error, and logs it.
func (c *Catalog) failed(ctx context.Context, s *state, r request, from origin, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	f := &Failure{Kind: s.kind, Reason: err.Error(), Err: err}
	level := mcp.Err
	var declared *declare.Fault
	var locked *atomicfile.LockedError
	var unwritable *atomicfile.UnwritableError
	var limit *limitError
	switch {
	case errors.As(err, &declared):
		level = s.kind.FaultLevel
	case errors.As(err, &locked):
		f.Fatal = true
		if c.o.Warn != nil && !r.locked {
			c.o.Warn("mcp-bash: " + f.Reason)
		}
	case errors.As(err, &unwritable):
		f.Fatal = true
		f.Reason = fmt.Sprintf("Registry directory is not writable: %s: %s", c.store.dir, err)
	}
	said := []item.Message{{Level: level, Text: f.Reason}}
	byJSON := from.declared != nil && from.declared.Origin == declare.JSONFile
	if byJSON && (locked != nil || errors.As(err, &limit)) {
		f.Reason = declare.Faultf("apply failed for %s", s.kind.Key).Text
		said = append(said, item.Message{Level: s.kind.FaultLevel, Text: f.Reason})
	}
	c.messages.report(s.kind.Key, s.kind.Logger, said)
	return f
}
