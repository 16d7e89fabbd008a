package tool

import (
	"context"
	"errors"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/json/schema"
	"mcp-bash/pkg/wire/mcp"
)

// A DryRun has the results of the checks of a call that is not made.
type DryRun struct {
	// Refusal is the [*mcp.Error] that the client would get, or nil.
	Refusal error
	// Obstacle explains why the script cannot start, or is "".
	Obstacle string
	// Violations are the schema violations of the arguments. Enforced means that the call would fail because of them.
	Violations []schema.Violation
	Enforced   bool
	// Unchecked explains why the arguments could not be validated, or is nil.
	Unchecked error
}

// Reason returns why the call would be refused, or "". It ignores the arguments.
func (d *DryRun) Reason() string {
	refusal, ok := errors.AsType[*mcp.Error](d.Refusal)
	if !ok {
		return d.Obstacle
	}
	if reason := rawjson.TextOf(refusal.Data, "reason"); reason != "" && !refusal.Explained {
		return refusal.Message + ": " + reason
	}
	return refusal.Message
}

// DryRun makes the checks of a call without starting its script.
func (t *Tools) DryRun(ctx context.Context, r *Request) DryRun {
	c := &call{tools: t, request: r}
	var result DryRun
	switch err := c.authorize(ctx); {
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
	if result.Violations = s.Check(r.Arguments); result.Violations != nil && result.Enforced && t.project.Calls.Adjust {
		adjusted, _ := s.Adjust(r.Arguments)
		result.Violations = s.Check(adjusted)
	}
	return result
}

// obstacle explains why an allowed script cannot start, or returns "".
func (c *call) obstacle() string {
	if file := c.windowsFile(c.head(c.script, maxHead), nil); file != "" {
		return windowsLines(c.shown(file))
	}
	if reason := c.missingInterpreter(); reason != "" {
		return c.shown(c.script) + " cannot start: " + reason
	}
	return ""
}
