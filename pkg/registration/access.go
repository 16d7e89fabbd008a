package registration

import "mcp-bash/pkg/registry/access"

// A Capability is a kind of thing that a tool declares that it does, such as reaching a network. A
// Level bounds what a tool may declare and still be offered.
type (
	Capability = access.Capability
	Level      = access.Level
)

// The capabilities.
const (
	FileSystem = access.FileSystem
	Process    = access.Process
	Network    = access.Network
	Search     = access.Search
	Edit       = access.Edit
)

// The levels, the lowest first.
const (
	Restricted = access.Restricted
	Standard   = access.Standard
	Elevated   = access.Elevated
	Full       = access.Full
)
