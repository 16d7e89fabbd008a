package provider

import (
	"context"
	"encoding/json"

	"mcp-bash/pkg/files/filecache"
	"mcp-bash/pkg/project"
)

// Names are the built-in providers.
var Names = []string{"file", "https", "git", "echo", "ui"}

// A Config is the configuration of the built-in providers.
type Config struct {
	Env       project.Env // the settings: MCP_RESOURCES_ROOTS, MCPBASH_HTTPS_* and others
	Root      string      // the project, which relative paths start from
	Resources string      // the project's resources directory, which is readable by default
	// MoreRoots returns other readable directories. MCP_RESOURCES_ROOTS replaces them (RES-91).
	// The function may be nil.
	MoreRoots func() []string
	Files     *filecache.Cache // reads small files; nil: no texts are kept

	// The directories of MCP Apps' pages, and a function that returns the registry entry of a
	// page. FindPage may be nil.
	Tools, UI string
	FindPage  func(ctx context.Context, name string) (json.RawMessage, error)
}

// FileRoots returns the absolute directories that the file provider may read.
func (c *Config) FileRoots() []string {
	list, set := c.Env.ResourceRoots(c.Root, c.Resources)
	if !set && c.MoreRoots != nil {
		list = append(list, c.MoreRoots()...)
	}
	return list
}
