package registry

import (
	"fmt"
	"strings"

	"mcp-bash/pkg/project"
)

// cacheRules changes with the rules by which items are made, and with the
// layout of the file.
const cacheRules = "5"

// A mark says which registry file a scan led to.
type mark struct {
	hash  string
	stamp stamp // zero: it cannot be told by its stamp
}

// cacheKey is everything a scan depends on besides what it looks at. The
// inodes of the content directories bind a cache to the trees it was made for: in
// a copy, or in an archive somebody sends, it means nothing.
func cacheKey(p *project.Project, k spec, version string) string {
	parts := []string{cacheRules, version, k.name, p.Root, p.Meta.Name}
	for _, t := range k.trees {
		content := noteOf(t.dir(p))
		parts = append(parts, content.name, content.physical, fmt.Sprint(content.stamp.dev, content.stamp.ino))
	}
	return strings.Join(parts, "\x00")
}
