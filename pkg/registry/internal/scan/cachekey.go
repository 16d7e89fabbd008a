package scan

import (
	"fmt"
	"strings"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/project"
)

// cacheRules is changed with the rules by which items are built, and with the
// layout of the file.
const cacheRules = "6"

// A Mark is the registry file that was made of a scan.
type Mark struct {
	Hash  string
	Stamp folder.Stamp // zero: the file has to be read to tell what is in it
}

// CacheKey returns what a scan depends on besides the files it looked at. The
// inodes of the content directories bind a cache to the trees it was made for: in
// a copy, or in an archive somebody sends, it means nothing. version is that of
// the program.
func CacheKey(p *project.Project, spec Spec, version string) string {
	parts := []string{cacheRules, version, spec.Name, p.Root, p.Meta.Name}
	for _, t := range spec.Trees {
		content := folder.Observe(t.Dir(p))
		parts = append(parts, content.Name, content.Resolved, fmt.Sprint(content.Stamp.Dev, content.Stamp.Ino))
	}
	return strings.Join(parts, "\x00")
}
