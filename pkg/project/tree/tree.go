// Package tree has the embedded installation tree: the SDK and other files for scripts (README decision 8).
package tree

import (
	"mcp-bash/lib"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/providers"
	"mcp-bash/sdk"
)

// Embedded returns the embedded tree, for programs without an installation on disk. Each
// call returns a new copy.
func Embedded() project.Tree {
	t := project.Tree{"VERSION": []byte(cli.Version + "\n")}
	t.AddFS("sdk", sdk.Files)
	t.AddFS("lib", lib.Files)
	t.AddFS("providers", providers.Files)
	return t
}
