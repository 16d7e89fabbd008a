package validate

import (
	"encoding/json"
	"fmt"

	"mcp-bash/pkg/engine"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/sandbox"
)

// confine checks the entries of a tool's "confine" (CF-17).
func (c *check) confine(doc json.RawMessage, label string) {
	needs, err := access.DeclarationOf(doc)
	if err != nil {
		return // reported as unreadable
	}
	faults, err := c.sandbox().Faults(&needs)
	if err != nil {
		c.at("confine.no_effect", label, err.Error())
	}
	for _, f := range faults {
		id := "confine.no_effect"
		if f.Missing() {
			id = "confine.missing"
		}
		c.at(id, label, fmt.Sprintf("confine.%s: %s %v", f.List, f.Entry, f.Err))
	}
}

// sandbox returns a sandbox of the project, which confines nothing here.
func (c *check) sandbox() *sandbox.Sandbox {
	if c.confinement == nil {
		c.confinement = sandbox.New(sandbox.Config{
			Project: c.p, State: &project.State{}, Mode: access.Confinement{Declared: true},
			Listed: func() ([]sandbox.Listed, error) {
				var completions []string
				for _, o := range c.offered.items[kinds.Completions] {
					completions = append(completions, o.path)
				}
				return engine.Listed(c.p, c.offered.entries(kinds.Tools), completions), nil
			},
		})
	}
	return c.confinement
}
