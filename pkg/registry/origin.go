package registry

import (
	"context"
	"errors"
	"fmt"

	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/registry/declare"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/wire/mcp"
)

// An origin is the source of the items of a kind.
type origin struct {
	static   *List             // the registry file, and no other source; or nil
	discover bool              // scan the content directories
	declared *declare.List     // the declared entries of the kind, or nil
	document *declare.Document // the content of register.json, or nil
}

func (c *Catalog) origin(ctx context.Context, s *state, r request) (origin, error) {
	static := c.p.Discovery.Static && !r.force
	declarable := s.kind.Build != nil // UI resources are not
	var doc *declare.Document
	if declarable {
		var err error
		if doc, err = c.declared.Read(r.asked, c.checks.Load()); err != nil {
			return origin{}, err
		}
	}
	from := origin{document: doc}
	if doc != nil {
		from.declared = doc.Lists[s.kind.Key]
	}
	if static && from.declared == nil && len(doc.Excluded(s.kind)) == 0 {
		if list := c.staticList(s); list != nil {
			return origin{static: list}, nil
		}
	}
	if declarable && doc == nil && !static {
		lists, err := c.hook.Read(ctx)
		if err != nil {
			return origin{}, err
		}
		from.declared = lists[s.kind.Key]
	}
	from.discover = s.kind.Trees != nil && (from.declared == nil || from.declared.Merge)
	return from, nil
}

// staticList returns the list in the registry file, or nil if there is no valid file
//
func (c *Catalog) staticList(s *state) *List {
	if s.static != nil {
		return s.static
	}
	file, err := c.store.read(s.kind)
	if err != nil {
		level := mcp.Debug
		if _, ok := errors.AsType[*trust.InsecureError](err); ok {
			level = mcp.Warning
		}
		c.messages.report("static "+s.kind.Key, s.kind.Logger, []item.Message{
			{Level: level, Text: fmt.Sprintf("Static registry: %s: %s; discovering", s.kind.File, err)},
		})
		return nil
	}
	c.staticNotice.Do(func() {
		c.log(mcp.Info, s.kind.Logger, "Static registry mode active - "+
			"new tools/resources won't be discovered until restart or MCPBASH_STATIC_REGISTRY=0")
	})
	s.static = file.list(s.kind)
	return s.static
}
