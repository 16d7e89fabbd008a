// Package tree holds the installation tree that is linked into the binaries:
// the SDK and the files scripts expect beside it (README decision 8).
package tree

import (
	"mcp-bash/lib"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/providers"
	"mcp-bash/sdk"
)

// Embedded returns the tree, for when there is none on disk. It is made for every
// call.
func Embedded() project.Tree {
	t := project.Tree{"VERSION": []byte(cli.Version + "\n")}
	t.AddFS("sdk", sdk.Files)
	t.AddFS("lib", lib.Files)
	t.AddFS("providers", providers.Files)
	return t
}
