package registry

import (
	"context"
	"slices"
	"strings"

	"mcp-bash/pkg/registry/declare"
	"mcp-bash/pkg/registry/internal/scan"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
)

// inputs determine a list. Equal inputs have equal lists.
type inputs struct {
	scan     *scan.Result
	declared *declare.Built
	document *declare.Document
	after    *List
}

// rescan scans the trees of a kind. It examines again only the directories that have
// changed since the last scan.
func (c *Catalog) rescan(ctx context.Context, s *state, within string) (*scan.Result, error) {
	if s.scan != nil {
		s.scan.Settle(c.store.clock)
	}
	c.scans.Add(1)
	scanned, err := scan.Run(ctx, c.p, s.kind.Spec(), within, s.scan, c.now())
	if err != nil {
		return nil, err
	}
	s.scan = scanned
	return scanned, nil
}

// build returns the list of a kind. If nothing has changed, it is the last list.
func (c *Catalog) build(ctx context.Context, s *state, r request, from origin) (*List, error) {
	in := inputs{document: from.document}
	s.mergedInto = nil
	if from.declared != nil {
		if from.declared.Err != nil {
			return nil, from.declared.Err
		}
		s.declared = declare.Build(c.p, s.kind, from.declared, s.declared)
		in.declared = s.declared
	}
	if from.discover {
		scanned, err := c.rescan(ctx, s, r.within)
		if err != nil {
			return nil, err
		}
		in.scan = scanned.First
	}
	if s.kind.After != nil {
		in.after = c.preceding(ctx, s.kind.After, r)
	}
	partial := r.force && r.within != ""
	if s.built != nil && in == s.inputs && !partial {
		return s.built, nil
	}
	list, messages := c.assemble(s, r, in)
	if s.built != nil && s.built.Hash == list.Hash && slices.EqualFunc(s.built.Items, list.Items, sameItem) {
		list = s.built
	}
	s.inputs, s.built, s.messages = in, list, messages
	return list, nil
}

// assemble makes a list from its inputs. It also returns the messages about the list.
func (c *Catalog) assemble(s *state, r request, in inputs) (list *List, messages []item.Message) {
	a := &kinds.Assembly{Project: c.p, Kind: s.kind, Discovered: in.scan != nil}
	if in.after != nil {
		a.After = in.after.Items
	}
	if in.scan != nil {
		a.Messages = in.scan.Messages()
		a.Found = in.scan.Candidates()
		if r.force && r.within != "" {
			file, _ := c.store.read(s.kind)
			over := file.sum()
			s.mergedInto = &over
			a.Found = append(a.Found, outside(file, r.within, a.Found)...)
		}
	}
	if in.declared != nil {
		a.Declared = in.declared.Declared()
		a.Messages = append(a.Messages, in.declared.Messages...)
	}
	items := kinds.Without(a.Items(), in.document.Excluded(s.kind))
	list = &List{Kind: s.kind, Items: make([]item.Item, len(items))}
	for i := range items {
		list.Items[i] = items[i].Item
	}
	list.Hash = hashOf(list.JSON())
	return list, a.Messages
}

// preceding returns the list that another kind depends on, from the same refresh. It returns
// nil if the list is not available.
func (c *Catalog) preceding(ctx context.Context, k *kinds.Kind, r request) *List {
	list, err := c.obtain(ctx, c.state(k), r.asked, func(*outcome) bool { return false })
	if err != nil {
		return nil
	}
	return list
}

func sameItem(a, b item.Item) bool { return a.Name == b.Name && string(a.JSON) == string(b.JSON) }

// outside returns the items of the registry file that a refresh of a subtree keeps.
func outside(file *registryFile, within string, inside []item.Candidate) []item.Candidate {
	if file == nil {
		return nil
	}
	names := make(map[string]bool, len(inside))
	for _, f := range inside {
		names[f.Name] = true
	}
	var kept []item.Candidate
	for _, f := range file.found() {
		below := f.Path == within || strings.HasPrefix(f.Path, within+"/")
		if !below && (f.Path != "" || !names[f.Name]) {
			kept = append(kept, f)
		}
	}
	return kept
}
