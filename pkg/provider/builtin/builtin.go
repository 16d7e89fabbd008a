// Package builtin makes the providers of resources that need no script
// (RES-1).
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

// A Config is what they are made of.
type Config struct {
	Env       project.Env // their settings: MCP_RESOURCES_ROOTS, MCPBASH_HTTPS_* and so on
	Root      string      // the project: what relative paths start from
	Resources string      // its resources directory: what may be read by default
	// MoreRoots returns what may be read beyond that directory; it has no say
	// when MCP_RESOURCES_ROOTS is set (RES-91). nil: nothing.
	MoreRoots func() []string

	// Where the pages of MCP Apps are, and how to find the registry entry of one;
	// FindPage may be nil.
	Tools, UI string
	FindPage  func(ctx context.Context, name string) (json.RawMessage, error)
}

// Names are the providers there are.
var Names = []string{"file", "https", "git", "echo", "ui"}

// New returns the provider of that name, nil when there is none. It may keep
// things for later reads, so one is made and used again. Making it costs
// nothing: settings are read, no disk and no network is touched.
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

// pages makes the provider of MCP Apps.
func (c *Config) pages() provider.Provider {
	return ui.New(ui.Settings{
		Root: c.Root, Tools: c.Tools, UI: c.UI, Find: c.FindPage,
		Most:      settings.Int(c.Env, "MCPBASH_MAX_UI_RESOURCE_BYTES"),
		Templates: uitemplate.NewCache(settings.Int(c.Env, "MCPBASH_UI_CACHE_MAX_TEMPLATES")),
	})
}

// FileRoots returns what the file provider may read, absolute.
func (c *Config) FileRoots() []string {
	list, set := c.Env.ResourceRoots(c.Root, c.Resources)
	if !set && c.MoreRoots != nil {
		list = append(list, c.MoreRoots()...)
	}
	return list
}
