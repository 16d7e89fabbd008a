package registry

import (
	"os"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/kinds"
)

// CachedNames returns the names in the registry file of a kind, for shell completion. The
// project is the one that contains the working directory. The result is nil after an
// error.
func CachedNames(kind *kinds.Kind) (names []string) {
	dir, err := os.Getwd()
	if err != nil {
		return nil
	}
	env := project.OSEnv()
	root, err := project.FindRoot(env, "", dir)
	if err != nil {
		return nil
	}
	p := project.Open(root, env, dir, func(string) {})
	list, err := NewCatalog(p, Options{ReadOnly: true}).File(kind)
	if err != nil {
		return nil
	}
	for _, item := range list.Items {
		if item.Name != "" {
			names = append(names, item.Name)
		}
	}
	return names
}
