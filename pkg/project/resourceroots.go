package project

import (
	"path/filepath"
	"strings"
)

// ResourceRoots returns what the file provider may read, absolute: the
// directories and files of MCP_RESOURCES_ROOTS, else the resources directory
// (RES-90). set reports which of the two it was. They need not exist.
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
