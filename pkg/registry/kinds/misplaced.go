package kinds

import (
	"fmt"
	"path"
	"slices"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/registry/internal/scan"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/wire/mcp"
)

// findMisplaced finds tools that are not in a separate directory and so are not offered
//
func findMisplaced(v *scan.Visit) {
	for file := range v.Files {
		head, err := v.Head(file)
		described := err == nil && (head.Header != nil || head.Fault != (item.Fault{}) || v.MetadataOf(file) != nil ||
			len(v.Unreadable(file)) > 0)
		if err == nil && (head.Mode&0o111 != 0 || described) {
			v.Add(item.Candidate{Path: file, Claim: true})
		}
	}
}

// dropMisplaced removes the tools that [findMisplaced] found. It warns about each tool that
// no declared entry names.
func (a *Assembly) dropMisplaced() {
	dir := folder.Label(a.Project.Root, a.Project.Tools)
	a.Found = slices.DeleteFunc(a.Found, func(f item.Candidate) bool {
		if !f.Claim {
			return false
		}
		same := func(declared item.Candidate) bool { return path.Clean(declared.Path) == f.Path }
		if a.Declared == nil || !slices.ContainsFunc(a.Declared.Found, same) {
			text := fmt.Sprintf("is not offered: each tool needs a separate directory; "+
				"move it to %s/%s/, or name it in server.d/register.json", dir, item.Stem(f.Path))
			file := path.Join(dir, f.Path)
			a.log(item.Message{Level: mcp.Warning, Topic: item.Misplaced, At: item.Place{File: file}, Text: text,
				Logged: file + " " + text})
		}
		return true
	})
}
