package registration

import (
	"slices"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/registry/item"
)

// indexOf returns the place of a tool, given its id or else its name; -1 when there
// is none.
func indexOf(tools []item.Candidate, id string) int {
	at := slices.IndexFunc(tools, func(f item.Candidate) bool { return f.ID == id })
	if at < 0 {
		at = slices.IndexFunc(tools, func(f item.Candidate) bool { return f.Name == id })
	}
	return at
}

// collides reports whether a tool has the id or the name of the registration.
func (reg *registration) collides(f item.Candidate) bool { return f.ID == reg.ID || f.Name == reg.Name }

// duplicateOf returns the error for a tool whose id or name is taken. where is the
// file of the one that has it, "" when it has none.
func (reg *registration) duplicateOf(f item.Candidate, where string) error {
	taken := reg.Name
	if f.ID == reg.ID {
		taken = reg.ID
	}
	if where != "" {
		where = " (" + where + ")"
	}
	return refuse(ErrDuplicateTool, reg.ID, "tool '%s' is already registered%s", taken, where)
}

// notFound returns the error for a tool that is not there, with the name that was
// probably meant.
func notFound(id string, tools []item.Candidate) error {
	var known []string
	for _, f := range tools {
		known = append(known, f.Name, f.ID)
	}
	return refuse(ErrToolNotFound, id, "tool '%s' is not registered%s", id, cli.DidYouMean(id, known))
}
