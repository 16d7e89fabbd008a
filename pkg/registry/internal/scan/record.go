package scan

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/registry/item"
)

// A record is what a scan remembers of one directory: what it found there, and
// everything it looked at to find it. As long as that is unchanged, so is what it
// would find.
type record struct {
	tree         int                  // of the kind's
	path         string               // relative to the content directory, "" for itself
	self         folder.Stamp         // of the directory before it was listed; zero: it cannot be told by it
	entries      []folder.Entry       // all that lies in it
	observations []folder.Observation // all that was looked at more closely
	messages     []item.Message
	candidates   []item.Candidate

	unsure bool // something could not be read, or changed just now: look again
	fresh  bool // made by this scan
	moved  bool // it still holds, but the directory has another stamp
}

// compare orders records by tree and path.
func (r *record) compare(o *record) int {
	return cmp.Or(r.tree-o.tree, strings.Compare(r.path, o.path))
}

// sameListing reports whether a directory with these entries is as it was when
// the record was made.
func (r *record) sameListing(dir folder.Dir, entries []folder.Entry) bool {
	return slices.Equal(r.entries, entries) && r.observed(dir, "")
}

// sameStamp reports whether a directory in dir is as it was when the record was
// made, without listing it: its stamp changes with everything that comes into it
// or leaves it.
func (r *record) sameStamp(dir folder.Dir, name string) bool {
	return r.self.Exists() && dir.Stamp(name) == r.self && r.observed(dir, name+"/")
}

// reused returns the record as the next scan takes it over.
func (r *record) reused() record {
	same := *r
	same.fresh, same.moved = false, false
	return same
}

// observed reports whether everything that was looked at is as it was.
func (r *record) observed(dir folder.Dir, below string) bool {
	return !r.unsure && !slices.ContainsFunc(r.observations, func(o folder.Observation) bool {
		if filepath.IsAbs(o.Name) {
			return folder.Observe(o.Name) != o
		}
		return dir.Stamp(below+o.Name) != o.Stamp
	})
}

// settle decides whether the next scan may believe a fresh record. start is
// when the scan began, on the clock of the file system.
func (r *record) settle(start time.Time) {
	if r.self.Coarse() || !r.self.Settled(start) {
		r.self = folder.Stamp{}
	}
	for i := range r.observations {
		r.unsure = r.unsure || !r.observations[i].Stamp.Settled(start)
	}
}

// sameContent reports whether two records of a directory found the same.
func (r *record) sameContent(o *record) bool {
	return r.tree == o.tree && r.path == o.path && slices.Equal(r.messages, o.messages) &&
		slices.EqualFunc(r.candidates, o.candidates, item.SameCandidate)
}
