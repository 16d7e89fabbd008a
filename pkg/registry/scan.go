package registry

import (
	"context"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/project"
)

// maxDepth is how many levels of directories below a content directory are
// visited.
const maxDepth = 16

// A scan is what one walk of the trees of a kind came to: a record for each
// directory, sorted by tree and path. It is not changed once it is finished.
type scan struct {
	within  string // the subtree it was confined to, "" for none
	records []record

	began   time.Time
	content *scan // the first of the scans that found exactly the same
	unsaved bool  // the scan cache says something else
}

// found returns all that was found.
func (s *scan) found() []found {
	n := 0
	for i := range s.records {
		n += len(s.records[i].found)
	}
	list := make([]found, 0, n)
	for i := range s.records {
		list = append(list, s.records[i].found...)
	}
	return list
}

func (s *scan) record(tree int, path string) *record {
	wanted := record{tree: tree, path: path}
	at, found := slices.BinarySearchFunc(s.records, &wanted, func(r record, wanted *record) int { return r.compare(wanted) })
	if !found {
		return nil
	}
	return &s.records[at]
}

// said returns all that there is to say about what was found.
func (s *scan) said() (list []message) {
	for i := range s.records {
		list = append(list, s.records[i].said...)
	}
	return list
}

// A spec says what is scanned for one kind of item.
type spec struct {
	name   string    // of the kind
	noun   string    // "tool": of one item, in messages
	faults mcp.Level // at which it is logged why an item is left out
	// guarded: metadata that others could have written is none, since it decides
	// which script a name runs, and at which level.
	guarded bool
	trees   []tree // the more important ones first
}

// A tree is a content directory as a kind walks it.
type tree struct {
	noun string // "Tool": what it is meant for, in messages
	dir  func(*project.Project) string
	// passes reports whether a directory below is passed over with everything in
	// it; nil: none is.
	passes func(path string) bool
	// examine adds what it finds in one directory.
	examine func(*look)
}

// A scanner walks the trees of a kind.
type scanner struct {
	ctx    context.Context
	stop   func(error) // ends the walk, which fails
	p      *project.Project
	spec   spec
	within string // walk only this subtree
	down   []string
	old    *scan // what is known from before; its records are used where they hold

	// Of the tree it walks just now:
	tree    tree
	at      int    // which of the kind's it is
	content string // its directory
	label   string // the same in messages
}

// scanContent walks the trees of a kind. A missing one is empty.
func scanContent(ctx context.Context, p *project.Project, spec spec, within string, old *scan, now time.Time) (*scan, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s := &scanner{ctx: ctx, stop: stop, p: p, spec: spec, within: within, old: old}
	if within != "" {
		s.down = strings.Split(within, "/")
	}
	if old == nil {
		s.old = &scan{}
	}
	result := &scan{within: within, began: now}
	for at, tree := range spec.trees {
		s.tree, s.at, s.content = tree, at, tree.dir(p)
		s.label = labelOf(p.Root, s.content)
		records, err := s.walk()
		if err != nil && !gone(err) {
			return nil, fmt.Errorf("unable to read %s/: %w", s.label, project.PlainError(err))
		}
		result.records = append(result.records, records...)
	}
	s.compare(result)
	return result, nil
}

// compare finds out what is new.
func (s *scanner) compare(result *scan) {
	old := s.old
	same := s.old.within == s.within && len(old.records) == len(result.records)
	result.unsaved = !same
	for i := range result.records {
		r := &result.records[i]
		if !same || !r.fresh && !r.moved {
			continue
		}
		same = r.sameContent(&old.records[i])
		result.unsaved = result.unsaved || !same || !r.equal(&old.records[i])
	}
	result.content = result
	if same && old.content != nil {
		result.content = old.content
		result.unsaved = result.unsaved || old.unsaved
	}
}

