package tasks

import (
	"maps"
	"slices"
	"time"
)

// Owed reports whether the end of the server would take an answer from a client. A task runs, or has ended after a time
// and its client has not got the answer (TASK-62).
func (t *Table) Owed(since time.Time) bool {
	t.mu.Lock()
	list := slices.Collect(maps.Values(t.byID))
	t.mu.Unlock()
	return slices.ContainsFunc(list, func(x *task) bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		return !x.over || !x.fetched && !x.cancelled && x.ended.After(since)
	})
}
