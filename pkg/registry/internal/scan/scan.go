// Package scan finds items in the directories of a project. A second scan reads only the
// files that have changed.
//
// [Run] walks the trees of a [Spec] and calls a function of the kind for each directory. The function reads the
// directory through a [Visit], which records every file that the function looks at. The next Run reuses the record of a
// directory if the stamps of all these files are unchanged.
package scan

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/wire/mcp"
)

// A Result contains the items that a scan found. Only [Result.Settle] changes it after the
// scan.
type Result struct {
	First *Result // the first of the successive scans with the same result

	within  string   // the subtree that was scanned, "" for everything
	records []record // of each directory, sorted by tree and path
	began   time.Time
}

// Candidates returns the items of all directories.
func (s *Result) Candidates() []item.Candidate {
	n := 0
	for i := range s.records {
		n += len(s.records[i].candidates)
	}
	list := make([]item.Candidate, 0, n)
	for i := range s.records {
		list = append(list, s.records[i].candidates...)
	}
	return list
}

func (s *Result) record(tree int, path string) *record {
	if len(s.records) == 0 {
		return nil // the first scan needs no search and no memory
	}
	wanted := record{tree: tree, path: path}
	order := func(r record, wanted *record) int { return r.compare(wanted) }
	at, found := slices.BinarySearchFunc(s.records, &wanted, order)
	if !found {
		return nil
	}
	return &s.records[at]
}

// Messages returns the messages about all directories.
func (s *Result) Messages() (list []item.Message) {
	for i := range s.records {
		list = append(list, s.records[i].messages...)
	}
	return list
}

// A Spec describes the scan for one kind of item.
type Spec struct {
	Noun       string    // "tool": one item, in messages
	FaultLevel mcp.Level // of the message that an item is left out
	// Guarded ignores metadata that other users could have written, because metadata selects the script that a name
	// runs, and its security level.
	Guarded bool
	Trees   []Tree // in order of precedence
}

// A Tree is a content directory, and the functions of one kind for it.
type Tree struct {
	Noun string // "Tool": in messages
	Dir  func(*project.Project) string
	// Skip reports whether a directory is left out with everything below it. It may be
	// nil.
	Skip func(path string) bool
	// Examine adds the items of one directory.
	Examine func(*Visit)
}

type scanner struct {
	ctx    context.Context
	stop   func(error) // ends the scan with an error
	p      *project.Project
	spec   Spec
	within string   // scan only this subtree
	down   []string // the names in within
	old    *Result  // the last scan, whose valid records are reused

	// The current tree:
	tree    Tree
	at      int    // the index of the tree
	content string // the directory of the tree
	label   string // the directory in messages
}

// Run walks the trees of a kind, or a subtree of them if within is not empty. old is the last scan, or nil. A missing
// tree counts as empty.
func Run(
	ctx context.Context, p *project.Project, spec Spec, within string, old *Result, now time.Time,
) (*Result, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s := &scanner{ctx: ctx, stop: stop, p: p, spec: spec, within: within, old: old}
	if within != "" {
		s.down = strings.Split(within, "/")
	}
	if old == nil {
		s.old = &Result{}
	}
	result := &Result{within: within, began: now}
	for at, tree := range spec.Trees {
		s.tree, s.at, s.content = tree, at, tree.Dir(p)
		s.label = folder.Label(p.Root, s.content)
		records, err := s.walk()
		if err != nil && !folder.Missing(err) {
			return nil, fmt.Errorf("unable to read %s/: %w", s.label, fsys.Cause(err))
		}
		result.records = append(result.records, records...)
	}
	result.First = s.first(result)
	return result, nil
}

// first returns the first of the successive scans with the same result.
func (s *scanner) first(result *Result) *Result {
	if s.old.First == nil || s.old.within != s.within || !slices.EqualFunc(result.records, s.old.records,
		func(a, b record) bool { return !a.fresh && !a.moved || a.sameContent(&b) }) {
		return result
	}
	return s.old.First
}

// walk visits every directory of the tree. As many workers as there are processors share the
// directories.
func (s *scanner) walk() ([]record, error) {
	root, err := folder.Open(s.content)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var records []record
	top := newVisit(s)
	children, err := s.visit(top, root, "", 0, folder.Stamp{}, &records)
	if err != nil {
		return nil, err
	}
	const share = 64 // the number of directories that a worker takes at a time
	workers := min(runtime.GOMAXPROCS(0), (len(children)+share-1)/share)
	if workers <= 1 {
		s.descend(top, root, "", children, 0, &records)
	} else {
		runs := make([][]record, (len(children)+share-1)/share)
		var next atomic.Int64
		var group sync.WaitGroup
		for range workers {
			group.Go(func() {
				v := newVisit(s)
				for {
					at := int(next.Add(1)) - 1
					if at >= len(runs) {
						return
					}
					s.descend(v, root, "", children[at*share:min(len(children), (at+1)*share)], 0, &runs[at])
				}
			})
		}
		group.Wait()
		records = append(records, slices.Concat(runs...)...)
	}
	slices.SortFunc(records, func(a, b record) int { return a.compare(&b) })
	return records, context.Cause(s.ctx)
}

