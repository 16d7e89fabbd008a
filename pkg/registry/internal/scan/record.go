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

// A record contains the items that a scan found in one directory, and the stamps of the
// files that they depend on. It is valid until one of these files changes.
type record struct {
	tree         int                  // the index of the kind's tree
	path         string               // relative to the content directory, "" for the directory itself
	self         folder.Stamp         // of the directory before it was listed; zero: list it again
	entries      []folder.Entry       // the files and directories in the directory
	observations []folder.Observation // the files that the items depend on
	messages     []item.Message
	candidates   []item.Candidate

	unsure bool // a file could not be read, or changed just now: examine the directory again
	fresh  bool // made by this scan
	moved  bool // valid, but the directory has another stamp
}

// compare orders records by tree and path.
func (r *record) compare(o *record) int {
	return cmp.Or(r.tree-o.tree, strings.Compare(r.path, o.path))
}

// sameListing reports whether the record is valid for a directory with these entries.
func (r *record) sameListing(dir folder.Dir, entries []folder.Entry) bool {
	return slices.Equal(r.entries, entries) && r.observed(dir, "")
}

// sameStamp reports whether the record is valid for a directory in dir, without listing the
// directory. The stamp of a directory changes if a file is added or removed.
func (r *record) sameStamp(dir folder.Dir, name string) bool {
	return r.self.Exists() && dir.Stamp(name) == r.self && r.observed(dir, name+"/")
}

func (r *record) reused() record {
	same := *r
	same.fresh, same.moved = false, false
	return same
}

// observed reports whether the files that the items depend on are unchanged.
func (r *record) observed(dir folder.Dir, below string) bool {
	return !r.unsure && !slices.ContainsFunc(r.observations, func(o folder.Observation) bool {
		if filepath.IsAbs(o.Name) {
			return folder.Observe(o.Name) != o
		}
		return dir.Stamp(below+o.Name) != o.Stamp
	})
}

// settle decides whether the next scan can rely on the stamps of a fresh record. start is the
// beginning of the scan on the clock of the file system.
func (r *record) settle(start time.Time) {
	if r.self.Coarse() || !r.self.Settled(start) {
		r.self = folder.Stamp{}
	}
	for i := range r.observations {
		r.unsure = r.unsure || !r.observations[i].Stamp.Settled(start)
	}
}

func (r *record) sameContent(o *record) bool {
	return r.tree == o.tree && r.path == o.path && slices.Equal(r.messages, o.messages) &&
		slices.EqualFunc(r.candidates, o.candidates, item.SameCandidate)
}
