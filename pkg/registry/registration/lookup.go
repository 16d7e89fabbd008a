package registration

import (
	"slices"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/item"
)

// lookUp returns the index of a tool, given its id or else its name, or -1.
func lookUp(tools []registry.SourcedTool, id string) int {
	at := slices.IndexFunc(tools, func(t registry.SourcedTool) bool { return t.ID == id })
	if at < 0 {
		at = slices.IndexFunc(tools, func(t registry.SourcedTool) bool { return t.Name == id })
	}
	return at
}

func (reg *registration) collides(f item.Candidate) bool { return f.ID == reg.ID || f.Name == reg.Name }

// duplicateOf returns the error for a registration whose id or name belongs to the tool f.
// where is the file of f, or "".
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

// notFound returns the error for an unknown tool, with a similar name or id if there is one.
func notFound(id string, tools []registry.SourcedTool) error {
	var known []string
	for _, t := range tools {
		known = append(known, t.Name, t.ID)
	}
	return refuse(ErrToolNotFound, id, "tool '%s' is not registered%s", id, cli.DidYouMean(id, known))
}
