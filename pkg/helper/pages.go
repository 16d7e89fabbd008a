package helper

import (
	"context"
	"encoding/json"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/kinds"
)

// findPage returns a function that finds the registry entries of pages as a server does, without
// writing. Only the provider ui uses the registry (RES-2, RES-321).
func findPage(env project.Env, root, dir string) func(ctx context.Context, name string) (json.RawMessage, error) {
	return func(ctx context.Context, name string) (json.RawMessage, error) {
		p := project.Open(root, env, dir, func(string) {})
		list, err := registry.NewCatalog(p, registry.Options{ReadOnly: true}).List(ctx,
			kinds.UIResources)
		if err != nil {
			return nil, err
		}
		item, _ := list.Find(name)
		return item.JSON, nil
	}
}
