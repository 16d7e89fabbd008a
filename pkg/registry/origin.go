package registry

import (
	"context"
	"errors"
	"fmt"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/project"
)

// An origin is where the items of a kind come from.
type origin struct {
	fixed    *List // from the registry file as it is, or:
	discover bool
	manual   *manual
	declared *declarations
}

// origin decides where the items come from.
func (c *Catalog) origin(ctx context.Context, s *state, r request) (origin, error) {
	static := c.p.Discovery.Static && !r.force
	listed := s.kind.entry != nil // else nobody's list decides
	var said *declarations
	if listed {
		var err error
		if said, err = c.declared.read(r.asked, c.checks.Load()); err != nil {
			return origin{}, err
		}
	}
	from := origin{declared: said}
	if said != nil {
		from.manual = said.kinds[s.kind.Key]
	}
	if static && from.manual == nil && len(said.excluded(s.kind)) == 0 {
		if list := c.fixed(s); list != nil {
			return origin{fixed: list}, nil
		}
	}
	if listed && said == nil && !static {
		lists, err := c.hook.read(ctx)
		if err != nil {
			return origin{}, err
		}
		from.manual = lists[s.kind.Key]
	}
	from.discover = s.kind.trees != nil && (from.manual == nil || from.manual.merge)
	return from, nil
}

// fixed returns the registry file as it is, nil when there is no valid one
//
func (c *Catalog) fixed(s *state) *List {
	if s.memory.fixed != nil {
		return s.memory.fixed
	}
	file, err := c.store.read(s.kind)
	if err != nil {
		level := mcp.Debug
		var insecure *project.InsecureError
		if errors.As(err, &insecure) {
			level = mcp.Warning
		}
		c.journal.state("static "+s.kind.Key, s.kind.Logger, []message{
			{level, fmt.Sprintf("Static registry: %s: %s; discovering", s.kind.File, err)},
		})
		return nil
	}
	c.static.Do(func() {
		c.log(mcp.Info, s.kind.Logger, "Static registry mode active - new tools/resources won't be discovered until restart or MCPBASH_STATIC_REGISTRY=0")
	})
	s.memory.fixed = file.list(s.kind)
	return s.memory.fixed
}
