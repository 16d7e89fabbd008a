package registry

import (
	"context"
	"errors"
	"fmt"

	"mcp-bash/pkg/mcp"
)

// A memory is what is kept of a kind from one check to the next.
type memory struct {
	started bool        // the scan cache was read
	cached  *scan       // the scan in it, if it is the one before the first walk
	saved   mark        // the registry file it speaks of
	scan    *scan       // the last walk, or the cached one
	manual  *manualScan // the last handwritten list
	inputs  inputs      // what was found last
	made    *List       // what was made of it
	said    []message   // what there is to say about it
	dropped []string    // the entries that the last check left out of a handwritten list, and why
	list    *List       // the last list that was good; nil: there is none yet
	over    *string     // the hash of the file that a part was laid over, "" for none; nil: it is a whole
	fixed   *List       // static mode: the file as it is
	mark    mark        // the registry file as we know it
	unkept  *List       // a list that only memory holds
	base    string      // the hash of the valid file that was there first
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
	list, err := c.make(ctx, s, r, from)
	if err == nil {
		err = c.keep(ctx, s, r, list)
	}
	for errors.Is(err, errOvertaken) {
		if list, err = c.make(ctx, s, r, from); err == nil {
			err = c.keep(ctx, s, r, list)
		}
	}
	if err != nil {
		return nil, c.failed(ctx, s, r, from, err)
	}
	if len(list.Items) > crowd && s.kind.crowd != "" && (s.list == nil || s.list.Hash != list.Hash) {
		c.log(mcp.Warning, s.kind.Logger, fmt.Sprintf("%s registry contains %d entries; consider manual registration", s.kind.crowd, len(list.Items)))
	}
	c.journal.found(s.kind.Key, s.kind.Logger, s.said)
	if s.inputs.manual != nil {
		s.dropped = s.inputs.manual.dropped
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
	var declared *declaredFault
	var locked *lockedError
	var unwritable *unwritableError
	var limit *limitError
	switch {
	case errors.As(err, &declared):
		level = s.kind.faults
	case errors.As(err, &locked):
		f.Fatal = true
		if c.o.Warn != nil && !r.locked {
			c.o.Warn("mcp-bash: " + f.Reason)
		}
	case errors.As(err, &unwritable):
		f.Fatal = true
		f.Reason = fmt.Sprintf("Registry directory is not writable: %s: %s", c.store.dir, err)
	}
	said := []message{{level, f.Reason}}
	byJSON := from.manual != nil && from.manual.origin == jsonFile
	if byJSON && (locked != nil || errors.As(err, &limit)) {
		f.Reason = faultf("apply failed for %s", s.kind.Key).text
		said = append(said, message{s.kind.faults, f.Reason})
	}
	c.journal.state(s.kind.Key, s.kind.Logger, said)
	return f
}
