// Package trial makes the trials of tools, as the server would call them (pkg/feature/tool).
package trial

import (
	"context"
	"encoding/json"
	"runtime"
	"sync"

	"mcp-bash/pkg/engine"
	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/project/tree"
	"mcp-bash/pkg/wire/mcp"
)

// Run makes the trials of some tools of a project, as many at a time as there are processors. A project that cannot
// start a tool is the reason why its tools were not tried.
func Run(ctx context.Context, p *project.Project, names []string) []tool.Verdict {
	list := make([]tool.Verdict, len(names))
	e, end, err := engine.ForCommand(p.Root, p.Env, tree.Embedded, engine.Config{ReadOnly: true})
	if err != nil {
		for i := range list {
			list[i] = tool.Verdict{Status: tool.NotTried, Reason: err.Error()}
		}
		return list
	}
	defer end()
	next := make(chan int)
	var group sync.WaitGroup
	for range min(runtime.NumCPU(), len(names)) {
		group.Go(func() {
			for i := range next {
				list[i] = e.Tools.Try(ctx, &tool.Request{Name: names[i]})
			}
		})
	}
	for i := range names {
		next <- i
	}
	close(next)
	group.Wait()
	return list
}

// Caller returns a function that calls a tool of a project as the server would. It returns the result as a client gets
// it, also for a call that fails. end ends what the calls have started.
func Caller(p *project.Project, name string, scope roots.Scope) (
	call func(context.Context, json.RawMessage) (json.RawMessage, error), end func(), err error) {
	e, end, err := engine.ForCommand(p.Root, p.Env, tree.Embedded, engine.Config{ReadOnly: true})
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context, arguments json.RawMessage) (json.RawMessage, error) {
		result, err := e.Tools.Call(ctx, &tool.Request{Name: name, Arguments: arguments, Roots: scope})
		if err != nil {
			return nil, err
		}
		defer result.Done()
		return result.AppendJSON(nil, mcp.Extra{}), nil
	}, end, nil
}
