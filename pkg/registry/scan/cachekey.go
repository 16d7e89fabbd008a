package scan

import (
	"fmt"
	"strings"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/folder"
)

// cacheRules changes with the rules by which items are made, and with the
// layout of the file.
const cacheRules = "5"

// A Mark says which registry file a scan led to.
type Mark struct {
	Hash  string
	Stamp folder.Stamp // zero: it cannot be told by its stamp
}

// CacheKey is everything a scan depends on besides what it looks at. The
// inodes of the content directories bind a cache to the trees it was made for: in
// a copy, or in an archive somebody sends, it means nothing.
func CacheKey(p *project.Project, k Spec, version string) string {
	parts := []string{cacheRules, version, k.Name, p.Root, p.Meta.Name}
	for _, t := range k.Trees {
		content := folder.Observe(t.Dir(p))
		parts = append(parts, content.Name, content.Resolved, fmt.Sprint(content.Stamp.Dev, content.Stamp.Ino))
	}
	return strings.Join(parts, "\x00")
}
