package registry

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/wire/mcp"
)

// bounds returns the subtree of each kind that a filter selects, relative to the content
// directory. Kinds that are not in the map are scanned completely.
func (c *Catalog) bounds(filter string) map[*kinds.Kind]string {
	if filter == "" {
		return nil
	}
	dir := filter
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(c.p.Root, dir)
	}
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		candidates := []string{filepath.Clean(dir)}
		if physical, err := fsys.Physical(dir); err == nil {
			candidates = append(candidates, physical) // as the project's root is
		}
		for _, dir := range candidates {
			if bounds, ok := c.boundsAt(dir); ok {
				return bounds
			}
		}
	}
	c.messages.report("filter", access.RegistryLogger, []item.Message{
		{Level: mcp.Warning, Text: fmt.Sprintf("registry filter '%s' matches no content directory; ignoring", filter)},
	})
	return nil
}

func (c *Catalog) boundsAt(dir string) (bounds map[*kinds.Kind]string, ok bool) {
	bounds = make(map[*kinds.Kind]string)
	for _, content := range []string{c.p.Tools, c.p.Resources, c.p.Prompts, c.p.UI} {
		below, found := strings.CutPrefix(dir+string(filepath.Separator), content+string(filepath.Separator))
		if !found {
			continue
		}
		ok = true
		for _, s := range c.states {
			if len(s.kind.Trees) == 1 && s.kind.ContentDir(c.p) == content {
				bounds[s.kind] = strings.TrimSuffix(filepath.ToSlash(below), "/")
			}
		}
	}
	return bounds, ok
}
