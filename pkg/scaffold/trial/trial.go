// Package trial makes the trials of tools, as the server would call them (pkg/feature/tool).
package trial

import (
	"context"
	"runtime"
	"strings"
	"sync"

	"mcp-bash/pkg/engine"
	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/policy"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/project/tree"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/wire/mcp"
)

// Run makes the trials of some tools of a project, as many at a time as there are processors. A project that cannot
// start a tool is the reason why its tools were not tried.
func Run(ctx context.Context, p *project.Project, names []string) []tool.Verdict {
	list := make([]tool.Verdict, len(names))
	e, end, err := start(p, names)
	if err != nil {
		for i := range list {
			list[i] = tool.Verdict{Status: tool.NotTried, Reason: err.Error()}
		}
		return list
	}
	defer end()
	scope, err := roots.Fallback(e.Project)
	if err != nil {
		scope = roots.Scope{} // the tools then have no root
	}
	next := make(chan int)
	var group sync.WaitGroup
	for range min(runtime.NumCPU(), len(names)) {
		group.Go(func() {
			for i := range next {
				list[i] = e.Tools.Try(ctx, &tool.Request{Name: names[i], Roots: scope})
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

// start returns an engine that may call these tools, and the function that ends it.
func start(p *project.Project, names []string) (e *engine.Engine, end func(), err error) {
	env := p.Env.Clone()
	env["MCPBASH_TOOL_POLICY_CONTEXT"] = policy.RunTool
	env["MCPBASH_TOOL_ALLOWLIST"] = strings.Join(names, " ")
	silent := func(string) {}
	p = project.Open(p.Root, env, p.Root, silent)
	home, err := project.FindHome(env, tree.Embedded, silent)
	if err != nil {
		return nil, nil, err
	}
	state, _, err := project.NewState(env, &p.Settings)
	if err != nil {
		return nil, nil, err
	}
	state.UseMCPBash(p)
	runner := new(script.Runner)
	e = engine.New(engine.Config{
		Project: p, State: state, Runner: runner, Home: home, Log: func(mcp.Level, string, string) {},
		Debug: func() bool { return false }, Notice: silent, ReadOnly: true,
	})
	return e, func() {
		state.EndScripts(runner, silent)
		state.Remove()
	}, nil
}
