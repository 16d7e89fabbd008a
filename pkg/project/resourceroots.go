package project

import (
	"path/filepath"

	"mcp-bash/pkg/files/fsys"
)

// ResourceRoots returns the absolute paths that the file provider may read: the directories and files of
// MCP_RESOURCES_ROOTS, or the resources directory (RES-90). set reports whether the variable is set. The paths need
// not exist. A text that names no path (E-12) is left out.
func (e Env) ResourceRoots(root, resources string) (list []string, set bool) {
	value := e["MCP_RESOURCES_ROOTS"]
	if value == "" {
		return []string{resources}, false
	}
	for _, item := range fsys.SplitNamed(value) {
		item, err := fsys.Named(item, e["HOME"])
		if err != nil || item == "" {
			continue
		}
		if !filepath.IsAbs(item) {
			item = filepath.Join(root, item)
		}
		list = append(list, filepath.Clean(item))
	}
	return list, true
}
