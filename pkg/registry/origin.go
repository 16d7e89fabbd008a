package registry

import (
	"context"
	"errors"
	"fmt"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/declare"
	"mcp-bash/pkg/registry/item"
)

// An origin is where the items of a kind come from.
type origin struct {
	fixed    *List // from the registry file as it is, or:
	discover bool
	declared *declare.List
	document *declare.Document
}

// origin decides where the items come from.
func (c *Catalog) origin(ctx context.Context, s *state, r request) (origin, error) {
	static := c.p.Discovery.Static && !r.force
	listed := s.kind.Build != nil // else nobody's list decides
	var said *declare.Document
	if listed {
		var err error
		if said, err = c.declared.Read(r.asked, c.checks.Load()); err != nil {
			return origin{}, err
		}
	}
	from := origin{document: said}
	if said != nil {
		from.declared = said.Lists[s.kind.Key]
	}
	if static && from.declared == nil && len(said.Excluded(s.kind)) == 0 {
		if list := c.fixed(s); list != nil {
			return origin{fixed: list}, nil
		}
	}
	if listed && said == nil && !static {
		lists, err := c.hook.Read(ctx)
		if err != nil {
			return origin{}, err
		}
		from.declared = lists[s.kind.Key]
	}
	from.discover = s.kind.Trees != nil && (from.declared == nil || from.declared.Merge)
	return from, nil
}

// fixed returns the registry file as it is, nil when there is no valid one
//
func (c *Catalog) fixed(s *state) *List {
	if s.lastCheck.fixed != nil {
		return s.lastCheck.fixed
	}
	file, err := c.store.read(s.kind)
	if err != nil {
		level := mcp.Debug
		var insecure *project.InsecureError
		if errors.As(err, &insecure) {
			level = mcp.Warning
		}
		c.messages.report("static "+s.kind.Key, s.kind.Logger, []item.Message{
			{Level: level, Text: fmt.Sprintf("Static registry: %s: %s; discovering", s.kind.File, err)},
		})
		return nil
	}
	c.static.Do(func() {
		c.log(mcp.Info, s.kind.Logger, "Static registry mode active - new tools/resources won't be discovered until restart or MCPBASH_STATIC_REGISTRY=0")
	})
	s.lastCheck.fixed = file.list(s.kind)
	return s.lastCheck.fixed
}
