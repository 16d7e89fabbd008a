package engine

import (
	"os"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/policy"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/wire/mcp"
)

// ForCommand assembles an engine with which a command calls the tools of a project, as run-tool does. Every tool may
// run, whatever the operator's list has (CLI-802). env has the variables of the server. ForCommand sets the missing
// fields of c. end terminates what the tools have left running, and removes the private directory.
func ForCommand(root string, env project.Env, tree func() project.Tree, c Config) (e *Engine, end func(), err error) {
	env = env.Clone()
	env["MCPBASH_TOOL_POLICY_CONTEXT"] = policy.RunTool
	env["MCPBASH_TOOL_ALLOWLIST"] = "*"
	if c.Log == nil {
		c.Log = func(mcp.Level, string, string) {}
	}
	if c.Notice == nil {
		c.Notice = func(string) {}
	}
	c.Debug = func() bool { return false }
	dir, err := os.Getwd() // paths in variables are relative to it
	if err != nil {
		return nil, nil, err
	}
	c.Project = project.Open(root, env, dir, func(string) {}) // the caller has opened it too, and got the warnings
	if c.Home, err = project.FindHome(env, tree, c.Notice); err != nil {
		return nil, nil, err
	}
	state, place, err := project.NewState(env, &c.Project.Settings)
	if err != nil {
		return nil, nil, cli.Baref(cli.CodeInternal, "mcp-bash: unable to create state directory: %s\n%v", place, err)
	}
	state.UseMCPBash(c.Project)
	c.State, c.Runner = state, new(script.Runner)
	return New(c), func() {
		state.EndScripts(c.Runner, c.Notice)
		state.Remove()
	}, nil
}
