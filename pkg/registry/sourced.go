package registry

import (
	"context"

	"mcp-bash/pkg/registry/declare"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
)

const DiscoveredSource = "discovered"

// A SourcedTool is a tool of the effective registry, and where it comes from.
type SourcedTool struct {
	item.Candidate
	Source string
}

// sourced says where the tools of a list come from. manual is the handwritten
// list it was made with, nil for none.
func sourced(list *List, manual *declare.Built) []SourcedTool {
	byHand := make(map[string]bool)
	if manual != nil {
		for _, f := range manual.Candidates {
			byHand[f.Name] = true
		}
	}
	all := make([]SourcedTool, len(list.Items))
	for i, entry := range list.Items {
		all[i] = SourcedTool{item.CandidateOf(entry.JSON), DiscoveredSource}
		if byHand[entry.Name] {
			all[i].Source = manual.From.Origin
		}
	}
	return all
}

// SourcedTools looks at the project, brings its registry file up to date, and returns all tools.
func (c *Catalog) SourcedTools(ctx context.Context) ([]SourcedTool, error) {
	s := c.state(kinds.Tools)
	if _, err := c.list(ctx, s, true); err != nil {
		return nil, err
	}
	if err := s.mutex.Lock(ctx); err != nil {
		return nil, err
	}
	defer s.mutex.Unlock()
	o := s.last.Load()
	if o.err != nil {
		return nil, o.err
	}
	var manual *declare.Built
	if o.list == s.built { // it is not a file as it is
		manual = s.inputs.declared
	}
	return sourced(o.list, manual), nil
}

// PreviewTools returns what the tools of the project would be with other declarations.
// It writes nothing.
func (c *Catalog) PreviewTools(ctx context.Context, said *declare.Document) ([]SourcedTool, error) {
	s := c.state(kinds.Tools)
	if err := s.mutex.Lock(ctx); err != nil {
		return nil, err
	}
	defer s.mutex.Unlock()
	from := origin{document: said}
	if said != nil {
		from.declared = said.Lists[kinds.Tools.Key]
	}
	from.discover = from.declared == nil || from.declared.Merge
	list, err := c.build(ctx, s, request{}, from)
	if err != nil {
		return nil, err
	}
	return sourced(list, s.inputs.declared), nil
}
