package engine

import (
	"context"
	"encoding/json"
	"path/filepath"

	"mcp-bash/pkg/code"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/rawjson"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/sandbox"
)

// listed returns the scripts that the registry lists. The paths of completion scripts are among them as
// they are declared: a file that is not there yet runs once it is, and the registry resolves links.
func (e *Engine) listed() ([]sandbox.Listed, error) {
	ctx := context.Background()
	tools, err := e.Catalog.List(ctx, kinds.Tools)
	if err != nil {
		return nil, err
	}
	completions, err := e.Catalog.List(ctx, kinds.Completions)
	if err != nil {
		return nil, err
	}
	list := Listed(e.Project, tools.JSON(), completions.JSON())
	for _, path := range e.Catalog.DeclaredPaths(kinds.Completions) {
		list = append(list, completion(e.Project, path))
	}
	return list, nil
}

// Listed returns the scripts of registry entries: of tools, and of completions.
func Listed(p *project.Project, tools, completions []json.RawMessage) []sandbox.Listed {
	list := make([]sandbox.Listed, 0, len(tools)+len(completions))
	for _, item := range tools {
		needs, _ := access.DeclarationOf(item) // of one that cannot be read: nothing, as it does not run
		script := code.Tool.Below(p, rawjson.TextOf(item, "path")).Path()
		list = append(list, sandbox.Listed{Tool: rawjson.TextOf(item, "name"), Script: script, Needs: needs})
	}
	for _, item := range completions {
		list = append(list, completion(p, rawjson.TextOf(item, "path")))
	}
	return list
}

// completion is a completion script with a path that is absolute or relative to the project.
func completion(p *project.Project, path string) sandbox.Listed {
	if path = filepath.FromSlash(path); !filepath.IsAbs(path) {
		path = code.ListedCompletion.Below(p, path).Path()
	}
	return sandbox.Listed{Script: filepath.Clean(path)}
}
