package tool

import (
	"context"
	"errors"

	"mcp-bash/pkg/json/schema"
)

// A DryRun is what is known of a call without making it.
type DryRun struct {
	// Refusal is why the call would not be allowed, an [*mcp.Error] as a client
	// would get it; nil: it would.
	Refusal error
	// Obstacle is why the script could not be started, "" when nothing is in the
	// way.
	Obstacle string
	// Violations are what is wrong with the arguments; Enforced says that the call
	// would end there.
	Violations []schema.Violation
	Enforced   bool
	// Unchecked is why the arguments could not be held against the tool's schema.
	Unchecked error
}

// DryRun makes the checks of a call before its script starts.
func (t *Tools) DryRun(ctx context.Context, r *Request) DryRun {
	c := &call{tools: t, request: r}
	var result DryRun
	switch err := c.admit(ctx); {
	case errors.Is(err, errMissing):
		result.Obstacle = c.shown(c.script) + " is missing, or nothing that can be run"
	case err != nil:
		result.Refusal = err
	default:
		result.Obstacle = c.obstacle()
	}
	result.Enforced = c.entry.validates(t.project.Calls.Validate, t.project.Meta.ValidateInput)
	s, _, err := t.schemas.Get(c.entry.inputSchema)
	if err != nil {
		result.Unchecked = err
		return result
	}
	result.Violations = s.Check(r.Arguments)
	return result
}

// obstacle says why a script that may run cannot, as far as its file tells.
func (c *call) obstacle() string {
	if file := c.windowsFile(c.head(c.script, maxHead), nil); file != "" {
		return windowsLines(c.shown(file))
	}
	if reason := c.missingInterpreter(); reason != "" {
		return c.shown(c.script) + " cannot start: " + reason
	}
	return ""
}
