// Package builtin makes the built-in providers of resources.
package builtin

import (
	"context"
	"encoding/json"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/provider"
	"mcp-bash/pkg/provider/echo"
	"mcp-bash/pkg/provider/file"
	"mcp-bash/pkg/provider/git"
	"mcp-bash/pkg/provider/hosts"
	"mcp-bash/pkg/provider/https"
	"mcp-bash/pkg/provider/ui"
	"mcp-bash/pkg/provider/uitemplate"
)

// A Config has the inputs of [New].
type Config struct {
	Env       project.Env // settings: MCP_RESOURCES_ROOTS, MCPBASH_HTTPS_* and so on
	Root      string      // the project directory, the base of relative paths
	Resources string      // the resources directory of the project, readable by default
	// MoreRoots returns further directories that the file provider may read. It is ignored if
	// MCP_RESOURCES_ROOTS is set (RES-91). nil means no further directories.
	MoreRoots func() []string

	// Directories of the pages of MCP Apps, and a function that returns the registry entry of a
	// page. FindPage may be nil.
	Tools, UI string
	FindPage  func(ctx context.Context, name string) (json.RawMessage, error)
}

// Names are the names of the built-in providers.
var Names = []string{"file", "https", "git", "echo", "ui"}

// New returns the provider with the given name, or nil if the name is unknown. The provider may
// keep a cache, so callers keep the provider. New reads settings only, without access to disk or
// network.
func New(name string, c Config) provider.Provider {
	switch name {
	case "echo":
		return echo.Provider{}
	case "file":
		return file.New(file.Settings{Dir: c.Root, Roots: c.FileRoots})
	case "https":
		return https.New(c.Env, hosts.System())
	case "git":
		return git.New(c.Env, hosts.System())
	case "ui":
		return c.pages()
	}
	return nil
}

// pages returns the provider of MCP Apps.
func (c *Config) pages() provider.Provider {
	return ui.New(ui.Settings{
		Root: c.Root, Tools: c.Tools, UI: c.UI, Find: c.FindPage,
		Most:      settings.Int(c.Env, "MCPBASH_MAX_UI_RESOURCE_BYTES"),
		Templates: uitemplate.NewCache(settings.Int(c.Env, "MCPBASH_UI_CACHE_MAX_TEMPLATES")),
	})
}

// FileRoots returns the absolute paths that the file provider may read.
func (c *Config) FileRoots() []string {
	list, set := c.Env.ResourceRoots(c.Root, c.Resources)
	if !set && c.MoreRoots != nil {
		list = append(list, c.MoreRoots()...)
	}
	return list
}
