package access

import (
	"slices"
	"strings"
)

// A Capability is a kind of action that a tool declares.
type Capability string

// The capabilities.
const (
	FileSystem Capability = "FileSystem" // reads or writes files
	Process    Capability = "Process"    // starts other programs than its interpreter and its own
	Network    Capability = "Network"    // talks to other hosts
	Search     Capability = "Search"     // only looks things up in project or index data
	Edit       Capability = "Edit"       // changes content the user owns
)

// Capabilities are the known capabilities, in the order in which they are stored.
var Capabilities = []Capability{FileSystem, Process, Network, Search, Edit}

// ParseCapability reads the name of a capability in upper or lower case.
func ParseCapability(name string) (c Capability, ok bool) {
	at := slices.IndexFunc(Capabilities, func(known Capability) bool { return strings.EqualFold(string(known), name) })
	if at < 0 {
		return Capability(name), false
	}
	return Capabilities[at], true
}
