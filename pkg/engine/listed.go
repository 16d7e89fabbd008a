package engine

import (
	"context"
	"encoding/json"
	"path/filepath"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/sandbox"
)

// listed returns the scripts in the registry. Completion scripts have their declared paths,
// because a missing file runs once it exists, and because links on the path matter.
func (e *Engine) listed() ([]sandbox.Listed, error) {
	ctx := context.Background()
	tools := e.Entries
	if tools == nil {
		list, err := e.Catalog.List(ctx, kinds.Tools)
		if err != nil {
			return nil, err
		}
		tools = list.JSON()
	}
	completions, err := e.Catalog.DeclaredPaths(ctx, kinds.Completions)
	return Listed(e.Project, tools, completions), err
}

// Listed returns the scripts of tools, given their registry entries, and of completions, given
// their declared paths.
func Listed(p *project.Project, tools []json.RawMessage, completions []string) []sandbox.Listed {
	list := make([]sandbox.Listed, 0, len(tools)+len(completions))
	for _, item := range tools {
		needs, _ := access.DeclarationOf(item) // a tool with an unreadable declaration needs nothing, because it does not run
		script := code.Tool.Below(p, rawjson.TextOf(item, "path")).Path()
		list = append(list, sandbox.Listed{Tool: rawjson.TextOf(item, "name"), Script: script, Needs: needs})
	}
	for _, path := range completions {
		if path = filepath.FromSlash(path); !filepath.IsAbs(path) {
			path = code.ListedCompletion.Below(p, path).Path()
		}
		list = append(list, sandbox.Listed{Script: filepath.Clean(path)})
	}
	return list
}

func among(items []json.RawMessage) Find {
	return func(_ context.Context, name string) (json.RawMessage, error) {
		for _, item := range items {
			if rawjson.TextOf(item, "name") == name {
				return item, nil
			}
		}
		return nil, nil
	}
}
