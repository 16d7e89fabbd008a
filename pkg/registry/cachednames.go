package registry

import (
	"os"

	"mcp-bash/pkg/json/rawjson"
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
	text, err := NewCatalog(p, Options{ReadOnly: true}).File(kind)
	if err != nil {
		return nil
	}
	doc, err := rawjson.Check(text)
	if err != nil {
		return nil
	}
	for item := range rawjson.Elements(rawjson.Get(doc, "items")) {
		if name := rawjson.TextOf(item, "name"); name != "" {
			names = append(names, name)
		}
	}
	return names
}
