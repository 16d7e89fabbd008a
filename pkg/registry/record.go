package registry

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A record is what a scan keeps of one directory: what it found there, and
// everything it looked at to find it. As long as that is unchanged, so is what
// it would find.
type record struct {
	tree    int     // of the kind's
	path    string  // relative to the content directory, "" for itself
	self    stamp   // of the directory before it was listed; zero: it cannot be told by it
	entries []entry // all that lies in it
	notes   []note  // all that was looked at more closely
	said    []message
	found   []found

	unsure bool // something could not be read, or changed just now: look again
	fresh  bool // made by this scan
	moved  bool // it still holds, but the directory has another stamp
}

// compare orders records by tree and path.
func (r *record) compare(o *record) int {
	return cmp.Or(r.tree-o.tree, strings.Compare(r.path, o.path))
}

// listed reports whether a directory that was listed is as it was when the
// record was made.
func (r *record) listed(dir folder, entries []entry) bool {
	return slices.Equal(r.entries, entries) && r.noted(dir, "")
}

// stamped reports the same of a directory in dir by its stamp alone, which
// changes with everything that comes into it or leaves it.
func (r *record) stamped(dir folder, name string) bool {
	return r.self.exists() && dir.stamp(name) == r.self && r.noted(dir, name+"/")
}

// again is the record as the next scan takes it over.
func (r *record) again() record {
	same := *r
	same.fresh, same.moved = false, false
	return same
}

// noted reports whether all that was looked at below is as it was.
func (r *record) noted(dir folder, below string) bool {
	return !r.unsure && !slices.ContainsFunc(r.notes, func(n note) bool {
		if filepath.IsAbs(n.name) {
			return noteOf(n.name) != n
		}
		return dir.stamp(below+n.name) != n.stamp
	})
}

// settle decides whether a fresh record can be believed later on. start is
// when the scan began, on the clock of the file system.
func (r *record) settle(start time.Time) {
	if r.self.coarse() || !r.self.settled(start) {
		r.self = stamp{}
	}
	for i := range r.notes {
		r.unsure = r.unsure || !r.notes[i].stamp.settled(start)
	}
}

// equal reports whether two records of a directory say the same.
func (r *record) equal(o *record) bool {
	return r.unsure == o.unsure && r.self == o.self && slices.Equal(r.entries, o.entries) && slices.Equal(r.notes, o.notes) && r.sameContent(o)
}

// sameContent reports whether they found the same.
func (r *record) sameContent(o *record) bool {
	return r.tree == o.tree && r.path == o.path && slices.Equal(r.said, o.said) && slices.EqualFunc(r.found, o.found, sameFound)
}
