package registration

import "mcp-bash/pkg/registry/access"

// What a tool declares that it does, and how much one may be able to do to be
// offered: see package [access].
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
