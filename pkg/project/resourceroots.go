package project

import (
	"path/filepath"
	"strings"
)

// ResourceRoots returns the absolute paths that the file provider may read: the directories and files of
// MCP_RESOURCES_ROOTS, or the resources directory (RES-90). set reports whether the variable is set. The paths need
// not exist.
func (e Env) ResourceRoots(root, resources string) (list []string, set bool) {
	value := e["MCP_RESOURCES_ROOTS"]
	if value == "" {
		return []string{resources}, false
	}
	for _, item := range filepath.SplitList(value) {
		if item == "" {
			continue
		}
		if home := e["HOME"]; home != "" && (item == "~" || strings.HasPrefix(item, "~/")) {
			item = home + item[1:]
		}
		if !filepath.IsAbs(item) {
			item = filepath.Join(root, item)
		}
		list = append(list, filepath.Clean(item))
	}
	return list, true
}
