package registry

import (
	"context"
	"slices"
	"strings"
)

// inputs are what a list is made of: as long as they are the same things, so
// is the list.
type inputs struct {
	scan     *scan
	manual   *manualScan
	declared *declarations
	after    *List
}

// pure: a list of these inputs is what the walk found and nothing else.
func (in inputs) pure() bool {
	return in.scan != nil && in.scan.within == "" && in.manual == nil && in.after == nil && (in.declared == nil || len(in.declared.exclude) == 0)
}

// walk walks the trees of a kind. The first time it starts from what an
// earlier process left in the scan cache.
func (c *Catalog) walk(ctx context.Context, s *state, within string) (*scan, error) {
	if !s.started {
		s.started = true
		s.cached, s.saved = c.loadScan(s.kind)
		s.scan = s.cached
	}
	if s.scan != nil {
		s.scan.settle(c.store.clock)
	}
	walked, err := scanContent(ctx, c.p, s.kind.spec(), within, s.scan, c.now())
	if err != nil {
		return nil, err
	}
	s.scan = walked
	return walked, nil
}

// make makes the list, or returns the last one when nothing has changed.
func (c *Catalog) make(ctx context.Context, s *state, r request, from origin) (*List, error) {
	in := inputs{declared: from.declared}
	s.over = nil
	if from.manual != nil {
		if from.manual.fault != nil {
			return nil, from.manual.fault
		}
		s.manual = scanManual(c.p, s.kind, from.manual, s.manual)
		in.manual = s.manual
	}
	if from.discover {
		walked, err := c.walk(ctx, s, r.within)
		if err != nil {
			return nil, err
		}
		in.scan = walked.content
	}
	if s.kind.after != nil {
		in.after = c.preceding(ctx, s.kind.after, r)
	}
	partial := r.force && r.within != ""
	if s.made != nil && in == s.inputs && !partial {
		return s.made, nil
	}
	hash := ""
	if s.cached != nil && in.scan == s.cached && in.pure() {
		hash = s.saved.hash
	}
	list, said := c.assemble(s, r, in, hash)
	if s.made != nil && s.made.Hash == list.Hash && slices.EqualFunc(s.made.Items, list.Items, sameItem) {
		list = s.made
	}
	s.inputs, s.made, s.said = in, list, said
	return list, nil
}

// assemble makes a list, and says what there is to say about it. hash is that
// of its items when it is known.
func (c *Catalog) assemble(s *state, r request, in inputs, hash string) (list *List, said []message) {
	a := &assembly{p: c.p, kind: s.kind, discovered: in.scan != nil}
	if in.after != nil {
		a.after = in.after.Items
	}
	if in.scan != nil {
		a.said = in.scan.said()
		a.found = in.scan.found()
		if r.force && r.within != "" {
			file, _ := c.store.read(s.kind)
			over := file.sum()
			s.over = &over
			a.found = append(a.found, outside(file, r.within, a.found)...)
		}
	}
	if in.manual != nil {
		a.declared = in.manual.items()
		a.said = append(a.said, in.manual.said...)
	}
	items := without(a.items(), in.declared.excluded(s.kind))
	list = &List{Kind: s.kind, Items: make([]Item, len(items)), Hash: hash}
	for i := range items {
		list.Items[i] = items[i].Item
	}
	if hash == "" {
		list.Hash = hashOf(list.texts())
	}
	return list, a.said
}

// preceding returns the list of a kind that another is made after, from the
// same refresh; nil when it is not available.
func (c *Catalog) preceding(ctx context.Context, k *Kind, r request) *List {
	list, err := c.listed(ctx, c.state(k), r.asked, func(*outcome) bool { return false })
	if err != nil {
		return nil
	}
	return list
}

func sameItem(a, b Item) bool { return a.Name == b.Name && string(a.JSON) == string(b.JSON) }

// outside returns the items of the valid file on disk that a refresh of a
// subtree leaves alone.
func outside(file *registryFile, within string, inside []found) []found {
	if file == nil {
		return nil
	}
	names := make(map[string]bool, len(inside))
	for _, f := range inside {
		names[f.Name] = true
	}
	var kept []found
	for _, f := range file.found() {
		below := f.path == within || strings.HasPrefix(f.path, within+"/")
		if !below && (f.path != "" || !names[f.Name]) {
			kept = append(kept, f)
		}
	}
	return kept
}
