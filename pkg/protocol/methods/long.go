package methods

import (
	"context"
	"encoding/json"
	"slices"
	"sync/atomic"

	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/protocol/calls"
	"mcp-bash/pkg/protocol/calls/suspended"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
)

// longTools finds the long-running tools of a list. Most projects have none.
type longTools struct{ last atomic.Pointer[longIndex] }

type longIndex struct {
	of     *registry.List
	byName map[string]*calls.Long // with the tools that control tasks
}

// of returns the long-running tools of a list, by name.
func (l *longTools) of(list *registry.List) map[string]*calls.Long {
	if last := l.last.Load(); last != nil && last.of == list {
		return last.byName
	}
	index := &longIndex{of: list, byName: longOf(list.Items)}
	l.last.Store(index)
	return index.byName
}

// longOf returns the long-running tools of a list, and the tools that control their tasks. If the
// project has a tool with the name of one of these, they do not exist, and calls of clients without
// the extension do not become tasks (TK-23).
func longOf(items []item.Item) map[string]*calls.Long {
	var byName map[string]*calls.Long
	taken := false
	for _, i := range items {
		taken = taken || suspended.IsControl(i.Name)
		if declared, ok := tool.ParseLongRunning(i.JSON); ok {
			if byName == nil {
				byName = map[string]*calls.Long{}
			}
			byName[i.Name] = &calls.Long{LongRunning: declared}
		}
	}
	for _, l := range byName {
		l.TasksOnly = taken
	}
	if byName != nil && !taken {
		suspended.AppendControls(func(control json.RawMessage) {
			name := rawjson.TextOf(control, "name")
			byName[name] = &calls.Long{Control: name}
		})
	}
	return byName
}

// appendControls adds the tools that control tasks to a list with long-running tools.
func appendControls(all, offered []item.Item, add func(item json.RawMessage)) {
	long := slices.ContainsFunc(offered, func(i item.Item) bool {
		_, ok := tool.ParseLongRunning(i.JSON)
		return ok
	})
	if long && !slices.ContainsFunc(all, func(i item.Item) bool { return suspended.IsControl(i.Name) }) {
		suspended.AppendControls(add)
	}
}

// long returns how a call runs that can go on after its answer, nil for all others.
func (c *Client) long(ctx context.Context, r *calls.Request) *calls.Long {
	list, err := c.project.engine.Catalog.List(ctx, kinds.Tools)
	if err != nil { // the call reports it
		return nil
	}
	byName := c.project.long.of(list)
	if byName == nil {
		return nil
	}
	long := byName[rawjson.TextOf(r.Params, "name")]
	if long != nil && long.TasksOnly && !(r.Client.Newest && r.Client.Capabilities.Tasks) {
		return nil
	}
	return long
}
