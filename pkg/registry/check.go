package registry

import (
	"context"
	"errors"
	"fmt"

	"mcp-bash/pkg/files/atomicfile"
	"mcp-bash/pkg/registry/declare"
	"mcp-bash/pkg/registry/internal/scan"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/wire/mcp"
)

// lastCheck is what is kept of a kind from one check to the next.
type lastCheck struct {
	scan      *scan.Result   // the last scan
	declared  *declare.Built // the last declared items
	inputs    inputs         // what the last list was built of
	built     *List          // that list
	messages  []item.Message // what is to be logged about it
	dropped   []string       // for each declared entry that the last check left out: why
	list      *List          // the last list that was persisted or kept in memory; nil: there is none yet
	static    *List          // static mode: the registry file as it is
	file      fileVersion    // the registry file when it was last read or written
	unsaved   *List          // a list that could not be written
	firstHash string         // of the valid registry file before the first check, "" for none

	// mergedInto is the hash of the file that a part was merged into, "" for none; nil:
	// the list is no part.
	mergedInto *string
}

// check builds the list of a kind as the project is now, and brings the registry file
// up to date.
func (c *Catalog) check(ctx context.Context, s *state, r request) (*List, error) {
	s.dropped = nil
	from, err := c.origin(ctx, s, r)
	if err != nil {
		return nil, c.failure(ctx, s, r, from, err)
	}
	if from.static != nil {
		s.firstHash = from.static.Hash
		return from.static, nil
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
		return nil, c.failure(ctx, s, r, from, err)
	}
	if len(list.Items) > manyItems && s.kind.Plural != "" && (s.list == nil || s.list.Hash != list.Hash) {
		c.log(mcp.Warning, s.kind.Logger, fmt.Sprintf(
			"%s registry contains %d entries; consider manual registration", s.kind.Plural, len(list.Items)))
	}
	c.messages.reportFound(s.kind.Key, s.kind.Logger, s.messages)
	if s.inputs.declared != nil {
		s.dropped = s.inputs.declared.Dropped
	}
	s.list = list
	return list, nil
}

// manyItems is the number of items of a kind above which a warning is logged.
const manyItems = 500

// failure logs an error of a check, and returns it as a [*Failure].
func (c *Catalog) failure(ctx context.Context, s *state, r request, from origin, err error) error {
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
	said := []item.Message{{Level: level, Topic: item.Unavailable, Text: f.Reason}}
	byJSON := from.declared != nil && from.declared.Origin == declare.JSONFile
	if byJSON && (locked != nil || errors.As(err, &limit)) {
		f.Reason = declare.Faultf("apply failed for %s", s.kind.Key).Text
		said = append(said, item.Message{Level: s.kind.FaultLevel, Topic: item.Unavailable, Text: f.Reason})
	}
	c.messages.report(s.kind.Key, s.kind.Logger, said)
	return f
}
