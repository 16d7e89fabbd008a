// Package builtin makes the providers of resources that need no script
// (resources RES-1).
package builtin

import (
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/provider"
	"mcp-bash/pkg/provider/echo"
	"mcp-bash/pkg/provider/file"
)

// A Config is what they are made of.
type Config struct {
	Env       project.Env // their settings: MCP_RESOURCES_ROOTS, MCPBASH_HTTPS_* and so on
	Root      string      // the project: what relative paths start from
	Resources string      // its resources directory: what may be read by default
	// MoreRoots returns what may be read beyond that directory; it has no say
	// when MCP_RESOURCES_ROOTS is set (resources RES-91). nil: nothing.
	MoreRoots func() []string
}

// New returns the provider of that name, nil when there is none. It may keep
// things for later reads, so one is made and used again. Making it costs
// nothing: settings are read, no disk and no network is touched.
func New(name string, c Config) provider.Provider {
	switch name {
	case "echo":
		return echo.Provider{}
	case "file":
		return file.New(file.Settings{Dir: c.Root, Roots: c.FileRoots})
	}
	return nil
}

// FileRoots returns what the file provider may read, absolute.
func (c *Config) FileRoots() []string {
	list, set := c.Env.ResourceRoots(c.Root, c.Resources)
	if !set && c.MoreRoots != nil {
		list = append(list, c.MoreRoots()...)
	}
	return list
}
