// Package builtin makes the built-in providers of resources.
package builtin

import (
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

// New returns the provider with the given name, or nil if the name is unknown. The provider may
// keep a cache, so callers keep the provider. New reads settings only, without access to disk or
// network.
func New(name string, c provider.Config) provider.Provider {
	switch name {
	case "echo":
		return echo.Provider{}
	case "file":
		return &file.Provider{Dir: c.Root, Roots: c.FileRoots, Files: c.Files}
	case "https":
		return https.New(c.Env, hosts.System())
	case "git":
		return git.New(c.Env, hosts.System())
	case "ui":
		return &ui.Provider{
			Root: c.Root, Tools: c.Tools, UI: c.UI, Find: c.FindPage,
			Most:      settings.Int(c.Env, "MCPBASH_MAX_UI_RESOURCE_BYTES"),
			Templates: uitemplate.NewCache(settings.Int(c.Env, "MCPBASH_UI_CACHE_MAX_TEMPLATES")),
		}
	}
	return nil
}
