package methods

import (
	"context"
	"encoding/json"
	"slices"

	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/protocol/calls/tasks"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
)

// LongRunning returns how calls of a tool go on after their requests, nil for all other tools.
func (c *Client) LongRunning(ctx context.Context, name string) *tasks.Tool {
	e := c.project.engine
	long, err := e.LongRunning(ctx)
	if err != nil || long == nil { // the call reports the error
		return nil
	}
	declared, ok := long[name]
	control := tasks.IsControl(name)
	if !ok && !control {
		return nil
	}
	items, err := e.Catalog.List(ctx, kinds.Tools)
	if err != nil {
		return nil
	}
	switch taken := slices.ContainsFunc(items.Items, isControl); {
	case !control || taken && ok:
		return &tasks.Tool{LongRunning: declared, NoControl: taken}
	case taken:
		return nil
	}
	return &tasks.Tool{Control: true}
}

func isControl(i item.Item) bool { return tasks.IsControl(i.Name) }

// controls returns the server's own tools for tasks, if the list has long-running tools (TASK-21, TASK-26).
func controls(all, offered []item.Item) []json.RawMessage {
	long := slices.ContainsFunc(offered, func(i item.Item) bool {
		_, ok := tool.ParseLongRunning(i.JSON)
		return ok
	})
	if !long || slices.ContainsFunc(all, isControl) {
		return nil
	}
	return tasks.Controls[:]
}
