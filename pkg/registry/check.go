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

// A lastCheck contains the results of the last check of a kind, which the next one reuses.
type lastCheck struct {
	scan      *scan.Result
	declared  *declare.Built
	inputs    inputs // of the list built
	built     *List
	messages  []item.Message // about the list built
	dropped   []string       // the reason for each declared entry that was left out
	list      *List          // the last list of a successful check, or nil
	static    *List          // static mode: the list in the registry file
	file      fileVersion    // the registry file when it was last read or written
	unsaved   *List          // a list that could not be written
	firstHash string         // of the valid registry file before the first check, or ""

	// mergedInto is the hash of the registry file that a partial scan was merged into, ""
	// for no file. It is nil after a complete scan.
	mergedInto *string
}

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

// manyItems is the number of items of a kind that causes no warning yet.
const manyItems = 500

// failure logs an error of a check and returns it as a [*Failure].
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
	messages := []item.Message{{Level: level, Topic: item.Unavailable, Text: f.Reason}}
	byJSON := from.declared != nil && from.declared.Origin == declare.JSONFile
	if byJSON && (locked != nil || errors.As(err, &limit)) {
		f.Reason = declare.Faultf("apply failed for %s", s.kind.Key).Text
		messages = append(messages, item.Message{Level: s.kind.FaultLevel, Topic: item.Unavailable, Text: f.Reason})
	}
	c.messages.report(s.kind.Key, s.kind.Logger, messages)
	return f
}
