package registry

import (
	"context"

	"mcp-bash/pkg/registry/declare"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
)

// DiscoveredSource is the source of a discovered tool.
const DiscoveredSource = "discovered"

// A SourcedTool is a tool of a project with its source.
type SourcedTool struct {
	item.Candidate
	Source string // DiscoveredSource, declare.JSONFile or declare.HookFile
}

// sourced returns the tools of a list with their sources. declared are the declared tools,
// or nil.
func sourced(list *List, declared *declare.Built) []SourcedTool {
	isDeclared := make(map[string]bool)
	if declared != nil {
		for _, f := range declared.Candidates {
			isDeclared[f.Name] = true
		}
	}
	all := make([]SourcedTool, len(list.Items))
	for i, entry := range list.Items {
		all[i] = SourcedTool{item.CandidateOf(entry.JSON), DiscoveredSource}
		if isDeclared[entry.Name] {
			all[i].Source = declared.From.Origin
		}
	}
	return all
}

// SourcedTools checks the project and returns all its tools.
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
	var declared *declare.Built
	if o.list == s.built { // else it is the registry file in static mode
		declared = s.inputs.declared
	}
	return sourced(o.list, declared), nil
}

// PreviewTools returns the tools that the project would have with another register.json. A
// nil doc means no file. PreviewTools writes nothing.
func (c *Catalog) PreviewTools(ctx context.Context, doc *declare.Document) ([]SourcedTool, error) {
	s := c.state(kinds.Tools)
	if err := s.mutex.Lock(ctx); err != nil {
		return nil, err
	}
	defer s.mutex.Unlock()
	from := origin{document: doc}
	if doc != nil {
		from.declared = doc.Lists[kinds.Tools.Key]
	}
	from.discover = from.declared == nil || from.declared.Merge
	list, err := c.build(ctx, s, request{}, from)
	if err != nil {
		return nil, err
	}
	return sourced(list, s.inputs.declared), nil
}
