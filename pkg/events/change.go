package events

import (
	"crypto/sha256"
	"slices"

	"mcp-bash/pkg/wire/mcp"
)

// A Change is how a set of named things differs from the set before, by name.
type Change struct{ Added, Removed, Changed []string }

// compare returns the change between two sets, in the order of the names.
func compare(before, after map[string][sha256.Size]byte) (c Change) {
	for name, hash := range after {
		if old, known := before[name]; !known {
			c.Added = append(c.Added, name)
		} else if old != hash {
			c.Changed = append(c.Changed, name)
		}
	}
	for name := range before {
		if _, stays := after[name]; !stays {
			c.Removed = append(c.Removed, name)
		}
	}
	for _, list := range [...][]string{c.Added, c.Removed, c.Changed} {
		slices.Sort(list)
	}
	return c
}

// A Watch records changes of a set of named things that the server reads again and again, such as the tokens of a
// file. The caller does not use it from several goroutines at once.
type Watch struct {
	Type   Type
	Target Target
	To     Sink

	known  map[string][sha256.Size]byte // of each thing; nil before the first reading
	failed bool                         // the last reading
}

// Set takes what was read: a hash of each thing, or an error. The first set is not recorded. Of several errors in a
// row, the first one is recorded.
func (w *Watch) Set(now map[string][sha256.Size]byte, err error) {
	e := Event{Type: w.Type, Target: w.Target}
	first := w.known == nil
	if err != nil {
		e.Cause, e.Note = mcp.CauseInternal, err.Error()
	} else {
		e.Change, e.Count, w.known = compare(w.known, now), len(now), now
	}
	c := &e.Change
	changed := !first && len(c.Added)+len(c.Removed)+len(c.Changed) > 0 || w.failed != (err != nil)
	w.failed = err != nil
	if changed {
		w.To.Emit(&e)
	}
}