// descend walks the directories named children in dir, whose path is parent.
func (s *scanner) descend(v *Visit, dir folder.Dir, parent string, children []string, depth int, out *[]record) {
	for _, name := range children {
		if s.ctx.Err() != nil {
			return
		}
		at := path.Join(parent, name)
		known := s.old.record(s.at, at)
		if depth+1 < len(s.down) || known == nil || !known.sameStamp(dir, name) {
			known = nil
		} else if len(s.children(known.entries, at, depth+1)) == 0 {
			*out = append(*out, known.reused())
			continue
		}
		self := dir.Stamp(name)
		child, err := dir.Open(name)
		if err == nil {
			var below []string
			if known != nil {
				*out = append(*out, known.reused())
				below = s.children(known.entries, at, depth+1)
			} else {
				below, err = s.visit(v, child, at, depth+1, self, out)
			}
			if err == nil {
				s.descend(v, child, at, below, depth+1, out)
			}
			child.Close()
		}
		if err != nil && folder.IsShortage(err) {
			s.stop(fsys.Cause(err))
		}
		if err != nil && !folder.Vanished(err) {
			file, reason := path.Join(s.label, at), fsys.Cause(err)
			m := item.Message{
				Level: mcp.Warning, At: item.Place{File: file}, Text: fmt.Sprintf("cannot read directory: %s", reason),
				Logged: fmt.Sprintf("Cannot read directory %s: %s", file, reason),
			}
			*out = append(*out, record{
				tree: s.at, path: at, unsure: true, fresh: true, messages: []item.Message{m},
			})
		}
	}
}

// visit adds a new or a valid old record of a directory to out, and returns the names of the
// subdirectories to visit. self is the stamp of the directory from before it was opened.
func (s *scanner) visit(
	v *Visit, dir folder.Dir, at string, depth int, self folder.Stamp, out *[]record,
) (children []string, err error) {
	entries, err := dir.List(v.listing)
	if err != nil {
		return nil, err
	}
	if depth < len(s.down) { // on the way to the subtree
		if slices.Contains(entries, folder.Entry{Name: s.down[depth], IsDir: true}) {
			return s.down[depth : depth+1], nil
		}
		return nil, nil
	}
	if known := s.old.record(s.at, at); known != nil && known.sameListing(dir, entries) {
		r := known.reused()
		r.moved, r.self = r.self != self, self
		*out = append(*out, r)
	} else {
		r := record{tree: s.at, path: at, self: self, entries: entries, fresh: true}
		v.dir, v.Depth, v.rec = dir, depth, &r
		v.metadata, v.scratch = v.metadata[:0], v.scratch[:0]
		s.examine(v)
		*out = append(*out, r)
	}
	return s.children(entries, at, depth), nil
}

func (s *scanner) children(entries []folder.Entry, at string, depth int) (names []string) {
	for _, e := range entries {
		if !e.IsDir || depth >= item.MaxDepth || folder.Unusable(e.Name) != "" {
			continue
		}
		if s.tree.Skip == nil || !s.tree.Skip(path.Join(at, e.Name)) {
			names = append(names, e.Name)
		}
	}
	return names
}

// examine calls the kind's function for a directory, after the checks that are the same for
// all kinds.
func (s *scanner) examine(v *Visit) {
	for _, e := range v.rec.entries {
		if why := folder.Unusable(e.Name); why != "" {
			v.Log(item.Message{Level: mcp.Warning,
				Text: fmt.Sprintf("%s scan encountered unsupported filename (%s) under %s/", s.tree.Noun, why, s.label)})
		}
		if e.IsDir && v.Depth == item.MaxDepth {
			v.Log(item.Message{Level: mcp.Warning,
				Text: fmt.Sprintf("Directories more than %d levels below %s/ are skipped", item.MaxDepth, s.label)})
		}
	}
	s.tree.Examine(v)
}

// Settle decides which of the new records the next scan can rely on. clock converts a time to
// the clock of the file system.
func (s *Result) Settle(clock func(time.Time) time.Time) {
	for i := range s.records {
		if r := &s.records[i]; r.fresh || r.moved {
			r.settle(clock(s.began))
			r.fresh, r.moved = false, false
		}
	}
}

// A record contains the items that a scan found in one directory, and the stamps of the files that they depend on. It
// is valid until one of these files changes.
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
