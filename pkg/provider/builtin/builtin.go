// Package builtin makes the providers of resources that need no script
// (RES-1).
package builtin

import (
	"math"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/provider"
	"mcp-bash/pkg/provider/echo"
	"mcp-bash/pkg/provider/file"
	"mcp-bash/pkg/provider/git"
	"mcp-bash/pkg/provider/hosts"
	"mcp-bash/pkg/provider/https"
	"mcp-bash/pkg/provider/ui"
	"mcp-bash/pkg/provider/uitemplate"
)

// New returns the provider of that name, nil when there is none. It may keep
// things for later reads, so one is made and used again. Making it costs
// nothing: settings are read, no disk and no network is touched.
func New(name string, c provider.Config) provider.Provider {
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
		return pages(&c)
	}
	return nil
}

// pages makes the provider of MCP Apps.
func pages(c *provider.Config) provider.Provider {
	templates, ok := project.Digits(c.Env["MCPBASH_UI_CACHE_MAX_TEMPLATES"])
	if !ok {
		templates = 50
	}
	return ui.New(ui.Settings{
		Root: c.Root, Tools: c.Tools, UI: c.UI, Find: c.FindPage,
		Most:      c.Env.Bounded("MCPBASH_MAX_UI_RESOURCE_BYTES", 1<<20, math.MaxInt32),
		Templates: uitemplate.NewCache(templates),
	})
}
