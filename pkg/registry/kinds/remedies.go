package kinds

import (
	"errors"
	"fmt"
	"path"
	"slices"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/registry/folder"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/scan"
	"mcp-bash/pkg/script"
)

// checkRunnable warns about a script that nothing can start (T-44).
func checkRunnable(s *item.Input, file string) {
	if _, err := script.Command(file); errors.Is(err, script.ErrNotRunnable) {
		s.Log(mcp.Warning, fmt.Sprintf("%s: %s is not runnable; run chmod +x %s, or begin it with #!",
			s.Label, s.Path, script.Quote(file)))
	}
}

// findStrays looks for tools that lie in no directory of their own, where nothing
// is discovered. They claim their path, and come to nothing.
func findStrays(v *scan.Visit) {
	for file := range v.Files {
		_, mode, header, err := v.Head(file)
		if err == nil && (mode&0o111 != 0 || header != nil || v.MetadataOf(file) != nil) {
			v.Add(item.Candidate{Path: file, Claim: true})
		}
	}
}

// strays warns about those that no entry of a handwritten list names either.
func (a *Assembly) strays() {
	dir := folder.Label(a.Project.Root, a.Project.Tools)
	a.Found = slices.DeleteFunc(a.Found, func(f item.Candidate) bool {
		if !f.Claim {
			return false
		}
		if a.Declared == nil || !slices.ContainsFunc(a.Declared.Found, func(m item.Candidate) bool { return path.Clean(m.Path) == f.Path }) {
			a.log(mcp.Warning, "%s/%s is not offered: a tool lies in a directory of its own; "+
				"move it to %s/%s/, or name it in server.d/register.json", dir, f.Path, dir, item.Stem(f.Path))
		}
		return true
	})
}