// walk visits everything in the tree. The directories in it are shared out
// among as many workers as there are processors.
func (s *scanner) walk() ([]record, error) {
	root, err := openFolder(s.content)
	if err != nil {
		return nil, err
	}
	defer root.close()
	var records []record
	top := newLook(s)
	children, err := s.visit(top, root, "", 0, stamp{}, &records)
	if err != nil {
		return nil, err
	}
	const share = 64 // directories a worker takes at a time
	workers := min(runtime.GOMAXPROCS(0), (len(children)+share-1)/share)
	if workers <= 1 {
		s.descend(top, root, "", children, 0, &records)
	} else {
		runs := make([][]record, (len(children)+share-1)/share)
		var next atomic.Int64
		var group sync.WaitGroup
		for range workers {
			group.Go(func() {
				l := newLook(s)
				for {
					at := int(next.Add(1)) - 1
					if at >= len(runs) {
						return
					}
					s.descend(l, root, "", children[at*share:min(len(children), (at+1)*share)], 0, &runs[at])
				}
			})
		}
		group.Wait()
		records = append(records, slices.Concat(runs...)...)
	}
	slices.SortFunc(records, func(a, b record) int { return a.compare(&b) })
	return records, context.Cause(s.ctx)
}

// descend walks the directories named children in dir, which lies at parent.
func (s *scanner) descend(l *look, dir folder, parent string, children []string, depth int, out *[]record) {
	for _, name := range children {
		if s.ctx.Err() != nil {
			return
		}
		at := path.Join(parent, name)
		known := s.old.record(s.at, at)
		if depth+1 < len(s.down) || known == nil || !known.stamped(dir, name) {
			known = nil
		} else if len(s.children(known.entries, at, depth+1)) == 0 {
			*out = append(*out, known.again())
			continue
		}
		self := dir.stamp(name)
		child, err := dir.open(name)
		if err == nil {
			var below []string
			if known != nil {
				*out = append(*out, known.again())
				below = s.children(known.entries, at, depth+1)
			} else {
				below, err = s.visit(l, child, at, depth+1, self, out)
			}
			if err == nil {
				s.descend(l, child, at, below, depth+1, out)
			}
			child.close()
		}
		if err != nil && isShortage(err) {
			s.stop(project.PlainError(err))
		}
		if err != nil && !vanished(err) {
			*out = append(*out, record{tree: s.at, path: at, unsure: true, fresh: true, said: []message{
				{mcp.Warning, fmt.Sprintf("Cannot read directory %s: %s", path.Join(s.label, at), project.PlainError(err))},
			}})
		}
	}
}

// visit makes the record of a directory, or takes the one that still holds,
// and returns the names of the directories in it to go on with. self is how the
// directory was before it was opened.
func (s *scanner) visit(l *look, dir folder, at string, depth int, self stamp, out *[]record) (children []string, err error) {
	entries, err := dir.listing(l.listing)
	if err != nil {
		return nil, err
	}
	if depth < len(s.down) { // on the way to the subtree
		if slices.Contains(entries, entry{s.down[depth], true}) {
			return s.down[depth : depth+1], nil
		}
		return nil, nil
	}
	if known := s.old.record(s.at, at); known != nil && known.listed(dir, entries) {
		r := known.again()
		r.moved, r.self = r.self != self, self
		*out = append(*out, r)
	} else {
		r := record{tree: s.at, path: at, self: self, entries: entries, fresh: true}
		l.at(dir, depth, &r)
		s.examine(l)
		*out = append(*out, r)
	}
	return s.children(entries, at, depth), nil
}

// children are the directories to go on with.
func (s *scanner) children(entries []entry, at string, depth int) (names []string) {
	for _, e := range entries {
		if e.isDir && depth < maxDepth && oddity(e.name) == "" && !(s.tree.passes != nil && s.tree.passes(path.Join(at, e.name))) {
			names = append(names, e.name)
		}
	}
	return names
}

// examine has the kind look at a directory, after what is the same for all.
func (s *scanner) examine(l *look) {
	for _, e := range l.rec.entries {
		if why := oddity(e.name); why != "" {
			l.say(mcp.Warning, fmt.Sprintf("%s scan encountered unsupported filename (%s) under %s/", s.tree.noun, why, s.label))
		}
		if e.isDir && l.depth == maxDepth {
			l.say(mcp.Warning, fmt.Sprintf("Directories more than %d levels below %s/ are skipped", maxDepth, s.label))
		}
	}
	s.tree.examine(l)
}

// settle decides which of the new records can be believed later on. clock
// tells what the clock of the file system shows at a moment; the later it is asked,
// the better it knows.
func (s *scan) settle(clock func(time.Time) time.Time) {
	for i := range s.records {
		if r := &s.records[i]; r.fresh || r.moved {
			r.settle(clock(s.began))
			r.fresh, r.moved = false, false
		}
	}
}
